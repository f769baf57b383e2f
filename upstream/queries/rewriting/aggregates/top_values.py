"""The n greatest or least values: each partial keeps its own, and they are chosen from once more.

`max(x, 3)` merges as DuckDB computes it, by the same aggregate over the values of all partials.
`arg_max(x, y, 3)` keeps the values of y beside those of x. It is split on landmarks only: of rows
with equal y, DuckDB does not say which it takes, and the merge may take others than the query
evaluated whole. Over windows, a result would then depend on the way of evaluation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...sql.trees import call, is_known
from ..split_query import StateKind
from .ordered_choice import BY_ANOTHER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..partial_columns import PartialColumns
    from .aggregate_call import AggregateCall

_EXTREMES: Final = frozenset({"min", "max"})
_DIRECTIONS: Final = {"min": "ASC", "max": "DESC"}


def top_values(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep the first values of each partial; how many has to be the same for all."""
    if aggregate.is_distinct or len(aggregate.arguments) < 2:
        return None
    *values, count = aggregate.arguments
    if not isinstance(count, exp.Literal) or not count.is_int:
        return None
    if aggregate.name in _EXTREMES and len(values) == 1:
        return _top(aggregate, columns, count)
    if aggregate.name in BY_ANOTHER and len(values) == 2 and columns.is_lasting:
        return _top_by_another(aggregate, columns, count)
    return None


def _top(aggregate: AggregateCall, columns: PartialColumns, count: exp.Literal) -> exp.Expr:
    top = call(aggregate.name, *aggregate.arguments, where=aggregate.condition)
    return columns.state(
        StateKind.OTHER, [top], lambda states: [_of_all(states[0], aggregate.name, count)]
    )[0]


def _top_by_another(
    aggregate: AggregateCall, columns: PartialColumns, count: exp.Literal
) -> exp.Expr:
    """Keep the values and, in the same order, what they were chosen by.

    Rows of which either is NULL are never chosen. Of rows that tie, those of earlier partials stay;
    which they are depends on what they were chosen by alone, so that aggregates that choose by the
    same column give values of the same rows.
    """
    value, by, _ = aggregate.arguments
    extreme = BY_ANOTHER[aggregate.name]
    where = aggregate.condition
    both = exp.and_(is_known(value), where.copy() if where is not None else None, copy=False)
    states = [
        call(aggregate.name, *aggregate.arguments, where=where),
        call(extreme, by, count, where=both),
    ]

    def merge(states: Sequence[exp.Expr]) -> list[exp.Expr]:
        direction = exp.Literal.string(_DIRECTIONS[extreme])
        places = call("list_grade_up", _all(states[1]), direction)
        first = call("list_slice", places, exp.Literal.number(1), count)
        chosen = call("list_select", _all(states[0]), first)
        return [chosen, _of_all(states[1], extreme, count)]

    return columns.state(StateKind.OTHER, states, merge)[0]


def _of_all(state: exp.Expr, name: str, count: exp.Literal) -> exp.Expr:
    return call("list_aggregate", _all(state), exp.Literal.string(name), count)


def _all(state: exp.Expr) -> exp.Expr:
    """Return the values of all partials, NULL if there are none."""
    return call("flatten", call("list", state, where=is_known(state)))
