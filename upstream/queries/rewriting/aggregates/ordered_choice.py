"""Aggregates that choose rows by their position or value; partials must come in order.

The n greatest or least values are chosen by the same aggregate over the values of all partials:
`max(x, 3)` merges as DuckDB computes it. `arg_max(x, y, 3)` keeps the values of y beside those of
x. It is split on landmarks only. DuckDB does not define which of the rows with equal y it takes,
and the merge may take others than full evaluation. Over windows, the result would then depend on
how the window is evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...sql.trees import call, cast, is_known
from ..split_query import StateKind
from .aggregate_call import all_known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..partial_columns import PartialColumns
    from .aggregate_call import AggregateCall

_FIRST_OR_LAST: Final = {"first", "last", "arbitrary", "any_value"}
BY_ANOTHER: Final = {
    "arg_min": "min",
    "argmin": "min",
    "min_by": "min",
    "arg_max": "max",
    "argmax": "max",
    "max_by": "max",
}
"""Aggregates of the value at an extreme, and the aggregate that gives the extreme."""
_DIRECTIONS: Final = {"min": "ASC", "max": "DESC"}


def ordered_choice(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep the choice of each partial, and choose among them in their order; ties as in DuckDB."""
    if aggregate.name in _FIRST_OR_LAST and len(aggregate.arguments) == 1:
        if aggregate.name == "any_value":
            columns.breaks_ties = True  # each value is right, but both evaluations have to agree
        else:
            columns.needs_order = True
        return _first_or_last(aggregate, columns)
    if aggregate.name in BY_ANOTHER and len(aggregate.arguments) == 2:
        columns.breaks_ties = True
        return _by_another(aggregate, columns)
    return None


def top_values(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep the first values of each partial; their number must be the same for all rows."""
    if not aggregate.arguments:
        return None
    *values, count = aggregate.arguments
    if not isinstance(count, exp.Literal) or not count.is_int:
        return None
    if aggregate.name in _DIRECTIONS and len(values) == 1:
        return _top(aggregate, columns, count)
    if aggregate.name in BY_ANOTHER and len(values) == 2 and columns.is_lasting:
        return _top_by_another(aggregate, columns, count)
    return None


def _first_or_last(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr:
    """Keep the choice and how many rows it was made from.

    A NULL that was chosen counts; a NULL because there were no rows does not.
    """
    count = call("count", exp.Star(), where=aggregate.condition)

    def merge(state: Sequence[exp.Expr]) -> list[exp.Expr]:
        has_rows = exp.GT(this=state[1].copy(), expression=exp.Literal.number(0))
        again = call(aggregate.name, state[0], where=has_rows)
        return [again, cast(call("sum", state[1]), "BIGINT")]

    return columns.state(StateKind.OTHER, [aggregate.call(), count], merge)[0]


def _by_another(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr:
    """Keep the value and what it was chosen by; a row whose value is NULL is never chosen."""
    value, by = aggregate.arguments
    extreme = BY_ANOTHER[aggregate.name]
    values = [
        aggregate.call(),
        call(extreme, by, where=all_known([value], aggregate.condition)),
    ]
    return columns.state(
        StateKind.OTHER, values, lambda s: [call(aggregate.name, *s), call(extreme, s[1])]
    )[0]


def _top(aggregate: AggregateCall, columns: PartialColumns, count: exp.Literal) -> exp.Expr:
    return columns.state(
        StateKind.OTHER,
        [aggregate.call()],
        lambda states: [_of_all(states[0], aggregate.name, count)],
    )[0]


def _top_by_another(
    aggregate: AggregateCall, columns: PartialColumns, count: exp.Literal
) -> exp.Expr:
    """Keep the values and, in the same order, the values that they were chosen by.

    Rows in which either is NULL are never chosen. Of tied rows, those of earlier partials stay.
    Which rows these are depends only on the values that they were chosen by, so aggregates that
    choose by the same column return values of the same rows.
    """
    value, by, _ = aggregate.arguments
    extreme = BY_ANOTHER[aggregate.name]
    known = all_known([value], aggregate.condition)

    def merge(states: Sequence[exp.Expr]) -> list[exp.Expr]:
        direction = exp.Literal.string(_DIRECTIONS[extreme])
        places = call("list_grade_up", _all(states[1]), direction)
        first = call("list_slice", places, exp.Literal.number(1), count)
        chosen = call("list_select", _all(states[0]), first)
        return [chosen, _of_all(states[1], extreme, count)]

    states = [aggregate.call(), call(extreme, by, count, where=known)]
    return columns.state(StateKind.OTHER, states, merge)[0]


def _of_all(state: exp.Expr, name: str, count: exp.Literal) -> exp.Expr:
    return call("list_aggregate", _all(state), exp.Literal.string(name), count)


def _all(state: exp.Expr) -> exp.Expr:
    """Return the values of all partials, NULL if there are none."""
    return call("flatten", call("list", state, where=is_known(state)))
