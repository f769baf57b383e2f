"""Sums of products of deviations from the mean, from which values can be taken away again.

    of n pairs: sum of (x - mean of x)(y - mean of y) = sum of xy - (sum of x)(sum of y) / n

For a variance, y is x. The three sums are exact (`DoubleSums`): a product of two doubles is itself
a sum of a few doubles. So only the last line rounds, in twice the precision of doubles. Where so
many digits cancel out that this is not enough, such as for equal values, it is computed in Python's
integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import column, grown
from .double_sums import LOWEST, DoubleSums

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...rows.arrow_words import Integers
    from .double_sums import Doubles

_LEAST: Final = 2.0**-450
_LIMIT: Final = 2.0**450
"""Products of values within these bounds are sums of doubles, without rounding."""
_SPLITTER: Final = 2.0**27 + 1
_CANCELLED: Final = 2.0**-60
"""If no more than this part of the sums is left, they are subtracted as integers."""


class DoubleMoments:
    """The number of pairs of each group, their means, and the sum of products of deviations.

    Groups are given by codes. With `is_square`, y is x.

    >>> moments = DoubleMoments(is_square=True)
    >>> values, codes = np.array([1e15, 1e15 + 1, 1e15 + 2]), np.zeros(3, np.int64)
    >>> moments.change(codes, values, values, np.ones(3, np.int64))()
    >>> [each.to_pylist() for each in moments.columns_of(np.array([0]))]
    [[3], [1000000000000001.0], [2.0]]
    """

    __slots__ = ("_is_square", "_news", "_of_products", "_of_x", "_of_y", "_products")

    def __init__(self, *, is_square: bool) -> None:
        self._is_square = is_square
        self._of_x = DoubleSums()
        self._of_y = self._of_x if is_square else DoubleSums()
        self._of_products = DoubleSums()
        self._products: Doubles = np.zeros(0)
        """By codes: the sums of products of deviations, when the group was last read."""
        self._news: list[Integers] = []
        """The groups that have changed since they were read."""

    def change(
        self, codes: Integers, x: Doubles, y: Doubles, signs: Integers
    ) -> Callable[[], None] | None:
        """Prepare to add pairs, where the sign is 1, and to take others away, where it is -1.

        None if a product would not be exact. The returned function makes the change and cannot
        fail; nothing may change in between.
        """
        if not (_has_exact_products(x) and _has_exact_products(y)):
            return None
        products = self._of_products.change(
            np.tile(codes, 2), np.concatenate(_product(x, y)), np.tile(signs, 2)
        )
        sums = self._of_x.change(codes, x, signs)
        others = sums if self._is_square else self._of_y.change(codes, y, signs)
        if products is None or sums is None or others is None:
            return None

        def swap_in() -> None:
            products()
            sums()
            if others is not sums:
                others()
            self._news.append(codes)

        return swap_in

    def columns_of(self, codes: Integers) -> list[pa.Array]:
        """Return the count, the means and the sum of products of deviations of these groups."""
        self._compute_news()
        counts = self._of_x.counts_of(codes)
        self._products = grown(self._products, int(codes.max()) + 1 if codes.size else 0)
        of = (self._of_x,) if self._is_square else (self._of_x, self._of_y)
        means = [each.parts_of(codes)[0] / np.maximum(counts, 1) for each in of]
        found = [column(pa.float64(), each, counts > 0) for each in (*means, self._products[codes])]
        return [column(pa.int64(), counts, None), *found]

    def _compute_news(self) -> None:
        """Compute the products of the groups that have changed."""
        if not self._news:
            return
        groups = np.unique(np.concatenate(self._news))
        if groups.size:
            products = self._deviations(groups)
            self._products = grown(self._products, int(groups[-1]) + 1)
            self._products[groups] = products
        self._news = []

    def _deviations(self, groups: Integers) -> Doubles:
        """Return the sums of products of deviations."""
        counts = self._of_x.counts_of(groups)
        n = np.maximum(counts, 1).astype(np.float64)
        products, lost = self._of_products.parts_of(groups)
        (x, x_lost), (y, y_lost) = self._of_x.parts_of(groups), self._of_y.parts_of(groups)
        high, low = _product(x, y)
        low += x * y_lost + y * x_lost
        share = high / n
        back, back_lost = _product(share, n)
        share_lost = (((high - back) - back_lost) + low) / n
        left, left_lost = _difference(products, share)
        deviations = left + ((lost - share_lost) + left_lost)
        bound = _CANCELLED * (np.abs(products) + np.abs(share))
        deviations[counts < 2] = 0.0
        close = np.flatnonzero((np.abs(deviations) <= bound) & (counts > 1))
        if close.size:
            deviations[close] = self._exact_deviations(groups[close], counts[close])
        return deviations

    def _exact_deviations(self, groups: Integers, counts: Integers) -> Doubles:
        n = counts.astype(np.object_)
        products = self._of_products.whole_of(groups) << -LOWEST
        squares = self._of_x.whole_of(groups) * self._of_y.whole_of(groups)
        left: Doubles = ((n * products - squares) / (n << -2 * LOWEST)).astype(np.float64)
        return left

    def _check(self) -> None:
        """Assert every invariant."""
        for sums in (self._of_x, self._of_y, self._of_products):
            sums._check()


def _has_exact_products(values: Doubles) -> bool:
    """Tell whether products of these values are sums of doubles, without rounding."""
    magnitudes = np.abs(values)
    return bool(((values == 0) | ((magnitudes > _LEAST) & (magnitudes < _LIMIT))).all())


def _product(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    """Return a product and what rounding has lost (Dekker)."""
    product = x * y
    x_high, x_low = _halves(x)
    y_high, y_low = _halves(y)
    cross = (x_high * y_high - product) + x_high * y_low + x_low * y_high
    return product, cross + x_low * y_low


def _halves(values: Doubles) -> tuple[Doubles, Doubles]:
    """Return two halves of each value, of half as many bits (Veltkamp)."""
    product = _SPLITTER * values
    high = product - (product - values)
    return high, values - high


def _difference(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    """Return a difference and what rounding has lost (Knuth)."""
    difference = x - y
    of_y = difference - x
    return difference, (x - (difference - of_y)) - (y + of_y)
