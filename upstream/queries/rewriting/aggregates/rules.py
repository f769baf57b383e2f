"""The rules for aggregates, in the order in which they are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...sql.trees import key
from ..not_incremental import NotIncrementalError
from .aggregate_call import read_call
from .compensation import compensation
from .distinct_values import distinct_values
from .expanding_replication import expanding_replication, regression, variance
from .ordered_choice import ordered_choice, top_values

if TYPE_CHECKING:
    from ..partial_columns import PartialColumns

_RULES: Final = (
    compensation,
    expanding_replication,
    variance,
    regression,
    distinct_values,
    ordered_choice,
    top_values,
)
_BLIND_TO_DUPLICATES: Final = {"min", "max", "bool_and", "bool_or", "bit_and", "bit_or"}


def split_aggregate(node: exp.Expr, columns: PartialColumns) -> exp.Expr:
    """Ask for the columns an aggregate needs, and return what the finish makes of them."""
    aggregate = read_call(node)
    is_blind = aggregate.name in _BLIND_TO_DUPLICATES and len(aggregate.arguments) == 1
    if aggregate.is_plain:
        for rule in _RULES if is_blind or not aggregate.is_distinct else (distinct_values,):
            finish = rule(aggregate, columns)
            if finish is not None:
                return finish
    raise NotIncrementalError(f"{key(node)} needs every value")
