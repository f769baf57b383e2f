"""Conflate a batch by vector operations: find the accepted rows and the last one of each key.

The result for a whole column is the same as enqueueing row by row. A row is late if it is older
than the newest row accepted before it for its key, in the stream or in the batch.

A long batch is processed block by block. Its arrays are then small enough to stay in the
processor's cache, and in memory that the process already has. A fresh page of memory costs as much
as the work on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .reading import BLOCK_ROWS, Codes, Floats, Integers, blocks

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Conflated:
    """The accepted rows of a batch by key. Keys are in the order of their first accepted rows."""

    codes: Integers
    """The codes of the keys with an accepted row."""
    counts: Integers
    """The number of accepted rows of each of these keys."""
    last_rows: Integers
    """The last accepted row of each of these keys."""
    late: int
    """The number of late rows."""


def conflate(codes: Codes, times: Floats, newest: Floats) -> Conflated:
    """Conflate rows of key `codes` at `times`; `newest` is each code's newest time so far.

    O(rows + keys). Rows out of order take about three times as long as others.
    """
    known = _Known(newest)
    for block in blocks(len(codes), max(BLOCK_ROWS, len(newest))):
        rows = np.arange(block.start, block.stop)
        block_codes = codes[block].astype(np.int64)
        block_times = times[block]
        if bool((block_times[1:] >= block_times[:-1]).all()):
            known.add_ordered(rows, block_codes, block_times)
        else:
            known.add_shuffled(rows, block_codes, block_times)
    used = np.flatnonzero(known.counts)
    used = used[np.argsort(known.first_rows[used])]
    counts = known.counts[used]
    return Conflated(used, counts, known.last_rows[used], len(codes) - int(counts.sum()))


class _Known:
    """What is known of each key after some rows, in columns with one row per code."""

    __slots__ = ("counts", "first_rows", "last_rows", "newest")

    def __init__(self, newest: Floats) -> None:
        self.newest = newest.copy()
        self.counts = np.zeros(len(newest), dtype=np.int64)
        self.first_rows = np.empty(len(newest), dtype=np.int64)
        self.last_rows = np.empty(len(newest), dtype=np.int64)

    def add_ordered(self, rows: Integers, codes: Integers, times: Floats) -> None:
        """Add rows in the order of their times."""
        is_accepted = times >= self.newest[codes]
        if not bool(is_accepted.all()):
            rows, codes, times = rows[is_accepted], codes[is_accepted], times[is_accepted]
        self._note_first(rows, codes)
        self.last_rows[codes] = rows  # the last of several assignments to one element counts
        self.newest[codes] = times
        self.counts += np.bincount(codes, minlength=len(self.counts))

    def add_shuffled(self, rows: Integers, codes: Integers, times: Floats) -> None:
        """Add rows in any order. They are sorted by key, and keep their order within a key."""
        order = stable_order(codes, len(self.newest))
        codes, rows, times = codes[order], rows[order], times[order]
        is_accepted = newest_so_far(codes, times, self.newest)
        rows, codes, times = rows[is_accepted], codes[is_accepted], times[is_accepted]
        starts = starts_of(codes)
        counts = np.diff(starts, append=len(codes))
        ends = starts + counts - 1
        codes = codes[starts]
        self._note_first(rows[starts], codes)
        self.last_rows[codes] = rows[ends]
        self.newest[codes] = times[ends]
        self.counts[codes] += counts

    def _note_first(self, rows: Integers, codes: Integers) -> None:
        is_first = self.counts[codes] == 0
        self.first_rows[codes[is_first][::-1]] = rows[is_first][::-1]


def newest_so_far(codes: Codes, times: Floats, newest: Floats) -> Flags:
    """Tell which rows are not older than any earlier row of their key. Rows are sorted by key.

    `newest` is each code's newest time so far. NumPy compares complex numbers by their real parts
    first. So one running maximum of `code + time * i` is enough for all keys: it starts anew at
    each greater code.
    """
    starts = starts_of(codes)
    maximum = np.empty(len(codes), dtype=np.complex128)
    maximum.real = codes
    maximum.imag = times
    maximum.imag[starts] = np.maximum(times[starts], newest[codes[starts]])
    np.maximum.accumulate(maximum, out=maximum)
    return np.asarray(times == maximum.imag)


def starts_of(codes: Codes) -> Integers:
    """Return where each run of equal codes starts."""
    is_start = np.ones(len(codes), dtype=np.bool_)
    np.not_equal(codes[1:], codes[:-1], out=is_start[1:])
    return np.flatnonzero(is_start)


def stable_order(codes: Codes, size: int) -> Integers:
    """Return the row numbers sorted by code; rows of one code keep their order.

    NumPy sorts 16-bit integers by radix, several times faster than longer ones.
    """
    order = np.argsort(codes.astype(np.uint16), kind="stable")  # the low 16 bits
    if size <= 1 << 16:
        return order
    high = (codes >> 16)[order]
    return order[np.argsort(high.astype(np.uint16), kind="stable")]
