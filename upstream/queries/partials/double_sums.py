"""Sums of doubles from which values can be taken away again, exactly.

    a double = its mantissa, an integer of 53 bits, at some place of a long binary number
    a sum    = that number, in words of 32 bits that are added separately

A word is kept in 64 bits, so it overflows only after 2**31 values, and subtracting a value leaves
what was there before: no rounding is ever left over, however large the value was. The words are
carried and rounded when the sum is read, once for each change of a group. Infinities and NaN have
no mantissa; they are counted.

An expansion (a sum of a few doubles without overlap) would be as exact, but longer and slower the
more the magnitudes differ. A compensated sum would have to be built again from time to time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import column, grown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from ...rows.arrow_words import Integers

    Doubles = NDArray[np.float64]

_WORD: Final = 32
_MASK: Final = (1 << _WORD) - 1
_MANTISSA: Final = 53
LOWEST: Final = -1_152
"""The power of 2 of the lowest bit of word 0, which is below that of any double."""
_LIMIT: Final = 2.0**1_000
"""Sums of finite values from here on may overflow, and DuckDB's depend on the order."""
_DIGITS: Final = 4
"""A sum is rounded from this many words, which are 97 bits at least."""
_CARRIED: Final = 3
"""Carrying reaches at most this many words further than any digit."""
_AT_ONCE: Final = 16_384
"""The sums of this many groups are rounded together, which bounds the memory for their digits."""


class DoubleSums:
    """The sum of the values of each group; NULL if there is none. Groups are given by codes.

    >>> sums = DoubleSums()
    >>> for values, sign in [([1e300, 0.1], 1), ([1e300], -1)]:
    ...     codes = np.zeros(len(values), np.int64)
    ...     take = sums.change(codes, np.array(values), np.full(len(values), sign))
    ...     take()
    >>> sums.column_of(np.array([0])).to_pylist()
    [0.1]
    """

    __slots__ = ("_counts", "_sums", "_words")

    def __init__(self) -> None:
        self._words: dict[int, Integers] = {}
        """The words at the places that were ever used, each by codes."""
        self._counts: Integers = np.zeros((0, 4), np.int64)
        """By codes: how many values there are, and how many of them are inf, -inf and NaN."""
        self._sums: Doubles = np.zeros((0, 2))
        """By codes, the rounded sums of the finite values, and what rounding has lost."""

    def change(
        self, codes: Integers, values: Doubles, signs: Integers
    ) -> Callable[[], None] | None:
        """Prepare to add values, where the sign is 1, and to take others away, where it is -1.

        None if a finite value is too large. The returned function makes the change and cannot fail;
        nothing may change in between.
        """
        is_summed = np.isfinite(values) & (values != 0.0)
        if (np.abs(values[is_summed]) >= _LIMIT).any():
            return None
        groups, of = np.unique(codes, return_inverse=True)
        self._make_room(groups)
        counts = self._counts[groups]
        which = (np.ones(values.size, np.bool_), values == np.inf, values == -np.inf)
        for kind, chosen in enumerate((*which, np.isnan(values))):
            np.add.at(counts[:, kind], of[chosen], signs[chosen])
        assert not (counts < 0).any(), "more values of a group are taken away than were added"
        words = self._changed(groups, of[is_summed], values[is_summed], signs[is_summed])
        sums = _rounded(words, groups.size)

        def swap_in() -> None:
            for place, changed in words.items():
                self._words[place][groups] = changed
            self._counts[groups] = counts
            self._sums[groups] = sums

        return swap_in

    def column_of(self, codes: Integers) -> pa.Array:
        """Return the sums of these groups."""
        self._make_room(codes)
        count, above, below, nan = self._counts[codes].T
        sums = self._sums[codes, 0]
        sums[above > 0] = np.inf
        sums[below > 0] = -np.inf
        sums[(nan > 0) | ((above > 0) & (below > 0))] = np.nan
        return column(pa.float64(), sums, count > 0)

    def counts_of(self, codes: Integers) -> Integers:
        """Return how many values these groups have."""
        self._make_room(codes)
        counts: Integers = self._counts[codes, 0]
        return counts

    def parts_of(self, codes: Integers) -> tuple[Doubles, Doubles]:
        """Return the sums of groups without infinities and NaN, and what rounding has lost."""
        self._make_room(codes)
        sums, lost = self._sums[codes].T
        return sums, lost

    def whole_of(self, codes: Integers) -> NDArray[np.object_]:
        """Return the same sums as Python's integers, in units of 2**`LOWEST`. This is slow."""
        self._make_room(codes)
        whole = np.zeros(codes.size, np.object_)
        for place, words in self._words.items():
            whole += words[codes].astype(np.object_) << (_WORD * place)
        return whole

    def _make_room(self, codes: Integers) -> None:
        """Make room for the groups of these codes, of which nothing is known so far."""
        size = int(codes.max()) + 1 if codes.size else 0
        if size > len(self._sums):
            self._counts = grown(self._counts, size)
            self._words = {place: grown(each, size) for place, each in self._words.items()}
            self._sums = grown(self._sums, size)

    def _changed(
        self, groups: Integers, of: Integers, values: Doubles, signs: Integers
    ) -> dict[int, Integers]:
        """Return the words of groups, after values of some of them were added or taken away."""
        words = {place: each[groups] for place, each in self._words.items()}
        for place, chosen, digits in _digits(values):
            if place not in words:
                self._words.setdefault(place, np.zeros(len(self._sums), np.int64))
                words[place] = np.zeros(groups.size, np.int64)
            np.add.at(words[place], of[chosen], digits * signs[chosen])
        return words

    def _check(self) -> None:
        """Assert every invariant."""
        is_gone = self._counts[:, 0] == 0
        assert not self._sums[is_gone].any()
        assert (self._counts[:, :1] >= self._counts[:, 1:].sum(axis=1, keepdims=True)).all()
        for words in self._words.values():
            assert words.size == len(self._sums)
            assert not words[is_gone].any(), "nothing is left where no values are"


