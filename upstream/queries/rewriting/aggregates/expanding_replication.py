"""Expanding replication: one aggregate becomes several states, from which the finish computes it.

An average becomes a sum and a count. For variances, covariances and regressions, sums of squares
would be easy to merge, but would lose all digits where the mean is large. Instead a partial keeps
count, mean and sum of squared deviations, and partials are merged by the formula of Chan, Golub and
LeVeque. The mean of equal values is that value to the last bit, so that a variance of equal values
is 0, whether it is computed in parts or over the whole.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from sqlglot import exp, parse_one

from ...sql.dialect import DIALECT
from ...sql.trees import call, cast, divided, replaced
from ..split_query import StateKind
from .aggregate_call import all_known
from .compensation import count_state, sum_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..partial_columns import PartialColumns
    from .aggregate_call import AggregateCall

_OF_ONE: Final = {
    "var_pop": "CASE WHEN n = 1 THEN 0::DOUBLE WHEN n > 0 THEN s / n END",
    "var_samp": "CASE WHEN n > 1 THEN s / (n - 1) END",
    "variance": "CASE WHEN n > 1 THEN s / (n - 1) END",
    "stddev_pop": "CASE WHEN n = 1 THEN 0::DOUBLE WHEN n > 0 THEN sqrt(s / n) END",
    "stddev_samp": "CASE WHEN n > 1 THEN sqrt(s / (n - 1)) END",
    "stddev": "CASE WHEN n > 1 THEN sqrt(s / (n - 1)) END",
    "sem": "CASE WHEN n > 0 THEN sqrt(s / n) / sqrt(n) END",
}
_OF_TWO: Final = {
    "covar_pop": "CASE WHEN n > 0 THEN p / n END",
    "covar_samp": "CASE WHEN n > 1 THEN p / (n - 1) END",
    "regr_sxy": "CASE WHEN n > 0 THEN p END",
    "regr_sxx": "CASE WHEN n = 1 THEN 0::DOUBLE WHEN n > 0 THEN sx END",
    "regr_syy": "CASE WHEN n = 1 THEN 0::DOUBLE WHEN n > 0 THEN sy END",
    "regr_avgx": "CASE WHEN n > 0 THEN mx / n END",
    "regr_avgy": "CASE WHEN n > 0 THEN my / n END",
    "regr_slope": "CASE WHEN sx = 0 THEN 'nan'::DOUBLE WHEN n > 0 THEN p / sx END",
    "regr_intercept": (
        "CASE WHEN n > 1 AND sx > 0 AND NOT isnan(p / sx) THEN my / n - p / sx * (mx / n) END"
    ),
    "regr_r2": "CASE WHEN n = 1 OR sx = 0 THEN NULL WHEN sy = 0 THEN 1 ELSE p / sx * (p / sy) END",
    "corr": (
        "CASE WHEN sx = 0 OR sy = 0 THEN 'nan'::DOUBLE WHEN n > 0 "
        "THEN p / (sqrt(sx) * sqrt(sy)) END"
    ),
    "regr_count": "n",
}
"""Formulas of the count n, the sums of squares s, sx, sy, of products p, and the sums mx, my.

The variance of one value is 0, even if the value is infinite or NaN.
"""
_MEAN: Final = "CASE WHEN spread = 0 THEN least ELSE mean END"
"""A mean that is exact where all values are equal; sum / count may not be."""
_CENTER: Final = """(
    min(m) + list_sum(list_transform(
        list({'n': n, 'm': m}) FILTER (n > 0), lambda r : r.n * (r.m - min(m))
    )) / sum(n)
)"""
"""The mean of means m of n values each: the least of them plus what the others are above it."""
_PRODUCTS: Final = """(
    sum(p) + list_sum(list_transform(
        list({'n': n, 'a': x, 'b': y}) FILTER (n > 0),
        lambda r : r.n * (r.a - x_center) * (r.b - y_center)
    ))
)"""
"""The sum of products p about the center of all values, instead of the partials' centers x, y.

SQL has no sum within a sum, but it has a sum over a list of the partials.
"""


def expanding_replication(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep sum and count of each partial; integers and decimals stay exact until the division."""
    if aggregate.name not in ("avg", "mean") or len(aggregate.arguments) != 1:
        return None
    [argument] = aggregate.arguments
    total = sum_state(columns, argument, where=aggregate.condition)
    count = count_state(columns, argument, where=aggregate.condition)
    return divided(cast(total, "DOUBLE"), count)


