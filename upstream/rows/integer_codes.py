"""Numbers for integers: 0, 1, 2, … for each integer that is new, for thousands of them at once.

A hash table with open addressing in NumPy arrays. All integers of a call are looked up together;
those that meet another integer go on to the next slot, and after a few rounds none is left. Looking
4,000 up among 200,000 takes 0.05 to 0.1 ms, where a dict takes 1 ms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Table = tuple[Integers, Integers]
    """The integer of each slot, and its code; the length is a power of two."""

_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio (Knuth 6.4)
_FIRST_BITS: Final = 10
_FREE: Final = -1


class IntegerCodes:
    """The integers seen so far, and their codes, which are dense.

    An exception anywhere in `codes_of` leaves every code as it was; integers that were new in that
    call may have a code afterwards, or not.

    >>> codes = IntegerCodes()
    >>> len(set(codes.codes_of(np.array([7, 5, 7])).tolist())), len(codes)
    (2, 2)
    """

    __slots__ = ("_count", "_is_changing", "_table")

    def __init__(self) -> None:
        self._count = 0
        self._is_changing = False
        """Whether codes from `_count` on are in the table, which nothing relies on yet."""
        self._table = _empty(_FIRST_BITS)

    def __len__(self) -> int:
        return self._count

    def codes_of(self, keys: Integers) -> Integers:
        """Return the code of each integer; one that is new gets the next. Amortised O(1) each."""
        if self._is_changing:
            self._undo()
        codes, slots = _find(self._table, keys)
        new = (codes == _FREE).nonzero()[0]
        if new.size:
            self._enter(keys, codes, slots, new)
        return codes

    def _enter(self, keys: Integers, codes: Integers, slots: Integers, new: Integers) -> None:
        """Give codes to the keys at the places `new`, which want these slots."""
        if 4 * (self._count + new.size) > self._table[0].size:
            self._table = _grown(self._table, self._count, new.size)
            slots[new] = _find(self._table, keys[new])[1]
        table_codes = self._table[1]
        self._is_changing = True
        while new.size:  # of equal keys, and of those that want one slot, one a round gets it
            new_slots, new_keys = slots[new], keys[new]
            wanted = np.arange(self._count, self._count + new.size)
            table_codes[new_slots] = wanted
            is_in = table_codes[new_slots] == wanted
            self._put(new_keys[is_in], new_slots[is_in])
            codes[new], slots[new] = _find(self._table, new_keys)
            new = new[codes[new] == _FREE]
        self._is_changing = False

    def _put(self, keys: Integers, slots: Integers) -> None:
        table_keys, table_codes = self._table
        table_keys[slots] = keys
        table_codes[slots] = np.arange(self._count, self._count + keys.size)
        self._count += keys.size

    def _undo(self) -> None:
        """Free the slots that an exception left with codes that were not given."""
        codes = self._table[1]
        codes[codes >= self._count] = _FREE
        self._is_changing = False

    def _check(self) -> None:
        """Assert what always holds."""
        keys, codes = self._table
        taken = np.flatnonzero(codes != _FREE)
        assert sorted(codes[taken].tolist()) == list(range(self._count))
        assert np.array_equal(_find(self._table, keys[taken])[1], taken)
        assert 4 * self._count <= keys.size


def _empty(bits: int) -> Table:
    return np.zeros(1 << bits, np.int64), np.full(1 << bits, _FREE, np.int64)


def _find(table: Table, keys: Integers) -> tuple[Integers, Integers]:
    """Return the codes of integers and their slots; where there is none, `_FREE` and where."""
    table_keys, table_codes = table
    shift = np.uint64(65 - table_keys.size.bit_length())
    slots = ((keys.view(np.uint64) * _MULTIPLIER) >> shift).view(np.int64)
    codes = table_codes[slots]
    missed = ((table_keys[slots] != keys) & (codes != _FREE)).nonzero()[0]
    while missed.size:
        following = (slots[missed] + 1) & (table_keys.size - 1)
        found = table_codes[following]
        slots[missed], codes[missed] = following, found
        missed = missed[(table_keys[following] != keys[missed]) & (found != _FREE)]
    return codes, slots


def _grown(table: Table, count: int, more: int) -> Table:
    """Return a table with room for more integers, an eighth to a quarter full."""
    taken = np.flatnonzero((table[1] != _FREE) & (table[1] < count))
    keys, codes = table[0][taken], table[1][taken]
    larger = _empty((4 * (count + more)).bit_length())
    left = np.arange(keys.size)
    while left.size:  # of integers that want one slot, one a round gets it
        _, slots = _find(larger, keys[left])
        larger[1][slots] = codes[left]
        is_in = larger[1][slots] == codes[left]
        larger[0][slots[is_in]] = keys[left[is_in]]
        left = left[~is_in]
    return larger
