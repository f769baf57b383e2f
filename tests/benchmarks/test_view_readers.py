"""Inserts beside readers, and readers beside inserts: views, full evaluation and chDB.

As in the views paper, one thread inserts calls of the AIM workload and another asks for its six
queries at random, and the wall clock is measured. What a question costs without inserts is measured
in processor time. `AIM_CUSTOMERS` and `TPCH_SCALE` set the size as in
`test_view_peers.py`, and `READ_SECONDS` for how long rows are inserted at a rate.
"""

from __future__ import annotations

import os
from functools import partial
from statistics import median
from time import perf_counter

import pytest

from tests.benchmarks import aim, chdb_views
from tests.benchmarks.chdb_views import StateViews
from tests.benchmarks.measure import Table
from tests.benchmarks.readers import Reader, Seen, inserting, p99
from tests.benchmarks.test_view_peers import (
    BATCH,
    CUSTOMERS,
    FULL,
    STATES,
    VIEW,
    assert_same_answers,
)
from tests.benchmarks.tpch_rows import batches_of
from tests.benchmarks.view_systems import Deferred, System, Views, seconds

pytestmark = pytest.mark.benchmark

READ_SECONDS = float(os.environ.get("READ_SECONDS", "2"))
NAMES = tuple(aim.QUERIES)
ASKS = 51
STALE = "view, 1 s old"


class WallClock:
    """The wall clock, which can be put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        return perf_counter() + self.ahead


def filled(made: dict[str, System], calls: int = CUSTOMERS) -> dict[str, System]:
    """Return these systems, and chDB if it is installed, with so many calls."""
    if chdb_views.is_installed():
        made[STATES] = StateViews(aim.setting(CUSTOMERS), chdb_views.AIM)
    for batch in batches_of(aim.calls(CUSTOMERS, calls), 10 * BATCH):
        for system in made.values():
            system.insert(batch)
    assert_same_answers(made, NAMES)
    return made


def print_asks(table: Table, what: str, seen: Seen) -> None:
    """Print how often was asked, and how long it took."""
    table.row(f"{what}: asked, 1/s", seen.asks_per_second, None, "")
    table.row(f"{what}: an answer, median", median(seen.asks) * 1e3, None, "ms")
    table.row(f"{what}: an answer, 99 %", p99(seen.asks) * 1e3, None, "ms")


def test_questions_without_inserts() -> None:
    setting = aim.setting(CUSTOMERS)
    made = filled({VIEW: Views(setting), FULL: Deferred(setting)}, calls=BATCH)
    table = Table(f"asked by SQL after {BATCH:,} calls, {CUSTOMERS:,} customers")
    for name in NAMES:
        for key, system in made.items():
            reader = system.reader()
            took = median(seconds(system, partial(reader, name)) for _ in range(ASKS))
            table.row(f"{name}, {key}: 1/s", 1 / took, None, "")
    for system in made.values():
        system.close()


def test_inserts_with_and_without_readers() -> None:
    batches = batches_of(aim.calls(CUSTOMERS, CUSTOMERS, seed=9), BATCH)
    table = Table(f"six queries, {CUSTOMERS:,} customers and calls, batches of {BATCH:,}")
    setting = aim.setting(CUSTOMERS)
    made = filled({VIEW: Views(setting), FULL: Deferred(setting)})
    for key, system in made.items():
        readers = {
            "": None,
            ", asked 10 times/s": Reader(system, NAMES, 0.1),
            ", asked without pause": Reader(system, NAMES),
        }
        for what, reader in readers.items():
            seen = inserting(system, batches, names=NAMES, reader=reader)
            table.row(f"{key}{what}: million rows/s", seen.rows_per_second / 1e6, None, "")
            if seen.asks:
                print_asks(table, f"{key}{what}", seen)
    assert_same_answers(made, NAMES)
    for system in made.values():
        system.close()


@pytest.mark.parametrize("pause", [0.01, 0.1])
@pytest.mark.parametrize("rate", [10_000, 50_000])
def test_readers_beside_inserts(rate: int, pause: float) -> None:
    size = int(rate * pause)
    batches = batches_of(aim.calls(CUSTOMERS, int(rate * READ_SECONDS), seed=8), size)
    table = Table(f"{rate:,} inserts/s in batches of {size:,}, {CUSTOMERS:,} customers")
    setting, clock = aim.setting(CUSTOMERS), WallClock()
    stale = Views(setting, options="WITH (max_staleness = INTERVAL '1 second')", clock=clock)
    made = filled({VIEW: Views(setting), STALE: stale, FULL: Deferred(setting)})
    for key, system in made.items():
        reader = Reader(system, NAMES)
        seen = inserting(system, batches, names=NAMES, period=pause, reader=reader)
        table.row(f"{key}: inserted, 1,000 rows/s", seen.rows_per_second / 1e3, None, "")
        table.row(f"{key}: an insert, 99 %", p99(seen.puts) * 1e3, None, "ms")
        print_asks(table, key, seen)
        table.row(f"{key}: processors used", seen.cores, None, "")
    clock.ahead += 1.0
    assert_same_answers(made, NAMES)
    for system in made.values():
        system.close()
