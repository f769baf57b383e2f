"""What a slide costs, system by system, side by side: the same rows, and the same results.

Processor time of the whole process, so that no thread hides work and no neighbour on the machine
adds any. The wall time is beside it, for machines with idle cores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import Protocol

import numpy as np
import pyarrow as pa

from tests.benchmarks.paper_queries import Feed, Query, Rows
from upstream import Engine


class System(Protocol):
    """Something that answers a query over a window that slides."""

    def fill(self, rows: Rows) -> None: ...
    def slide(self, rows: Rows) -> pa.Table: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Race:
    """Seconds of each system in each round."""

    processor: dict[str, list[float]]
    wall: dict[str, list[float]]

    def milliseconds(self, name: str) -> float:
        """Return the median of a system's processor time."""
        return 1_000 * median(self.processor[name])

    def ratio(self, name: str, to: str) -> float:
        """Return the median, over rounds, of one system's processor time by another's."""
        pairs = zip(self.processor[name], self.processor[to], strict=True)
        return median(one / other for one, other in pairs)

    def total_ratio(self, name: str, to: str) -> float:
        """Return the processor time of all rounds of one system by that of another."""
        return sum(self.processor[name]) / sum(self.processor[to])

    def wall_ratio(self, name: str, to: str) -> float:
        pairs = zip(self.wall[name], self.wall[to], strict=True)
        return median(one / other for one, other in pairs)

    def faster(self, *names: str) -> str:
        """Return which of these systems took less time."""
        return min(names, key=self.milliseconds)


class Incremental:
    """The engine with one standing query."""

    __slots__ = ("engine", "names", "query")

    def __init__(self, query: Query, *, over: str | None = None) -> None:
        self.engine = Engine()
        for definition in query.definitions():
            self.engine.sql(definition)
        self.names = [definition.split()[2] for definition in query.definitions()]
        self.query = self.engine.continuous_query(over or query.over_windows)

    def fill(self, rows: Rows, *, at_once: int = 1 << 20) -> None:
        for start in range(0, len(rows[0]), at_once):
            for name, table in zip(self.names, rows, strict=True):
                self.engine.append(name, table.slice(start, at_once))
            for result in self.query.results():
                assert result.error is None, result.error

    def slide(self, rows: Rows) -> pa.Table:
        self.append(rows)
        [result] = self.query.results()
        return result.table

    def append(self, rows: Rows) -> None:
        for name, table in zip(self.names, rows, strict=True):
            self.engine.append(name, table)

    def close(self) -> None:
        self.engine.close()


@contextmanager
def running(systems: Mapping[str, System]) -> Iterator[Mapping[str, System]]:
    try:
        yield systems
    finally:
        for system in systems.values():
            system.close()


def race(
    query: Query,
    systems: Mapping[str, System],
    *,
    rounds: int = 9,
    slides: int = 1,
    warm_up: int = 2,
    alone: tuple[str, ...] = (),
) -> Race:
    """Let the systems slide in turn; all but those that are `alone` must agree on each result."""
    feed = Feed(query, query.window + (warm_up + rounds) * slides * query.step)
    with running(systems):
        first = feed.take(query.window)
        for system in systems.values():
            system.fill(first)
        found = Race({name: [] for name in systems}, {name: [] for name in systems})
        for number in range(warm_up + rounds):
            batches = [feed.take(query.step) for _ in range(slides)]
            results = {}
            for name, system in systems.items():
                results[name], processor, wall = timed_slides(system, batches)
                if number >= warm_up:
                    found.processor[name].append(processor / slides)
                    found.wall[name].append(wall / slides)
            assert_equal([results[name] for name in systems if name not in alone])
    return found


def timed_slides(system: System, batches: list[Rows]) -> tuple[list[pa.Table], float, float]:
    """Return the results of some slides and the seconds they took: the processor's, the wall's."""
    wall, processor = perf_counter(), process_time()
    results = [system.slide(rows) for rows in batches]
    return results, process_time() - processor, perf_counter() - wall


def assert_equal(results: list[list[pa.Table]]) -> None:
    """Assert that systems found the same rows, in whichever order."""
    first, *others = results
    for other in others:
        assert len(first) == len(other)
        for one, two in zip(first, other, strict=True):
            np.testing.assert_allclose(plain(one), plain(two), rtol=1e-9)


def plain(table: pa.Table) -> np.ndarray:
    """Return a result's rows as numbers, sorted; the sums here are small enough for that."""
    columns = [column.cast(pa.float64()).to_numpy() for column in table.columns]
    order = np.lexsort(columns[::-1])
    return np.stack([column[order] for column in columns])
