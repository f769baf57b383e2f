"""The runs of Figures 16 and 17: on-demand paging and naive memory, on the same arrivals.

The report (section 7.3): 100 keys, Zipf theta 0 to 0.9; 20 to 1000 tuples per second arrive and 10
are processed, so the load is 2 to 100; each run lasts until there are 1000 results. It measures the
*average usage*, the space held, and the *average effective usage*, the share of it that is not
dirty. Naive memory keeps the location of a key that was dequeued. All four figures show columns of
the same runs, so a process measures each run once.

The report does not say the following. The list has the choices, and what depends on them:

* *Which loads are averaged* in Figure 16: 2, 5, 10, 20, 50 and 100, once each. The highest three
  are nearly alike, so more of those would hide more of the skew; least and most are drawn, too.
* *The page size, and the tuple's.* Usage is counted in tuples, so that the tuple's size does not
  matter. The report's 1 must refer to locations, because a page in use may have room left. So usage
  is also counted in whole pages, of 4, 16 and 64 tuples (4 KiB if a tuple has 64 bytes).
* *Whether naive memory has all its room from the start*, to which the report compares it. Here a
  key has no room before its first update. Room for all keys from the start is shown as
  `preallocated`. It is computed and needs no run, because the same updates wait.
* *How tuples are spaced*: evenly, with the key of each drawn by its share. Memoryless arrivals
  change the usage by less than 3 of 100 tuples, which the tests check. *The scheduler*: IN-PLACE.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from upstream import (
    InPlaceScheduler,
    Memory,
    MemoryUsage,
    NaiveMemory,
    OnDemandMemory,
    PagePool,
    UpdateQueue,
    ValueNotEncodableError,
)

from ..model.simulation import Simulation
from ..workloads.key_rates import zipf
from ..workloads.sources import FixedInterval, Poisson
from .experiment import Point, Row, Scale, Table

KEYS: Final = 100
THETAS: Final = (0.0, 0.3, 0.6, 0.9)
LOADS: Final = (2, 5, 10, 20, 50, 100)
QUICK_LOADS: Final = (2, 5, 20)
TUPLES_PER_PAGE: Final = (4, 16, 64)
TUPLE_BYTES: Final = 64
NUMBER_BYTES: Final = 8
LARGEST_NUMBER: Final = 2 ** (8 * NUMBER_BYTES) - 1

MEMORIES: Final[dict[str, Callable[[PagePool], Memory]]] = {
    "on-demand": OnDemandMemory,
    "naive": NaiveMemory,
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One of the two measures: its columns, by tuples and by whole pages, and its name."""

    column: str
    page_column: str
    label: str


EFFECTIVE_USAGE: Final = Metric(
    "effective_usage", "effective_page_usage", "average effective usage"
)
USAGE: Final = Metric("usage", "page_usage", "average usage, in tuples")


class NumberCodec:
    r"""Store integers from 0 to 2^64 - 1 in 8 bytes each.

    The library's codecs for numbers need an extra, which the simulator does without.

    >>> codec = NumberCodec()
    >>> codec.encode(258)
    b'\x02\x01\x00\x00\x00\x00\x00\x00'
    >>> codec.decode(codec.encode(258))
    258
    """

    __slots__ = ()

    def encode(self, value: object) -> bytes:
        """Return `value`, which must be such an integer and no boolean, as bytes."""
        if type(value) is not int or not 0 <= value <= LARGEST_NUMBER:
            raise ValueNotEncodableError(value, f"it is no integer from 0 to {LARGEST_NUMBER}")
        return value.to_bytes(NUMBER_BYTES, "little")

    def decode(self, data: bytes) -> int:
        """Return the integer that `data` was encoded from."""
        return int.from_bytes(data, "little")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRun:
    """One queue, which keeps its values in one memory."""

    memory: str
    theta: float
    load: float
    tuples_per_page: int
    results: int
    """The number of results that the run has time for."""
    seed: int = 1
    is_memoryless: bool = False

    def measure(self) -> MemoryUsage:
        """Run it and return the usage of its memory.

        >>> run = MemoryRun(memory="naive", theta=0.0, load=2, tuples_per_page=16, results=1_000)
        >>> run.measure().locations_held
        100
        """
        source = Poisson if self.is_memoryless else FixedInterval
        simulation = Simulation(source(zipf(KEYS, self.theta)), seed=self.seed, loop="plain")
        page_bytes = self.tuples_per_page * TUPLE_BYTES
        pool = PagePool(KEYS * page_bytes, page_bytes=page_bytes, location_bytes=TUPLE_BYTES)
        queue = UpdateQueue(
            InPlaceScheduler(),
            clock=simulation.clock,
            memory=MEMORIES[self.memory](pool),
            codec=NumberCodec(),
        )
        subscriber = simulation.add(self.memory, queue, cost=self.load)
        simulation.run(round(self.results * self.load))
        usage = simulation.measures(subscriber).memory
        assert usage is not None, "the values are in the memory"
        return usage


def points(scale: Scale) -> list[Point]:
    """Return every distribution, load and page size; fewer loads if quick."""
    return [
        {"theta": theta, "load": load, "tuples_per_page": tuples}
        for theta in THETAS
        for load in (QUICK_LOADS if scale.is_quick else LOADS)
        for tuples in TUPLES_PER_PAGE
    ]


def measure(point: Point, scale: Scale, *, metric: Metric) -> Table:
    """Measure a setting: a row for each memory, with the columns of one metric."""
    tuples = int(point["tuples_per_page"])
    usage = {
        memory: _usage(
            MemoryRun(
                memory=memory,
                theta=float(point["theta"]),
                load=float(point["load"]),
                tuples_per_page=tuples,
                results=scale.choose(full=1_000, quick=500),
                seed=scale.seed,
            )
        )
        for memory in MEMORIES
    }
    waiting = usage["on-demand"].average_usage_locations
    measured = [_row(memory, found, waiting) for memory, found in usage.items()]
    measured.append(_preallocated(waiting, tuples))
    columns = ("memory", metric.column, metric.page_column)
    return [{**point, **{name: row[name] for name in columns}} for row in measured]


@cache
def _usage(run: MemoryRun) -> MemoryUsage:
    return run.measure()


def _row(memory: str, usage: MemoryUsage, waiting: float) -> Row:
    """Return the measures of a memory, in tuples; `waiting` tuples waited on average."""
    pages = usage.average_page_usage_bytes / TUPLE_BYTES
    return {
        "memory": memory,
        "usage": usage.average_usage_locations,
        "page_usage": pages,
        "effective_usage": usage.average_effective_usage,
        "effective_page_usage": waiting / pages,
    }


def _preallocated(waiting: float, tuples: int) -> Row:
    pages = -(-KEYS // tuples) * tuples
    return {
        "memory": "preallocated",
        "usage": float(KEYS),
        "page_usage": float(pages),
        "effective_usage": waiting / KEYS,
        "effective_page_usage": waiting / pages,
    }
