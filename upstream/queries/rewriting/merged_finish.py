"""The finish of a query over what its leaves merge, or over merges that are left to the finish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def with_merges(finish: exp.Query, merges: Mapping[str, tuple[exp.Query | None, str]]) -> exp.Query:
    """Return the finish over tables of these names, or over the merges of what is in them."""
    from sqlglot import exp

    finish = finish.copy()
    for table in list(finish.find_all(exp.Table)):
        if table.name in merges and not table.db:
            relation = _merged(*merges[table.name])
            alias = table.args.get("alias") or exp.TableAlias(
                this=exp.to_identifier(table.name, quoted=True)
            )
            relation.set("alias", alias.copy())
            table.replace(relation)
    return finish


def _merged(merge: exp.Query | None, name: str) -> exp.Expr:
    """Return the relation that a leaf is in the finish: a table, or the merge over one."""
    from sqlglot import exp

    if merge is None:
        return exp.to_table(name)
    merge = merge.copy()
    for table in list(merge.find_all(exp.Table)):
        table.set("this", exp.to_identifier(name, quoted=True))
    return exp.Subquery(this=merge)
