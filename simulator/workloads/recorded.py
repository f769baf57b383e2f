"""Arrivals that are known beforehand: written down for a figure, or read from a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from upstream import Key

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
