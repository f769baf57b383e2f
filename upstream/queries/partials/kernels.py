"""How two states become one, for many groups at once.

These functions do in NumPy what SQL does to merge states that have no inverse. Where a column is
NULL, the arrays of a state hold the identity, so that merging needs no test; which values are
present is kept separately. A sum of doubles is two numbers: the second keeps what rounding loses in
the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

import numpy as np
from pyarrow import types as are

from ...rows.arrow_words import lower_words, one_array, stored_as
from ..rewriting.split_query import StateKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...rows.arrow_words import Numbers, Present

    Arrays = tuple[Numbers, ...]

_WORD: Final = np.iinfo(np.int64)


@dataclass(frozen=True, slots=True)
class Kernel:
    """The merge of one state. It has as many arrays as `identity` has values, its columns first.

    `results` are the final values of the columns. Finite values of `limit` or more are not merged
    here: their merge depends on the order, so it is left to DuckDB.
    """

    identity: tuple[int, ...] | tuple[float, ...]
    combine: Callable[[Arrays, Arrays], Arrays]
    limit: float | None = None
    results: Callable[[Arrays], Arrays] = lambda arrays: arrays

    def combined(self, older: Arrays, newer: Arrays) -> Arrays:
        """Merge states; infinities and NaN are values like others."""
        with np.errstate(invalid="ignore", over="ignore"):
            return self.combine(older, newer)

    def has_large(self, values: Numbers) -> bool:
        """Tell whether a finite value is too large to be merged here."""
        if self.limit is None:
            return False
        magnitudes = np.abs(values)
        return bool(((magnitudes >= self.limit) & (magnitudes < np.inf)).any())


def kernel_values(
    kernel: Kernel, fields: Sequence[pa.Field], table: pa.Table
) -> tuple[Arrays, tuple[Present, ...], bool]:
    """Return the arrays of a state in a table, where its columns have values, and whether all fit.

    If a value does not fit, the state cannot be merged here.
    """
    names = [field.name for field in fields]
    arrays, masks = [], []
    fit_all = True
    for name, identity in zip_longest(names, kernel.identity):
        if name is None:  # the kernel has it
            arrays.append(np.full(table.num_rows, identity))
            continue
        values, present, fits = lower_words(one_array(table.column(name)))
        fit_all &= fits and not kernel.has_large(values)
        values = values.astype(type(identity), copy=False)
        arrays.append(values if present is None else np.where(present, values, identity))
        masks.append(present)
    return tuple(arrays), tuple(masks), fit_all


def kernel_of(kind: StateKind, types: Sequence[pa.DataType]) -> Kernel | None:
    """Return the kernel for a state whose columns have these types, or None if there is none."""
    if kind not in _KERNELS:
        return None
    for each in types:
        if stored_as(each) in {None, "uint64"} and not are.is_decimal128(each):
            return None
    if kind is StateKind.SUM and not are.is_float64(types[0]):
        return None
    of_integers, of_floats = _KERNELS[kind]
    return of_floats if are.is_floating(types[0]) else of_integers


def _least(left: Arrays, right: Arrays) -> Arrays:
    return (np.minimum(left[0], right[0]),)


def _greatest(left: Arrays, right: Arrays) -> Arrays:
    return (np.maximum(left[0], right[0]),)


def _smaller(left: Arrays, right: Arrays) -> Arrays:
    """Return the lesser value, where NaN is the greatest.

    Of equal ones (0.0 and -0.0), the later.
    """
    keeps = (left[0] < right[0]) | np.isnan(right[0])
    return (np.where(keeps, left[0], right[0]),)


def _greater(left: Arrays, right: Arrays) -> Arrays:
    """Return the greater value, NaN if there is one; of equal ones (0.0 and -0.0), the later."""
    keeps = (left[0] > right[0]) | np.isnan(left[0])
    return (np.where(keeps, left[0], right[0]),)


def _compensated(left: Arrays, right: Arrays) -> Arrays:
    """Add sums, and add what rounding loses to the compensations (Neumaier; Knuth's TwoSum)."""
    total = left[0] + right[0]
    of_right = total - left[0]
    lost = (left[0] - (total - of_right)) + (right[0] - of_right)
    compensation = left[1] + right[1] + lost
    is_finite = np.isfinite(total)
    return total, compensation if is_finite.all() else np.where(is_finite, compensation, 0.0)


def _sum_and_compensation(arrays: Arrays) -> Arrays:
    return (arrays[0] + arrays[1],)


def _moments(left: Arrays, right: Arrays) -> Arrays:
    """Merge counts, means and sums of squared deviations (Chan, Golub and LeVeque)."""
    count = left[0] + right[0]
    share = right[0] / np.maximum(count, 1.0)
    apart = right[1] - left[1]
    # this order avoids an overflow
    squares = left[2] + right[2] + apart * (left[0] * share) * apart
    return count, left[1] + apart * share, squares


def _co_moments(left: Arrays, right: Arrays) -> Arrays:
    """Merge counts, means of x and of y, and sums of products of deviations."""
    count = left[0] + right[0]
    share = right[0] / np.maximum(count, 1.0)
    x_apart, y_apart = right[1] - left[1], right[2] - left[2]
    products = left[3] + right[3] + x_apart * (left[0] * share) * y_apart
    return count, left[1] + x_apart * share, left[2] + y_apart * share, products


LEAST_INTEGER: Final = Kernel((int(_WORD.max),), _least)
GREATEST_INTEGER: Final = Kernel((int(_WORD.min),), _greatest)
LEAST_FLOAT: Final = Kernel((np.nan,), _smaller)
GREATEST_FLOAT: Final = Kernel((-np.inf,), _greater)
COMPENSATED_SUM: Final = Kernel((0.0, 0.0), _compensated, 2.0**1_000, _sum_and_compensation)
"""For n sums, the error is at most one rounding plus n² 2**-104 times the sum of magnitudes.

Sums below the limit overflow only if there are millions of them.
"""
MOMENTS: Final = Kernel((0.0,) * 3, _moments)
CO_MOMENTS: Final = Kernel((0.0,) * 4, _co_moments)

_KERNELS: Final = {
    StateKind.SUM: (None, COMPENSATED_SUM),
    StateKind.MINIMUM: (LEAST_INTEGER, LEAST_FLOAT),
    StateKind.MAXIMUM: (GREATEST_INTEGER, GREATEST_FLOAT),
    StateKind.MOMENTS: (MOMENTS, MOMENTS),
    StateKind.CO_MOMENTS: (CO_MOMENTS, CO_MOMENTS),
}
"""By the kind of a state, and whether its first column has integers (or decimals) or floats."""
