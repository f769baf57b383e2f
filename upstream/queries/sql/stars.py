"""Keeps columns of our own out of the stars of a query.

A rewritten query reads relations that have more columns than the user knows. Wherever the user's
text can mean all columns of a relation, the additional ones are excluded, or the form is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from .functions import name_of
from .trees import column, nested_queries, own_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet


def hide_columns(
    select: exp.Select, hidden: Mapping[str, Iterable[str]], known: AbstractSet[str]
) -> str:
    """Exclude columns of relations in FROM from the stars of a SELECT, in place.

    `hidden` are the names of the columns by the alias of the relation; relations whose columns no
    star includes, such as the right side of a semi join, are left out. `known` are the names of all
    other columns in FROM, in lower case. Returns the reason if the text can mean the columns in a
    way that cannot be rewritten; otherwise "".
    """
    by_alias = {alias.lower(): tuple(names) for alias, names in hidden.items()}
    names = tuple(dict.fromkeys(name for each in by_alias.values() for name in each))
    for node in list(own_nodes(select)):
        reason = ""
        if isinstance(node, exp.Star):
            reason = _hide(node, by_alias, names)
        elif isinstance(node, exp.PositionalColumn):
            reason = "a column by its number in FROM can be any column"
        elif isinstance(node, exp.Columns) and node.this.find(exp.Star) is None:
            reason = "COLUMNS(…) with a pattern or a function can stand for any columns"
        if reason:
            return f"{reason}: name the columns instead"
    rows = by_alias.keys() - known
    found = next(_whole_rows(select, rows), None)
    return f"{found} is used as a row: name its columns instead" if found else ""


def _hide(star: exp.Star, by_alias: Mapping[str, tuple[str, ...]], names: tuple[str, ...]) -> str:
    around = star.parent
    if around is not None and name_of(around) == "count":
        return ""
    if isinstance(around, exp.Column):
        names = by_alias.get(around.table.lower(), ())
        around = around.parent
    if not isinstance(around, exp.Select | exp.Columns):
        return "a star inside an expression stands for all columns"
    excluded = [column(name) for name in names]
    star.set("except_", [*(star.args.get("except_") or ()), *excluded])
    return ""


def _whole_rows(tree: exp.Expr, rows: AbstractSet[str]) -> Iterator[str]:
    """Yield the relations that are used as one value, also by the queries inside."""
    for node in own_nodes(tree):
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in rows:
            yield node.name
    for query in nested_queries(tree):
        for inner in query.find_all(exp.Column):
            is_row = not inner.table and inner.name.lower() in rows
            is_star = isinstance(inner.this, exp.Star) and inner.table.lower() in rows
            if is_row or is_star:
                yield inner.table or inner.name
