"""Variances, standard deviations, covariances, correlation and linear regression from moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp, parse_one

from ...sql.trees import divided, replaced
from .compensation import count_state, sum_state
from .moments import both_known, co_moments, moments

if TYPE_CHECKING:
    from collections.abc import Callable

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
"""What each is of the count n, the sums of squares s, sx, sy, of products p, the sums mx, my.

The variance of one value is 0, be it infinite or NaN.
"""


def variance(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep the moments of one argument."""
    if aggregate.is_distinct or aggregate.name not in _OF_ONE or len(aggregate.arguments) != 1:
        return None
    count, _, squares = moments(columns, aggregate.arguments[0], where=aggregate.condition)
    return _formula(_OF_ONE[aggregate.name], {"n": lambda: count, "s": lambda: squares})


def regression(aggregate: AggregateCall, columns: PartialColumns) -> exp.Expr | None:
    """Keep the moments and co-moments of two arguments, y and x, of which neither may be NULL."""
    if aggregate.is_distinct or aggregate.name not in _OF_TWO or len(aggregate.arguments) != 2:
        return None
    y, x = aggregate.arguments
    both = both_known(y, x, aggregate.condition)
    return _formula(
        _OF_TWO[aggregate.name],
        {
            "n": lambda: count_state(columns, where=both),
            "p": lambda: co_moments(columns, y, x, where=aggregate.condition)[3],
            "sx": lambda: moments(columns, x, where=both)[2],
            "sy": lambda: moments(columns, y, where=both)[2],
            "mx": lambda: sum_state(columns, x, where=both),
            "my": lambda: sum_state(columns, y, where=both),
        },
    )


def _formula(text: str, states: dict[str, Callable[[], exp.Expr]]) -> exp.Expr:
    """Return one of our formulas over states, which are asked for only where it names them."""
    tree = parse_one(text, dialect="duckdb")
    for name in [node for node in tree.find_all(exp.Column) if node.name in states]:
        state = states[name.name]()
        if name is tree:
            return state
        name.replace(state.copy())
    return exp.Paren(this=replaced(tree, _exactly))


def _exactly(node: exp.Expr) -> exp.Expr | None:
    """Return a division as one that no setting rounds."""
    if not isinstance(node, exp.Div):
        return None
    return divided(replaced(node.this, _exactly), replaced(node.expression, _exactly))
