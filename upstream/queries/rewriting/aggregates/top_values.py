"""The n greatest or least values: each partial keeps its own, and they are chosen from once more.

`max(x, 3)` merges as DuckDB computes it, by the same aggregate over the values of all partials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..split_query import StateKind
from ..trees import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

    from ..partial_columns import PartialColumns
    from .aggregate_call import AggregateCall

_EXTREMES: Final = frozenset({"min", "max"})


def top_values(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep the first values of each partial; how many has to be the same for all."""
    from sqlglot import exp

    if aggregate.is_distinct or aggregate.name not in _EXTREMES or len(aggregate.arguments) != 2:
        return None
    value, count = aggregate.arguments
    if not isinstance(count, exp.Literal) or not count.is_int:
        return None
    top = call(aggregate.name, value, count, where=aggregate.condition)

    def merge(states: Sequence[exp.Expr]) -> list[exp.Expr]:
        values = call("flatten", call("list", *states))
        return [call("list_aggregate", values, exp.Literal.string(aggregate.name), count)]

    return columns.state(StateKind.OTHER, [top], merge)[0]
