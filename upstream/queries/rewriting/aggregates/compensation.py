"""Concatenation plus compensation: aggregates that a second aggregate over partials completes.

The sum of sums, the least of minima, the sum of counts ("Concatenation plus Compensation" in
section 3 of the DataCell paper).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...sql.trees import call, cast
from ..split_query import StateKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..partial_columns import PartialColumns
    from .aggregate_call import AggregateCall

_KINDS: Final = {
    "sum": StateKind.SUM,
    "count_if": StateKind.SUM,  # which is NULL over no rows, like a sum
    "countif": StateKind.SUM,
    "min": StateKind.MINIMUM,
    "max": StateKind.MAXIMUM,
    "bool_and": StateKind.OTHER,
    "bool_or": StateKind.OTHER,
    "bit_and": StateKind.OTHER,
    "bit_or": StateKind.OTHER,
    "bit_xor": StateKind.OTHER,
    "product": StateKind.OTHER,
    "fsum": StateKind.OTHER,
    "kahan_sum": StateKind.OTHER,
    "sumkahan": StateKind.OTHER,
}
_COUNTS: Final = {"count", "count_star"}


def compensation(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep the aggregate of each partial, and aggregate once more."""
    name = aggregate.name
    if name in _COUNTS and len(aggregate.arguments) <= 1:
        return count_state(columns, *aggregate.arguments, where=aggregate.condition)
    if name not in _KINDS or len(aggregate.arguments) != 1:
        return None
    again = "sum" if _KINDS[name] is StateKind.SUM else name
    return columns.state(_KINDS[name], [aggregate.call()], lambda states: [call(again, *states)])[0]


def count_state(
    columns: PartialColumns,
    *arguments: exp.Expr,
    where: exp.Expr | None,
) -> exp.Column:
    """Return the state of a count, which is 0 over no rows."""
    value = call("count", *(arguments or [exp.Star()]), where=where)
    return columns.state(StateKind.SUM, [value], _sum_of_counts, when_empty=0)[0]


def sum_state(columns: PartialColumns, argument: exp.Expr, *, where: exp.Expr | None) -> exp.Column:
    """Return the state of a sum."""
    value = call("sum", argument, where=where)
    return columns.state(StateKind.SUM, [value], lambda states: [call("sum", *states)])[0]


def _sum_of_counts(states: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [cast(call("sum", *states), "BIGINT")]
