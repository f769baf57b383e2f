"""Sums of integers and decimals that stay exact for as long as a stream runs.

An integer is one word of 64 bits, and a decimal two, as Arrow stores them: the lower word, then the
upper one. Every result is checked. What might not fit the type of the column is not computed here.
"""

from __future__ import annotations

from functools import partial as bind
from typing import TYPE_CHECKING, Final

import numpy as np
from pyarrow import types

from ...rows.arrow_words import column, one_array, word_pairs, words
from .cells import Cells, ValueCounts

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from ...rows.arrow_words import Integers
    from .cells import PlacedPartial, Write

_WORD: Final = 64
_SIGN: Final = _WORD - 1
_MOST_BITS: Final = 126
"""Two words hold the sum of two numbers of so many bits and a sign."""


class ExactSum:
    """The sum of one column at each place."""

    __slots__ = ("_add", "_field", "_is_wide", "_sums", "counts")

    def __init__(self, field: pa.Field, counted_by: str | None = None) -> None:
        self._field = field
        self._is_wide = bool(types.is_decimal128(field.type))
        self._sums = Cells(0, width=2 if self._is_wide else 1)
        self._add: Callable[[Integers, Integers, int], Integers | None]
        if self._is_wide:
            bits = min((10 ** int(field.type.precision)).bit_length() - 1, _MOST_BITS)
            self._add = bind(add_pairs, bits=bits)
        else:
            self._add = bind(add_words, bits=int(field.type.bit_width) - 1)
        self.counts = (ValueCounts(field.name, counted_by),)

    @property
    def cells(self) -> tuple[Cells, ...]:
        """What is kept by places, apart from the counts."""
        return (self._sums,)

    def changed(self, partial: PlacedPartial) -> list[Write] | None:
        """Return what a partial changes; None if a sum may not fit."""
        array = one_array(partial.table.column(self._field.name))
        values, present = word_pairs(array) if self._is_wide else words(array)
        sums = self._add(self._sums.integers_at(partial), values, partial.sign)
        if sums is None:
            return None
        return [(self._sums, sums), *self.counts[0].changed(partial, present)]

    def columns(self, live: Integers | int) -> dict[str, pa.Array]:
        """Return the column of sums at these places."""
        present = self.counts[0].present(live)
        return {self._field.name: column(self._field.type, self._sums.of(live), present)}

    def integers(self, size: int) -> Integers | None:
        """Return the sums at the first places; None if one is NULL or does not fit 64 bits."""
        sums = self._sums.integers(size)
        if sums is None or not self.counts[0].are_all_present(size):
            return None
        if not self._is_wide:
            return sums
        low, high = sums.T
        return low if np.array_equal(high, low >> _SIGN) else None


def add_words(old: Integers, new: Integers, sign: int, bits: int) -> Integers | None:
    """Return `old + sign * new`; None if a result has more than so many bits and a sign."""
    if sign > 0:
        total = old + new
        wraps = (old ^ total) & (new ^ total)
    else:
        total = old - new
        wraps = (old ^ new) & (old ^ total)
    if (wraps < 0).any() or (bits < _SIGN and _exceeds(total, bits)):
        return None
    return total


def add_pairs(old: Integers, new: Integers, sign: int, bits: int) -> Integers | None:
    """Return `old + sign * new` for numbers of two words, which do not exceed so many bits.

    None if one of `new` or of the results does.
    """
    if _pairs_exceed(new, bits):
        return None
    total = np.empty_like(old)
    low, of_old, of_new = (pairs[:, 0].view(np.uint64) for pairs in (total, old, new))
    high = total[:, 1]
    if sign > 0:
        np.add(of_old, of_new, out=low)
        np.add(old[:, 1], new[:, 1], out=high)
        high += low < of_new
    else:
        np.subtract(of_old, of_new, out=low)
        np.subtract(old[:, 1], new[:, 1], out=high)
        high -= of_old < of_new
    return None if _pairs_exceed(total, bits) else total


def _pairs_exceed(pairs: Integers, bits: int) -> bool:
    """Tell whether a number of two words needs more than so many bits and a sign."""
    low, high = pairs[:, 0], pairs[:, 1]
    if bits > _WORD:
        return _exceeds(high, bits - _WORD)
    return bool(((low >> min(bits, _SIGN)) ^ high).any())


def _exceeds(words: Integers, bits: int) -> bool:
    """Tell whether a word needs more than so many bits and a sign."""
    return bool(((words >> bits) ^ (words >> _SIGN)).any())
