"""Expressions of a query as its user would write them: for people, never to be run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.dialect import DIALECT
from ..sql.trees import chunk_index
from ..sql.window_bounds import with_plain_bounds
from .aggregates.aggregate_call import is_call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..sql.functions import Functions
    from ..sql.window_clause import WindowClause

_OTHERS: Final = re.compile(r'"(mode|columns)"\(| FILTER\(')
"""What sqlglot writes otherwise than people."""
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE)


def spoken(tree: exp.Expr, *, qualified: bool = False) -> str:
    """Return an expression as a user would write it, with the names of relations if asked to."""
    copy = with_plain_bounds(tree)
    for name in list(copy.find_all(exp.Identifier)):
        if _PLAIN.fullmatch(name.name):
            name.set("quoted", False)
    for column in list(copy.find_all(exp.Column)):
        if not qualified and not column.find_ancestor(exp.Query):
            column.set("table", None)
    text = copy.sql(DIALECT, comments=False, normalize_functions="lower")
    return _OTHERS.sub(lambda found: f"{found[1]}(" if found[1] else " FILTER (", text)


def calls_in(trees: Iterable[exp.Expr], functions: Functions) -> Iterator[exp.Expr]:
    """Yield the outermost aggregates and window functions, with what belongs to them."""
    for tree in trees:
        function = is_call(tree)
        is_aggregate = function is not None and functions.is_aggregate(function)
        if is_aggregate or isinstance(tree, exp.Window):
            yield tree
        elif not isinstance(tree, exp.Query):
            yield from calls_in(tree.iter_expressions(), functions)


def over_streams(query: exp.Query, windows: tuple[WindowClause, ...]) -> exp.Query:
    """Return a query that reads streams, by name, where it read chunks."""
    copy = with_plain_bounds(query)
    assert isinstance(copy, exp.Query)
    for table in copy.find_all(exp.Table):
        index = chunk_index(table)
        if index is not None and index < len(windows):
            name = windows[index].stream
        elif table.name.startswith("__") and table.alias:
            name = table.alias  # of a side table, which only we know by another name
        else:
            continue
        table.set("this", exp.to_identifier(name))
        if table.alias == name and not table.args["alias"].columns:
            table.set("alias", None)
    return copy
