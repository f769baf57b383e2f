"""Which tables a query reads, and which one a statement would change under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def tables_read(query: exp.Query) -> frozenset[str]:
    """Return the names of the tables that a query over chunks reads, in small letters."""
    from sqlglot import exp

    from .statements import is_reserved

    defined = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    names = {table.name.lower() for table in query.find_all(exp.Table)}
    return frozenset(name for name in names - defined if name and not is_reserved(name))


def changed_table(tree: exp.Expr) -> str | None:
    """Return the table of which a statement changes more than the rows, in small letters."""
    from sqlglot import exp

    is_replaced = isinstance(tree, exp.Create) and bool(tree.args.get("replace"))
    if not is_replaced and not isinstance(tree, exp.Drop | exp.Alter):
        return None
    table = tree.find(exp.Table)
    return None if table is None else table.name.lower()
