"""The sides of a join of streams: what is picked of each, and which comes last.

What is lent to DuckDB has no number of rows that it could plan by, and it builds its hash table of
the last table in FROM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

    from .split_query import Leaf


def plain_columns(leaf: Leaf, window: int) -> tuple[str, ...] | None:
    """Return the columns that are picked, if that is all that picking does."""
    from sqlglot import exp

    pick = leaf.filters[window]
    if not isinstance(pick, exp.Select) or any(pick.args.get(part) for part in ("where", "group")):
        return None
    names = [item.name for item in pick.expressions if isinstance(item, exp.Column)]
    if len(names) < len(pick.expressions) or tuple(names) != leaf.columns[window]:
        return None
    return leaf.columns[window]


def with_last(query: exp.Query, name: str) -> exp.Query:
    """Return a join of two tables with this one last, if the other comes last and it can be."""
    from sqlglot import exp

    start = query.args.get("from_")
    joins = query.args.get("joins") or []
    if start is None or len(joins) != 1 or not isinstance(start.this, exp.Table):
        return query
    [join] = joins
    is_inner = not join.method and not join.side and join.kind in ("", "INNER", "CROSS")
    if not is_inner or start.this.name != name or not isinstance(join.this, exp.Table):
        return query
    query = query.copy()
    [join] = query.args["joins"]
    first, last = query.args["from_"].this.copy(), join.this.copy()
    query.args["from_"].set("this", last)
    join.set("this", first)
    return query
