"""The finish over what the leaves give, which may leave their merge to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Merged:
    """What a leaf gives: a table of this name and, if that is not merged yet, how to merge it."""

    name: str
    merge: exp.Query | None = None

    def relation(self) -> exp.Expr:
        """Return what the finish reads: the table, or the merge over it."""
        from sqlglot import exp

        if self.merge is None:
            return exp.to_table(self.name)
        merge = self.merge.copy()
        for table in list(merge.find_all(exp.Table)):
            table.set("this", exp.to_identifier(self.name, quoted=True))
        return exp.Subquery(this=merge)


def finish_over(merged: Mapping[str, Merged], finish: exp.Query) -> exp.Query:
    """Return the finish over these relations, which it knows by the names that it has."""
    from sqlglot import exp

    finish = finish.copy()
    for table in list(finish.find_all(exp.Table)):
        if table.name in merged and not table.db:
            relation = merged[table.name].relation()
            alias = table.args.get("alias") or exp.TableAlias(
                this=exp.to_identifier(table.name, quoted=True)
            )
            relation.set("alias", alias.copy())
            table.replace(relation)
    return finish
