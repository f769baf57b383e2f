"""The finishes of several queries over one merged relation, as one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.trees import call, column, named, nested_queries, own_nodes, table_number
from .grouping import contains_aggregate
from .shared_partial import OwnColumns, renamed

if TYPE_CHECKING:
    from ..sql.functions import Functions
    from .split_query import SplitQuery

MERGED: Final = "merged_0"
"""The merged relation of all queries."""
_PREFIX: Final = "__f"


@dataclass(frozen=True, slots=True)
class FinishInCommon:
    """The columns of a finish that reads each row of the merged relation by itself.

    Without groups, there is one row, and the columns aggregate it.
    """

    items: tuple[exp.Expr, ...]
    is_one_row: bool


@dataclass(frozen=True, slots=True)
class SharedFinish:
    """Several finishes as one query over `MERGED`, and the columns of each of them."""

    query: exp.Select
    columns: tuple[tuple[str, ...], ...]


def finish_in_common(split: SplitQuery, functions: Functions) -> FinishInCommon | None:
    """Return a finish that can run together with others, or None if there is none to run so."""
    finish, [leaf] = split.finish, split.leaves
    if split.direct is not None or not isinstance(finish, exp.Select):
        return None
    if any(value for name, value in finish.args.items() if name not in {"expressions", "from_"}):
        return None
    relation = finish.args["from_"].this
    if table_number(relation, leaf.relation.rstrip("0123456789")) is None or relation.alias:
        return None
    items = [item.unalias() for item in finish.expressions]
    for item in items:
        if any(isinstance(node, exp.Star | exp.Window) for node in own_nodes(item)):
            return None
        if any(nested_queries(item)) or (contains_aggregate(item, functions) and leaf.groups):
            return None
    if not leaf.groups and not all(contains_aggregate(item, functions) for item in items):
        return None
    return FinishInCommon(tuple(items), is_one_row=not leaf.groups)


def shared_finish(finishes: Sequence[tuple[FinishInCommon, OwnColumns]]) -> SharedFinish:
    """Return the finishes of several queries as one, with each query's number of rows in front."""
    names: list[tuple[str, ...]] = []
    items: list[exp.Expr] = []
    for finish, own in finishes:
        rows: exp.Expr = column(own.rows)
        if finish.is_one_row:
            rows = call("max", rows)
        trees = [rows, *(renamed(item, own.names) for item in finish.items)]
        first = len(items)
        names.append(tuple(f"{_PREFIX}{first + i}" for i in range(len(trees))))
        items += [named(tree, name) for tree, name in zip(trees, names[-1], strict=True)]
    return SharedFinish(exp.Select(expressions=items).from_(MERGED), tuple(names))
