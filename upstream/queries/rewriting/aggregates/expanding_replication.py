"""Expanding replication: an average is a sum and a count, divided when both are complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ...sql.trees import cast, divided
from .compensation import count_state, sum_state

if TYPE_CHECKING:
    from ..partial_columns import PartialColumns
    from .aggregate_call import AggregateCall


def expanding_replication(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep sum and count of each partial; integers and decimals stay exact until the division."""
    if aggregate.name not in ("avg", "mean") or len(aggregate.arguments) != 1:
        return None
    if aggregate.is_distinct:
        return None
    [argument] = aggregate.arguments
    total = sum_state(columns, argument, where=aggregate.condition)
    count = count_state(columns, argument, where=aggregate.condition)
    return divided(cast(total, "DOUBLE"), count)
