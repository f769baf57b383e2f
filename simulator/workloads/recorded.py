"""Arrivals that are known beforehand: written down for a figure, or from a trace.

A generated trading day is such a trace; `upstream.workloads` has its formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from upstream import Key
from upstream.workloads.trading_day import (
    BUSIEST,
    CELLS,
    CLOSES,
    OPENS,
    SYMBOLS,
    busyness,
    made_up_symbols,
    updates_by_rank,
)

from ..errors import parameters_as_options
from .trace_file import TraceFile
from .workload import Arrivals, Floats, Integers


class Recorded:
    """Play back arrivals; `times` are used as they are: ascending, from 0 on or later.

    >>> Recorded(["IBM", "MSFT"], times=[0.0, 1.0, 2.0], codes=[0, 1, 0]).rates.round(3).tolist()
    [0.667, 0.333]
    """

    __slots__ = ("_codes", "_times", "keys", "rates")

    is_memoryless = False

    def __init__(
        self,
        keys: Sequence[Key],
        *,
        times: Sequence[float] | Floats,
        codes: Sequence[int] | Integers,
    ) -> None:
        self.keys = keys
        self._times = np.asarray(times, dtype=np.float64)
        self._codes = np.asarray(codes, dtype=np.int64)
        steps = np.diff(self._times, prepend=0.0)
        assert len(self._times) == len(self._codes) > 0, "no arrivals, or not a key for each"
        assert (steps >= 0).all(), "times that are no numbers, or are not ascending from 0 on"
        counts = np.bincount(self._codes, minlength=len(keys))
        assert len(counts) == len(keys), "an arrival of no key"
        elapsed = float(self._times[-1] - self._times[0])
        gap = elapsed / (len(self._times) - 1) if elapsed else 1.0
        self.rates: Floats = counts / len(self._codes) / gap

    def __len__(self) -> int:
        return len(self._times)

    def arrivals(self, random: np.random.Generator) -> Iterator[Arrivals]:
        """Return the arrivals all at once; nothing in them is random."""
        yield Arrivals(self._times, self._codes)


def replay(trace: TraceFile, *, updates: int | None = None) -> Recorded:
    """Return the arrivals of a trace from time 0 on, in units of its mean time between arrivals.

    Only the first `updates` of them, if that is given, and in units of their own mean time then.
    """
    if updates is not None:
        trace = trace.first(updates)
    return Recorded(
        trace.keys, times=(trace.times - trace.times[0]) / mean_gap(trace), codes=trace.codes
    )


def mean_gap(trace: TraceFile) -> float:
    """Return the mean time between two arrivals of a trace, in seconds."""
    return float(trace.times[-1] - trace.times[0]) / (len(trace.times) - 1)


def trading_day(
    shape: str = "power-law", *, seed: int = 1, symbols: int = SYMBOLS, busiest: int = BUSIEST
) -> TraceFile:
    """Return a generated day, with times in seconds since midnight.

    `replay` makes a workload of it, in units of the mean time between two arrivals. The symbols are
    made up, and in no order of rank.

    >>> day = trading_day(seed=1)
    >>> len(day.keys), len(day.times), bool(OPENS <= day.times[0] < day.times[-1] <= CLOSES)
    (3000, 31325, True)
    """
    random = np.random.default_rng(seed)
    with parameters_as_options():
        counts = updates_by_rank(shape, symbols=symbols, busiest=busiest)
    ranks = random.permutation(np.repeat(np.arange(symbols), counts))
    times = _times_of_day(len(ranks), random)
    order, codes = _numbered_by_appearance(ranks)
    names = made_up_symbols(symbols, random)
    for column in (times, codes):
        column.flags.writeable = False
    return TraceFile(f"generated day, {shape}", times, codes, tuple(names[rank] for rank in order))


def _times_of_day(updates: int, random: np.random.Generator) -> Floats:
    """Draw times by the intensity, in ascending order."""
    until = np.concatenate([[0.0], busyness().cumsum()])
    edges = np.linspace(OPENS, CLOSES, CELLS + 1)
    return np.interp(np.sort(random.random(updates)), until / until[-1], edges)


def _numbered_by_appearance(ranks: Integers) -> tuple[Integers, Integers]:
    """Return the ranks in the order in which they first appear, and each rank's place in it."""
    _, first, codes = np.unique(ranks, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return order, np.argsort(order)[codes]
