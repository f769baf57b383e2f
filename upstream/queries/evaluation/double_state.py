"""A sum of doubles, or moments that are made of such sums, which follow rows that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import numbers, one_array, presence
from ..partials.double_moments import DoubleMoments
from ..partials.double_sums import DoubleSums
from ..rewriting.split_query import StateKind

if TYPE_CHECKING:
    from ...rows.arrow_words import Integers
    from ..partials.double_sums import Doubles
    from ..rewriting.changing import DoubleColumns
    from .increments import Take


class DoubleState:
    """One state of all groups. A row with a NULL changes nothing."""

    __slots__ = ("_held", "_made")

    def __init__(self, made: DoubleColumns) -> None:
        self._made = made
        self._held: DoubleSums | DoubleMoments
        if made.kind in (StateKind.MOMENTS, StateKind.CO_MOMENTS):
            self._held = DoubleMoments(is_square=made.kind is StateKind.MOMENTS)
        else:
            self._held = DoubleSums()

    def change(self, rows: pa.Table, places: Integers, signs: Integers) -> Take | None:
        """Prepare to add rows, or to take them away; None if a value is too large."""
        arrays = [one_array(rows.column(name)) for name in self._made.values]
        if arrays[0].null_count:
            known = presence(arrays[0])
            arrays = [each.filter(pa.array(known)) for each in arrays]
            places, signs = places[known], signs[known]
        values = [_doubles(each) for each in arrays]
        if isinstance(self._held, DoubleMoments):
            # the state has the mean of x before that of y, and the argument y comes first
            y, x = values[0], values[-1]
            return self._held.change(places, x, y, signs)
        [doubles] = values
        return self._held.change(places, doubles, signs)

    def columns_of(self, places: Integers) -> dict[str, pa.Array]:
        """Return the columns of the state for these groups."""
        if isinstance(self._held, DoubleMoments):
            found = self._held.columns_of(places)
        else:
            found = [self._held.column_of(places)]
        return dict(zip(self._made.columns, found, strict=True))

    def _check(self) -> None:
        """Assert every invariant."""
        self._held._check()


def _doubles(array: pa.Array) -> Doubles:
    values, _ = numbers(array)
    return values.astype(np.float64, copy=False)