def _digits(values: Doubles) -> Iterator[tuple[int, Integers, Integers]]:
    """Yield which values have a digit at a place, and the digits with the signs of the values."""
    mantissas, exponents = np.frexp(values)
    bits = np.ldexp(np.abs(mantissas), _MANTISSA).astype(np.uint64)
    starts = exponents.astype(np.int64) - (_MANTISSA + LOWEST)
    shifts = (starts % _WORD).astype(np.uint64)
    places = starts // _WORD
    back, word, mask = _WORD - shifts, np.uint64(_WORD), np.uint64(_MASK)
    digits = (bits << shifts) & mask, (bits >> back) & mask, bits >> word >> back
    signs = np.where(values < 0, -1, 1)
    for first in np.unique(places).tolist():
        chosen = np.flatnonzero(places == first)
        for offset, each in enumerate(digits):
            yield first + offset, chosen, each[chosen].astype(np.int64) * signs[chosen]


def _rounded(words: Mapping[int, Integers], groups: int) -> Doubles:
    """Return the numbers that words make, rounded, and what rounding has lost."""
    if not words:
        return np.zeros((groups, 2))
    parts = [
        _rounded_part({place: each[start : start + _AT_ONCE] for place, each in words.items()})
        for start in range(0, groups, _AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, 2))


def _rounded_part(words: Mapping[int, Integers]) -> Doubles:
    """Return the numbers that words make, rounded, and what rounding has lost."""
    lowest, highest = min(words), max(words) + _CARRIED
    count = len(words[lowest])
    nothing: Integers = np.zeros(count, np.int64)
    carry = nothing
    for place in range(lowest, highest + 1):
        carry = (words.get(place, nothing) + carry) >> _WORD
    signs = np.where(carry < 0, -1, 1)
    digits = np.zeros((_DIGITS - 1 + highest + 1 - lowest, count), np.int64)
    carry = nothing
    for row, place in enumerate(range(lowest, highest + 1), _DIGITS - 1):
        total = words.get(place, nothing) * signs + carry
        digits[row] = total & _MASK
        carry = total >> _WORD
    top = digits.shape[0] - 1 - (digits[::-1] != 0).argmax(axis=0)
    top = np.maximum(top, _DIGITS - 1)
    first, second, third, fourth = (
        digits[top - i, np.arange(count)].astype(np.float64) for i in range(_DIGITS)
    )
    first *= 2.0**_WORD
    both = first + second
    lost = second - (both - first)
    rest = third * 2.0**-_WORD + fourth * 2.0 ** (-2 * _WORD)
    rounded = both + (lost + rest)
    lost = (both - rounded) + (lost + rest)
    powers = (top - (_DIGITS - 1) + lowest - 1) * _WORD + LOWEST
    numbers: Doubles = np.stack([signs * np.ldexp(each, powers) for each in (rounded, lost)], 1)
    return numbers
