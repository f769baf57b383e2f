"""Expanding replication for variances, covariances and regressions, without losing digits.

Sums of squares would be easy to merge and lose all digits where the mean is large. A partial keeps
count, mean and sum of squared deviations instead, and partials are merged by the formula of Chan,
Golub and LeVeque. The mean of equal values is that value to the last bit, so that a variance of
nothing but equal values is 0 in parts as it is whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ...sql.trees import call, cast, divided, is_known
from ..split_query import StateKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..partial_columns import PartialColumns


def moments(
    columns: PartialColumns, value: exp.Expr, *, where: exp.Expr | None
) -> tuple[exp.Column, ...]:
    """Return the state of count, mean and sum of squared deviations."""
    value = cast(value.copy(), "DOUBLE")
    count = call("count", value, where=where)
    squares = _times(call("var_pop", value, where=where), count)
    return columns.state(StateKind.MOMENTS, [count, _mean(value, where), squares], _merged_moments)


def co_moments(
    columns: PartialColumns, y: exp.Expr, x: exp.Expr, *, where: exp.Expr | None
) -> tuple[exp.Column, ...]:
    """Return the state of count, mean of x, mean of y and sum of products of deviations."""
    where = both_known(y, x, where)
    x, y = cast(x.copy(), "DOUBLE"), cast(y.copy(), "DOUBLE")
    count = call("count", x, where=where)
    products = _times(call("covar_pop", y, x, where=where), count)
    means = [_mean(x, where), _mean(y, where)]
    return columns.state(StateKind.CO_MOMENTS, [count, *means, products], _merged_co_moments)


def both_known(y: exp.Expr, x: exp.Expr, where: exp.Expr | None) -> exp.Expr:
    """Return the condition under which a pair of values counts."""
    known = [is_known(value) for value in (y, x)]
    return exp.and_(*known, where.copy() if where is not None else None, copy=False)


def _mean(value: exp.Expr, where: exp.Expr | None) -> exp.Expr:
    """Return a mean that is exact where all values are equal; sum / count need not be."""
    are_equal = exp.EQ(this=call("var_pop", value, where=where), expression=exp.Literal.number(0))
    least, mean = call("min", value, where=where), call("avg", value, where=where)
    return exp.Case(ifs=[exp.If(this=are_equal, true=least)], default=mean)


def _times(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Mul(this=left, expression=right.copy())


def _merged_moments(state: Sequence[exp.Expr]) -> list[exp.Expr]:
    count, mean, squares = state
    center = _center(count, mean)
    apart = _product_apart(count, (mean, center), (mean, center))
    return [cast(call("sum", count), "BIGINT"), center, _plus(call("sum", squares), apart)]


def _merged_co_moments(state: Sequence[exp.Expr]) -> list[exp.Expr]:
    count, x, y, products = state
    x_center, y_center = _center(count, x), _center(count, y)
    apart = _product_apart(count, (x, x_center), (y, y_center))
    total = _plus(call("sum", products), apart)
    return [cast(call("sum", count), "BIGINT"), x_center, y_center, total]


def _center(count: exp.Expr, mean: exp.Expr) -> exp.Expr:
    """Return the mean of means, as their least plus what the others are above it."""
    least = call("min", mean)
    above = exp.Sub(this=_field("m"), expression=least)
    total = _sum_over({"n": count, "m": mean}, _times(_field("n"), exp.Paren(this=above)))
    shift = divided(total, call("sum", count))
    return _plus(least.copy(), shift)


def _product_apart(
    count: exp.Expr, first: tuple[exp.Expr, exp.Expr], second: tuple[exp.Expr, exp.Expr]
) -> exp.Expr:
    """Return the sum over partials of count × (mean - center) × (mean - center)."""
    apart = [
        exp.Paren(this=exp.Sub(this=_field(name), expression=center.copy()))
        for name, (_, center) in (("a", first), ("b", second))
    ]
    product = _times(_times(_field("n"), apart[0]), apart[1])
    return _sum_over({"n": count, "a": first[0], "b": second[0]}, product)


def _sum_over(fields: dict[str, exp.Expr], summand: exp.Expr) -> exp.Expr:
    """Return the sum of an expression over all partials that have rows.

    A sum within a sum is not SQL, a list of the partials with a sum over it is.
    """
    struct = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(name), expression=value.copy())
            for name, value in fields.items()
        ]
    )
    has_rows = exp.GT(this=fields["n"].copy(), expression=exp.Literal.number(0))
    partials = call("list", struct, where=has_rows)
    lambda_ = exp.Lambda(this=summand, expressions=[exp.to_identifier("r")])
    return call("list_sum", exp.Anonymous(this="list_transform", expressions=[partials, lambda_]))


def _field(name: str) -> exp.Expr:
    return exp.Dot(this=exp.to_identifier("r"), expression=exp.to_identifier(name))


def _plus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.Add(this=left, expression=right))
