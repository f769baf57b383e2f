"""The rules for aggregates, in the order in which they are tried, and the rule for DISTINCT.

For DISTINCT, the partial keeps each value once, as one more group, and the finish aggregates.
DuckDB's exported states of count(DISTINCT …) merge wrongly; a set of values cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...sql.trees import call, key
from ..not_incremental import NotIncrementalError
from .aggregate_call import AggregateCall, read_call
from .compensation import compensation
from .expanding_replication import expanding_replication, regression, variance
from .ordered_choice import ordered_choice, top_values

if TYPE_CHECKING:
    from ..partial_columns import PartialColumns

_BLIND_TO_DUPLICATES: Final = {"min", "max", "bool_and", "bool_or", "bit_and", "bit_or"}
_OF_A_SET: Final = {
    *{"count", "sum", "avg", "mean", "product", "entropy", "mad", "median", "bit_xor"},
    *{"var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev", "sem"},
    *{"quantile", "quantile_cont", "quantile_disc", "kurtosis", "kurtosis_pop", "skewness"},
}
"""Aggregates that ignore NULLs and do not depend on the order."""


def distinct_values(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Group by the value as well, and aggregate the distinct values in the finish."""
    name, arguments = aggregate.name, aggregate.arguments
    is_of_a_set = name == "approx_count_distinct" or (aggregate.is_distinct and name in _OF_A_SET)
    if not is_of_a_set or not arguments:
        return None
    value, *others = arguments
    if any(other.find(exp.Column) for other in others):
        return None
    if aggregate.condition is not None:
        chosen = exp.If(this=aggregate.condition.copy(), true=value.copy())
        value = exp.Case(ifs=[chosen])
    kept = columns.refining(value, is_counted=name == "count")
    if not aggregate.is_distinct:
        return call(name, kept)
    return call(name, exp.Distinct(expressions=[kept]), *others)


_RULES: Final = (
    compensation,
    expanding_replication,
    variance,
    regression,
    distinct_values,
    ordered_choice,
    top_values,
)


def split_aggregate(node: exp.Expr, columns: PartialColumns) -> exp.Expr:
    """Request the columns that an aggregate needs, and return its expression in the finish."""
    aggregate = read_call(node)
    is_blind = aggregate.name in _BLIND_TO_DUPLICATES and len(aggregate.arguments) == 1
    if aggregate.is_plain:
        for rule in _RULES if is_blind or not aggregate.is_distinct else (distinct_values,):
            finish = rule(aggregate, columns)
            if finish is not None:
                return finish
    raise NotIncrementalError(f"{key(node)} needs every value")