def variance(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep the moments of one argument."""
    if aggregate.name not in _OF_ONE or len(aggregate.arguments) != 1:
        return None
    count, _, squares = moments(columns, aggregate.arguments[0], where=aggregate.condition)
    return exp.Paren(this=_formula(_OF_ONE[aggregate.name], n=count, s=squares))


def regression(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep the moments and co-moments of two arguments, y and x.

    Rows in which either is NULL are ignored.
    """
    if aggregate.name not in _OF_TWO or len(aggregate.arguments) != 2:
        return None
    y, x = aggregate.arguments
    both = all_known(aggregate.arguments, aggregate.condition)
    states = {
        "n": lambda: count_state(columns, where=both),
        "p": lambda: co_moments(columns, y, x, where=aggregate.condition)[3],
        "sx": lambda: moments(columns, x, where=both)[2],
        "sy": lambda: moments(columns, y, where=both)[2],
        "mx": lambda: sum_state(columns, x, where=both),
        "my": lambda: sum_state(columns, y, where=both),
    }
    text = _OF_TWO[aggregate.name]
    if text in states:
        return states[text]()
    asked = {each.name: states[each.name]() for each in _parsed(text).find_all(exp.Column)}
    return exp.Paren(this=_formula(text, **asked))


def moments(
    columns: PartialColumns, value: exp.Expr, *, where: exp.Expr | None
) -> tuple[exp.Column, ...]:
    """Return the state of count, mean and sum of squared deviations."""
    value = cast(value.copy(), "DOUBLE")
    count, spread = call("count", value, where=where), call("var_pop", value, where=where)
    values = [count, _mean(value, where), exp.Mul(this=spread, expression=count.copy())]
    return columns.state(StateKind.MOMENTS, values, _merged_moments)


def co_moments(
    columns: PartialColumns, y: exp.Expr, x: exp.Expr, *, where: exp.Expr | None
) -> tuple[exp.Column, ...]:
    """Return the state of count, mean of x, mean of y and sum of products of deviations."""
    where = all_known((y, x), where)
    x, y = cast(x.copy(), "DOUBLE"), cast(y.copy(), "DOUBLE")
    count, spread = call("count", x, where=where), call("covar_pop", y, x, where=where)
    products = exp.Mul(this=spread, expression=count.copy())
    values = [count, _mean(x, where), _mean(y, where), products]
    return columns.state(StateKind.CO_MOMENTS, values, _merged_co_moments)


def _mean(value: exp.Expr, where: exp.Expr | None) -> exp.Expr:
    names = {"spread": "var_pop", "least": "min", "mean": "avg"}
    calls = {name: call(function, value, where=where) for name, function in names.items()}
    return _formula(_MEAN, **calls)


def _merged_moments(state: Sequence[exp.Expr]) -> list[exp.Expr]:
    n, mean, p = state
    center = _formula(_CENTER, n=n, m=mean)
    products = _formula(_PRODUCTS, n=n, x=mean, y=mean, p=p, x_center=center, y_center=center)
    return [cast(call("sum", n), "BIGINT"), center, products]


def _merged_co_moments(state: Sequence[exp.Expr]) -> list[exp.Expr]:
    n, x, y, p = state
    x_center, y_center = _formula(_CENTER, n=n, m=x), _formula(_CENTER, n=n, m=y)
    products = _formula(_PRODUCTS, n=n, x=x, y=y, p=p, x_center=x_center, y_center=y_center)
    return [cast(call("sum", n), "BIGINT"), x_center, y_center, products]


def _formula(text: str, **states: exp.Expr) -> exp.Expr:
    """Return one of our formulas over states."""
    formula = _parsed(text).copy()
    for name in [node for node in formula.find_all(exp.Column) if node.name in states]:
        name.replace(states[name.name].copy())
    return formula


@cache
def _parsed(text: str) -> exp.Expr:
    """Return a formula whose divisions no setting rounds, without its places in the text."""
    formula = replaced(parse_one(text, dialect=DIALECT), _exactly)
    for node in formula.walk():
        node._meta = None  # otherwise they would be copied with each node
    return formula


def _exactly(node: exp.Expr) -> exp.Expr | None:
    if not isinstance(node, exp.Div):
        return None
    return divided(replaced(node.this, _exactly), replaced(node.expression, _exactly))
