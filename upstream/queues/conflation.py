"""Conflation of a batch by vector operations: which rows count, and which are each key's last.

What this computes for a whole column is what enqueueing row by row would do: a row is late if it
is older than the newest accepted before it for its key, in the stream or in the batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Conflated:
    """The accepted rows of a batch by key, keys in the order of their first accepted rows."""

    codes: Integers
    """The codes of the keys with an accepted row."""
    counts: Integers
    """How many rows of each were accepted."""
    last_rows: Integers
    """The last accepted row of each."""
    late: int
    """How many rows are late."""
    accepted: NDArray[np.bool_] | None
    """Which rows were accepted; None if all were."""


def conflate(codes: Integers, times: Floats, newest: Floats) -> Conflated:
    """Conflate rows of key `codes` at `times`; `newest` is each code's newest time so far.

    O(rows) where times are in order, else O(rows * log(rows that one late row affects)).
    """
    if len(codes) == 0:
        nothing = np.empty(0, dtype=np.int64)
        return Conflated(nothing, nothing, nothing, 0, None)
    if bool((times[1:] >= times[:-1]).all()):
        conflated = _last_rows(codes, None, len(newest))
        first_times = times[_first_rows(codes, len(newest))[conflated.codes]]
        if bool((first_times >= newest[conflated.codes]).all()):
            return conflated
    accepted = _accepted(codes, times, newest)
    if bool(accepted.all()):
        return _last_rows(codes, None, len(newest))
    return _last_rows(codes, accepted, len(newest))


def _last_rows(codes: Integers, accepted: NDArray[np.bool_] | None, size: int) -> Conflated:
    rows = np.arange(len(codes)) if accepted is None else np.flatnonzero(accepted)
    counted = codes if accepted is None else codes[rows]
    counts = np.bincount(counted, minlength=size)
    first = np.empty(size, dtype=np.int64)
    first[counted[::-1]] = rows[::-1]  # of several assignments the last one stays
    last = np.empty(size, dtype=np.int64)
    last[counted] = rows
    present = np.flatnonzero(counts)
    present = present[np.argsort(first[present])]
    return Conflated(present, counts[present], last[present], len(codes) - len(rows), accepted)


def _first_rows(codes: Integers, size: int) -> Integers:
    first = np.empty(size, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first


def _accepted(codes: Integers, times: Floats, newest: Floats) -> NDArray[np.bool_]:
    """Return which rows are not older than the newest before them of their key.

    Rows are sorted by key, and the running maximum of the times within each key is found by
    doubling: after the step of s, each row knows the maximum of the 2s rows up to it. A step that
    changes nothing is the last, so rows that are a little out of order take few steps.
    """
    order = _stable_order(codes, len(newest))
    keys = codes[order]
    sorted_times = times[order]
    before = newest[keys]
    maximum = np.maximum(sorted_times, before)
    step = 1
    while step < len(keys):
        earlier = np.where(keys[step:] == keys[:-step], maximum[:-step], -np.inf)
        if not bool((earlier > maximum[step:]).any()):
            break
        maximum[step:] = np.maximum(maximum[step:], earlier)
        step *= 2
    is_same = keys[1:] == keys[:-1]
    before[1:][is_same] = maximum[:-1][is_same]
    accepted = np.empty(len(keys), dtype=np.bool_)
    accepted[order] = sorted_times >= before
    return accepted


def _stable_order(codes: Integers, size: int) -> Integers:
    """Return the rows by code, those of one code in their order.

    NumPy sorts 16-bit integers by radix, several times as fast as longer ones.
    """
    low = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    if size <= 1 << 16:
        return low
    high = (codes >> 16).astype(np.uint16)[low]
    return low[np.argsort(high, kind="stable")]
