"""Sums of doubles by rows: a part is added when it enters, subtracted when it leaves, exactly.

Floating point would drift, and a large value leave its rounding error behind when it leaves. Sums
are integers here (`limbs`), of which only those limbs are kept that some value in the window needs,
and are rounded when they are handed out. So they do not depend on the order of parts either.
Infinities and NaN are counted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...rows.arrow_words import column, grown, numbers
from .limbs import LIMBS_OF_ONE, doubles_of, first_limbs, limbs_of
from .null_counts import NullCounts
from .touched_rows import TouchedRows

if TYPE_CHECKING:
    import pyarrow as pa

    from ...rows.arrow_words import Integers, Present
    from .limbs import Doubles
    from .live_rows import LiveRows, Moves

_FIRST: Final = 64
_ODD_KINDS: Final = 3
_SPARE_LIMBS: Final = 4


class DoubleValues(NamedTuple):
    """The sums of a part: finite ones, with 0 for others and NULL; others; and which are there.

    `odd` are pairs of an index and a kind: infinite, minus infinite, no number. `limbs` are the
    number of the first limb that these values need, and that after the last.
    """

    of: ExactSum
    finite: Doubles
    odd: tuple[Integers, Integers] | None
    present: Present
    limbs: tuple[int, int] | None

    def enter(self, rows: Integers, live: LiveRows) -> None:
        """Add this part."""
        self.of.enter(rows, self, live)

    def leave(self, rows: Integers) -> None:
        """Subtract this part."""
        self.of.leave(rows, self)


class ExactSum:
    """The sums of one column of doubles by rows. A row that no part has is all zero."""

    __slots__ = ("_first", "_limbs", "_needed", "_nulls", "_odd", "_sums", "_touched", "_type")

    def __init__(self, type_: pa.DataType) -> None:
        self._type = type_
        self._first = 0
        """The number of the first limb that is kept."""
        self._limbs = np.zeros((_FIRST, 0), np.int64)
        self._needed: Counter[tuple[int, int]] = Counter()
        """The limbs that the parts of the window need."""
        self._odd: Integers | None = None
        """How often each row has each odd kind, as soon as one has."""
        self._nulls = NullCounts()
        self._sums = np.zeros(_FIRST)
        self._touched = TouchedRows()
        """Rows whose sums are to be rounded again."""

    @property
    def limbs_kept(self) -> int:
        """How many limbs are kept of each row."""
        return int(self._limbs.shape[1])

    def read(self, array: pa.Array) -> DoubleValues:
        """Return what is kept of a part."""
        values, present = numbers(array)
        finite = values.astype(np.float64, copy=False)
        odd = None
        odd_rows = np.flatnonzero(~np.isfinite(finite))
        if odd_rows.size:
            kinds = np.where(np.isnan(finite[odd_rows]), 2, finite[odd_rows] < 0).astype(np.int64)
            odd = odd_rows, kinds
            finite = finite.copy()
            finite[odd_rows] = 0.0
        return DoubleValues(self, finite, odd, present, _needed_by(finite))

    def enter(self, rows: Integers, values: DoubleValues, live: LiveRows) -> None:
        """Add a part."""
        self._limbs = grown(self._limbs, live.count)
        self._sums = grown(self._sums, live.count)
        self._nulls.enter(rows, values.present, live)
        if values.limbs is not None:
            self._needed[values.limbs] += 1
            self._keep(*values.limbs)
        self._add(rows, values, 1)

    def leave(self, rows: Integers, values: DoubleValues) -> None:
        """Subtract a part."""
        self._nulls.leave(rows, values.present)
        self._add(rows, values, -1)
        if values.limbs is not None:
            self._needed[values.limbs] -= 1
            if self._needed[values.limbs] == 0:
                del self._needed[values.limbs]
                self._drop_limbs()

    def move(self, moves: Moves) -> None:
        """Move rows into gaps."""
        for array in (self._limbs, self._odd):
            if array is not None:
                array[moves.targets] = array[moves.sources]
                array[moves.sources] = 0
        self._nulls.move(moves)  # gaps are touched: a part has left them

    def clear(self) -> None:
        """Forget all rows."""
        self._limbs = np.zeros((_FIRST, 0), np.int64)
        self._odd = None
        self._needed.clear()
        self._nulls.clear()
        self._touched.clear()

    def column(self, live: LiveRows) -> pa.Array:
        """Return the sums of the rows."""
        self._round(self._touched.take(live.count))
        return column(self._type, self._sums[: live.count].copy(), self._nulls.present(live))

    def _add(self, rows: Integers, values: DoubleValues, sign: int) -> None:
        self._touched.add(rows)
        if values.limbs is not None:
            limbs = limbs_of(values.finite)
            flat, width = self._limbs.reshape(-1), self._limbs.shape[1]
            offsets = np.clip(limbs.first - self._first, 0, width - LIMBS_OF_ONE)  # of 0 too
            places = rows * width + offsets
            for limb in limbs.values:
                flat[places] += limb * sign
                places += 1
        if values.odd is not None:
            if self._odd is None:
                self._odd = np.zeros((_FIRST, _ODD_KINDS), np.int64)
            self._odd = grown(self._odd, len(self._limbs))
            indices, kinds = values.odd
            self._odd[rows[indices], kinds] += sign

    def _round(self, rows: Integers) -> None:
        sums = doubles_of(self._limbs[rows], self._first)
        if self._odd is not None:
            self._odd = grown(self._odd, len(self._limbs))
            positive, negative, no_number = (self._odd[rows] > 0).T
            sums[positive] = np.inf
            sums[negative] = -np.inf
            sums[no_number | (positive & negative)] = np.nan
        self._sums[rows] = sums

    def _keep(self, first: int, end: int) -> None:
        """Make room for these limbs."""
        width = self._limbs.shape[1]
        if width == 0:
            self._first, width = first, 0
        low, high = min(first, self._first), max(end, self._first + width)
        if high - low > width:
            self._take(low, high)

    def _drop_limbs(self) -> None:
        """Drop limbs that no part needs any more, if they are many."""
        low = min((first for first, _ in self._needed), default=self._first)
        high = max((end for _, end in self._needed), default=low)
        if self._limbs.shape[1] > high - low + _SPARE_LIMBS:
            self._take(low, high)

    def _take(self, low: int, high: int) -> None:
        """Keep these limbs; any others are zero."""
        limbs = np.zeros((len(self._limbs), high - low), np.int64)
        start = max(low, self._first)
        end = max(min(high, self._first + self._limbs.shape[1]), start)
        limbs[:, start - low : end - low] = self._limbs[:, start - self._first : end - self._first]
        self._limbs, self._first = limbs, low

    def _check(self, live: LiveRows) -> None:
        """Assert what always holds."""
        assert not self._limbs[live.count :].any()
        assert self._odd is None or not self._odd[live.count :].any()
        end = self._first + self._limbs.shape[1]
        assert all(self._first <= low < high <= end for low, high in self._needed)
        self._nulls._check(live)


def _needed_by(doubles: Doubles) -> tuple[int, int] | None:
    firsts = first_limbs(doubles[doubles != 0.0])
    if firsts.size == 0:
        return None
    return int(firsts.min()), int(firsts.max()) + LIMBS_OF_ONE
