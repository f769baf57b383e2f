"""Aggregates that choose one row by its place: merged right as long as partials come in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...sql.trees import call, cast, is_known
from ..split_query import StateKind

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


def ordered_choice(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep the choice of each partial, and choose among them in their order; ties as in DuckDB."""
    if aggregate.is_distinct:
        return None
    if aggregate.name in _FIRST_OR_LAST and len(aggregate.arguments) == 1:
        columns.needs_order = True
        return _first_or_last(aggregate, columns)
    if aggregate.name in BY_ANOTHER and len(aggregate.arguments) == 2:
        columns.breaks_ties = True
        return _by_another(aggregate, columns)
    return None


def _first_or_last(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr:
    """Keep the choice and of how many: a NULL that was chosen counts, one for want of rows not."""
    name, where = aggregate.name, aggregate.condition
    value = call(name, *aggregate.arguments, where=where)
    count = call("count", exp.Star(), where=where)

    def merge(state: Sequence[exp.Expr]) -> list[exp.Expr]:
        has_rows = exp.GT(this=state[1].copy(), expression=exp.Literal.number(0))
        return [call(name, state[0], where=has_rows), cast(call("sum", state[1]), "BIGINT")]

    return columns.state(StateKind.OTHER, [value, count], merge)[0]


def _by_another(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr:
    """Keep the value and what it was chosen by; a row whose value is NULL is never chosen."""
    value, by = aggregate.arguments
    known = is_known(value)
    where = aggregate.condition
    both = exp.and_(known, where.copy() if where is not None else None, copy=False)
    extreme = BY_ANOTHER[aggregate.name]
    values = [call(aggregate.name, value, by, where=where), call(extreme, by, where=both)]
    return columns.state(
        StateKind.OTHER,
        values,
        lambda s: [call(aggregate.name, s[0], s[1]), call(extreme, s[1])],
    )[0]
