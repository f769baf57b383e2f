"""A run of one policy: a workload, a queue of that policy, its servers, and the measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from upstream import SCHEDULERS, StreamQueue, make_queue
from upstream.events import EventSink

from ..errors import OptionError
from ..workloads.workload import KnownFromStart, Workload
from .event_log import noted_shedding
from .measures import Measures
from .simulation import Simulation
from .subscriber import Subscriber

_REFUSING: Final = ("append", *SCHEDULERS)
"""The policies that reject an update when the queue is full, and so may not know a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRun:
    """What to run. Times are in units of the mean time between two arrivals."""

    policy: str
    workload: Workload
    cost: float
    """The mean processing cost of an update; with one server it is the load."""
    updates: int
    seed: int = 1
    cost_distribution: str = "fixed"
    servers: int = 1
    is_informed: bool = False
    """Whether the queue is given the true rates and cost; otherwise it estimates them."""
    capacity: int | None = None
    warm_up: float = 0.0
    """The share of the updates that arrive before the measurement. If it is not 0, each key
    arrives once at time 0, on top of the updates."""
    loop: str = "plain"
    is_logged: bool = False

    def measure(
        self,
        on_progress: Callable[[float], None] | None = None,
        *,
        sink: EventSink | None = None,
    ) -> Measures:
        """Run it and return the measurements; `on_progress` is called with the share that is done.

        `sink` takes every event, if it is given.

        >>> from simulator.workloads.workload import uniform
        >>> from simulator.workloads.sources import FixedInterval
        >>> one_key = FixedInterval(uniform(1))
        >>> run = PolicyRun(policy="in-place", workload=one_key, cost=3.0, updates=3_000)
        >>> round(run.measure().queue.mean, 2)
        0.67
        """
        simulation, subscriber = self.set_up(sink)
        if on_progress is not None:
            simulation.on_sample = lambda now: on_progress(min(1.0, now / self.updates))
        if not self.warm_up:
            simulation.run(self.updates)
            return simulation.measures(subscriber)
        keys = len(self.workload.keys)
        before = int(self.warm_up * self.updates)
        simulation.run(keys + before)
        mark = simulation.mark(subscriber)
        simulation.run(self.updates - before)
        return simulation.measures(subscriber, since=mark)

    def set_up(self, sink: EventSink | None = None) -> tuple[Simulation, Subscriber]:
        """Return the simulation, not yet run, and its only subscriber."""
        self._check_warm_up()
        workload = KnownFromStart(self.workload) if self.warm_up else self.workload
        simulation = Simulation(workload, seed=self.seed, loop=self.loop)
        queue = self._queue(simulation)
        if sink is not None and self.policy == "append-shedding":
            queue, sink = noted_shedding(
                simulation.clock, sink, capacity=self.capacity, seed=self.seed
            )
        subscriber = simulation.add(
            self.policy,
            queue,
            cost=self.cost,
            cost_distribution=self.cost_distribution,
            servers=self.servers,
            is_logged=self.is_logged,
            sink=sink,
        )
        return simulation, subscriber

    def _queue(self, simulation: Simulation) -> StreamQueue:
        return make_queue(
            self.policy,
            clock=simulation.clock,
            capacity=self.capacity,
            rates=simulation.rates if self.is_informed else None,
            processing_cost=self.cost if self.is_informed else None,
            seed=self.seed,
        )

    def _check_warm_up(self) -> None:
        """Raise OptionError if nothing can be measured after the warm-up."""
        if not 0 <= self.warm_up < 1:
            raise OptionError("warm-up", self.warm_up, "a share of the updates, below 1")
        keys = len(self.workload.keys)
        if self.warm_up and self.policy in _REFUSING and (self.capacity or keys) < keys:
            expected = (
                f"at least {keys}, because with a warm-up each of the {keys} keys arrives at time 0"
            )
            raise OptionError("capacity", self.capacity, expected)
