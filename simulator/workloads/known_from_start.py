"""A workload in which each key arrives once at time 0, before anything else.

So every key counts for the same time, and a run can be measured after a warm-up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from upstream import Key

from .workload import Arrivals, Floats, Workload


class KnownFromStart:
    """Let each key of a workload arrive once at time 0, in order, and then the workload."""

    __slots__ = ("_workload",)

    def __init__(self, workload: Workload) -> None:
        self._workload = workload

    @property
    def keys(self) -> Sequence[Key]:
        """All keys that may arrive."""
        return self._workload.keys

    @property
    def rates(self) -> Floats:
        """The mean update rate of each key, without its first update."""
        return self._workload.rates

    @property
    def is_memoryless(self) -> bool:
        """Whether the arrivals after the first ones are."""
        return self._workload.is_memoryless

    def arrivals(self, random: np.random.Generator) -> Iterator[Arrivals]:
        """Tell one arrival of each key, then draw those of the workload."""
        keys = len(self.keys)
        yield Arrivals(np.zeros(keys), np.arange(keys))
        yield from self._workload.arrivals(random)
