"""Sums of integers and decimals by rows: a part is added when it enters, subtracted when it leaves.

They are kept modulo 2**64, in which adding and subtracting are exact whatever the values are. That
the true sum is no larger follows from a bound: the sum of the greatest magnitudes in the parts of
the window. Where the bound is too large for the type of the column, the sum is not given, and the
merge is left to DuckDB until such values have left the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...rows.arrow_words import column, decimal_words, grown, numbers
from .null_counts import NullCounts

if TYPE_CHECKING:
    import pyarrow as pa

    from ...rows.arrow_words import Integers, Present
    from .live_rows import LiveRows, Moves

_FIRST: Final = 64
_SIGN_BITS: Final = 63
_ANY_DECIMAL: Final = 1 << 127


class SumValues(NamedTuple):
    """The sums of a part: modulo 2**64 with 0 for NULL, which are there, the greatest magnitude."""

    words: Integers
    present: Present
    greatest: int


class SubtractedSum:
    """The sums of one column by rows. A row that no part has is all zero."""

    __slots__ = ("_bound", "_is_decimal", "_limit", "_nulls", "_type", "_words")

    def __init__(self, type_: pa.DataType) -> None:
        from pyarrow import types

        self._type = type_
        self._is_decimal = types.is_decimal128(type_)
        self._limit = _limit(type_)
        self._words = np.zeros((_FIRST, 2 if self._is_decimal else 1), np.int64)
        """As they are handed out: of decimals, the lower word and the upper one."""
        self._nulls = NullCounts()
        self._bound = 0

    def read(self, array: pa.Array) -> SumValues:
        """Return what is kept of a part."""
        if not self._is_decimal:
            values, present = numbers(array)
            words = values.astype(np.int64, copy=False)
            return SumValues(words, present, _magnitude(words))
        low, high, present = decimal_words(array)
        fits = bool(np.array_equal(high, low >> _SIGN_BITS))
        return SumValues(low, present, _magnitude(low) if fits else _ANY_DECIMAL)

    def enter(self, rows: Integers, values: SumValues, live: LiveRows) -> None:
        """Add a part."""
        self._words = grown(self._words, live.count)
        low = self._words[:, 0]
        sums = low[rows] + values.words
        low[rows] = sums
        if self._is_decimal:
            self._words[:, 1][rows] = sums >> _SIGN_BITS
        self._bound += values.greatest
        self._nulls.enter(rows, values.present, live)

    def leave(self, rows: Integers, values: SumValues) -> None:
        """Subtract a part."""
        low = self._words[:, 0]
        sums = low[rows] - values.words
        low[rows] = sums
        if self._is_decimal:
            self._words[:, 1][rows] = sums >> _SIGN_BITS
        self._bound -= values.greatest
        self._nulls.leave(rows, values.present)

    def move(self, moves: Moves) -> None:
        """Move rows into gaps."""
        self._words[moves.targets] = self._words[moves.sources]
        self._words[moves.sources] = 0
        self._nulls.move(moves)

    def column(self, live: LiveRows) -> pa.Array | None:
        """Return the sums of the rows, or None if they may be too large to be known."""
        if self._bound >= self._limit:
            return None
        words = self._words[: live.count]
        words = words.copy() if self._is_decimal else words[:, 0].copy()
        return column(self._type, words, self._nulls.present(live))

    def _check(self, live: LiveRows) -> None:
        """Assert what always holds."""
        assert not self._words[live.count :].any()
        assert self._bound >= 0
        self._nulls._check(live)


def can_subtract(type_: pa.DataType) -> bool:
    """Tell whether sums of this type are integers or decimals."""
    from pyarrow import types

    return bool(types.is_decimal128(type_) or types.is_signed_integer(type_))


def _limit(type_: pa.DataType) -> int:
    """Return what the magnitude of any sum must stay below."""
    from pyarrow import types

    if types.is_decimal128(type_):
        largest: int = 10 ** int(type_.precision)
        return min(largest, 1 << _SIGN_BITS)
    return 1 << int(type_.bit_width) - 1


def _magnitude(words: Integers) -> int:
    return max(int(words.max()), -int(words.min()))
