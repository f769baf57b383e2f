"""Qc in plain Python, over rows that arrive as lists of tuples.

A packet passes a router once, so a dictionary from packet ids to times is the whole hash table. The
three ways do more and more of the work before the cut.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from tests.benchmarks.epoch_systems import Means
from tests.benchmarks.packets import MINUTE

Row = tuple[int, int, float]
"""A packet's id, its time in microseconds, and its time at the router."""


def received(rows: pa.Table) -> list[Row]:
    """Return rows as tuples."""
    columns = (rows["pid"], rows["ts"].cast(pa.int64()), rows["trt"])
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def minute_of(row: Row) -> int:
    """Return the number of the minute of a row."""
    return row[1] // (MINUTE * 1_000_000)


class BuiltAfterCut:
    """Rows are kept in lists as they arrive, and joined after the cut."""

    def __init__(self) -> None:
        self._rows: list[list[Row]] = [[], []]

    received = staticmethod(received)

    def arrive(self, router: int, rows: list[Row]) -> None:
        self._rows[router] += rows

    def answer(self) -> Means:
        one, two = self._rows
        times = {pid: trt for pid, _, trt in one}
        deltas = [trt - times[pid] for pid, _, trt in two if pid in times]
        return {minute_of(one[0]): sum(deltas) / len(deltas)}

    def start(self, first: Sequence[list[Row]]) -> None:
        self._rows = [list(rows) for rows in first]


class BuiltBeforeCut:
    """The rows of one router are put into a hash table as they arrive, and probed after the cut."""

    def __init__(self) -> None:
        self._times: dict[int, float] = {}
        self._rows: list[Row] = []

    received = staticmethod(received)

    def arrive(self, router: int, rows: list[Row]) -> None:
        if router:
            self._rows += rows
        else:
            times = self._times
            for pid, _, trt in rows:
                times[pid] = trt

    def answer(self) -> Means:
        times = self._times
        deltas = [trt - times[pid] for pid, _, trt in self._rows if pid in times]
        return {minute_of(self._rows[0]): sum(deltas) / len(deltas)}

    def start(self, first: Sequence[list[Row]]) -> None:
        self._times, self._rows = {}, []
        for router, rows in enumerate(first):
            self.arrive(router, rows)


class JoinedBeforeCut:
    """A symmetric hash join: each row meets those of the other router when it arrives."""

    def __init__(self) -> None:
        self._clear(0)

    received = staticmethod(received)

    def arrive(self, router: int, rows: list[Row]) -> None:
        own, other = self._times[router], self._times[1 - router]
        sign = 1 if router else -1
        total, count = 0.0, 0
        for pid, _, trt in rows:
            own[pid] = trt
            if pid in other:
                total += sign * (trt - other[pid])
                count += 1
        self._total += total
        self._count += count

    def answer(self) -> Means:
        return {self._minute: self._total / self._count}

    def start(self, first: Sequence[list[Row]]) -> None:
        self._clear(minute_of(first[0][0]))
        for router, rows in enumerate(first):
            self.arrive(router, rows)

    def _clear(self, minute: int) -> None:
        self._minute = minute
        self._times: tuple[dict[int, float], dict[int, float]] = ({}, {})
        self._total, self._count = 0.0, 0
