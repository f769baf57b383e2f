"""The tables that a query names: those of the database, and others put in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sql.window_bounds import bounds_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from .split_query import SplitQuery


def reads_tables(split_query: SplitQuery) -> bool:
    """Tell whether a query reads anything but its chunks and what it defines itself."""
    from sqlglot import exp

    known = {f"chunk_{i}" for i in range(len(split_query.windows))}
    known |= {bounds_name(i) for i in split_query.bounds}
    known |= {each.alias for each in split_query.whole.find_all(exp.CTE)}
    return any(table.name not in known for table in split_query.whole.find_all(exp.Table))


def renamed_tables(query: exp.Query, names: Mapping[str, str]) -> exp.Query:
    """Return a query that reads tables under other names; what it calls them stays."""
    from sqlglot import exp

    query = query.copy()
    for table in list(query.find_all(exp.Table)):
        if table.name in names and not table.db:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
            table.set("this", exp.to_identifier(names[table.name], quoted=True))
    return query
