"""Runs of queues of windows under one workload, for Figures 13a, 13b and 14."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from upstream import (
    AppendWindowQueue,
    Clock,
    EagerWindowBuffer,
    InPlaceScheduler,
    LazyWindowBuffer,
    RandomWindowShedding,
    WindowBuffer,
    WindowedQueue,
    WindowQueue,
    WindowQueueStatistics,
    WindowSpecification,
)

from ..model.measures import Measures
from ..model.simulation import Simulation
from ..workloads.sources import RoundRobin
from ..workloads.workload import Workload, uniform

BUFFERS: Final[dict[str, type[WindowBuffer]]] = {
    "lazy": LazyWindowBuffer,
    "eager": EagerWindowBuffer,
}
"""The window buffers by the name of their semantics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRun:
    """What to run, on any queue of windows."""

    workload: Workload
    specification: WindowSpecification
    cost: float
    """What a tuple costs in each window that it updates: C_t."""
    updates: int
    seed: int = 1

    def update(self, semantics: str, *, has_key_times: bool = False) -> Measures:
        """Run LAZY or EAGER, with IN-PLACE if there are several keys.

        >>> tumbling = WindowSpecification(size=10, slide=10, tick=1)
        >>> run = WindowRun(workload=one_key(), specification=tumbling, cost=1.0, updates=1_000)
        >>> [round(run.update(semantics).application.mean, 2) for semantics in ("lazy", "eager")]
        [4.95, 0.05]
        """
        windows, buffer = self.specification, BUFFERS[semantics]
        return self._measure(
            lambda clock: WindowQueue(windows, buffer, InPlaceScheduler(), clock=clock),
            has_key_times=has_key_times,
        )

    def append(self, shedding: RandomWindowShedding | None = None) -> Measures:
        """Run append windowing, which processes every window that is not shed."""
        return self._measure(
            lambda clock: AppendWindowQueue(self.specification, clock=clock, shedding=shedding)
        )

    def _measure(
        self, queue_on: Callable[[Clock], WindowedQueue[Any]], *, has_key_times: bool = False
    ) -> Measures:
        simulation = Simulation(
            self.workload, seed=self.seed, loop="plain", has_key_times=has_key_times
        )
        subscriber = simulation.add_windows("windows", queue_on(simulation.clock), cost=self.cost)
        simulation.run(self.updates)
        return simulation.measures(subscriber)


def one_key() -> Workload:
    """Return one key that has a tuple at each of the ticks 0, 1, 2, and so on."""
    return RoundRobin(uniform(1))


def dropped_share(measured: Measures) -> float:
    """Return the share of superseded windows among those that were superseded or committed."""
    statistics = measured.statistics
    assert isinstance(statistics, WindowQueueStatistics), "a queue of updates"
    windows = statistics.windows
    return windows.superseded / max(1, windows.superseded + windows.committed)
