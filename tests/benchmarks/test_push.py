"""How new what slow readers get is, what they take, and what a fast one notices of them.

Measured on a machine that does nothing else. The fast reader gets 2,000 updates a second; what is
compared is the 99th percentile of how old an update is when it arrives. Two hundred readers also
take from the machine, though they have a process of their own, so the crowd is there all the time:
on the same service, or on another one, in turns. The other one has no feed, so readers of 50 kB/s
soon have nothing to do there. The same is a test with wide bounds in
`tests/api/push/test_slow_readers.py`.
"""

from __future__ import annotations

import asyncio
from statistics import median

import pytest

from tests.api.push.test_slow_readers import (
    CROWD,
    MOST_BYTES_EACH,
    SLOW,
    UPDATES_PER_SECOND,
    VERY_SLOW,
    ages_of,
    crowd,
    put_queue,
    resident_bytes,
)
from tests.benchmarks.measure import Table
from tests.server_process import RunningServer, running

pytestmark = pytest.mark.benchmark

HARDLY_ANYTHING = 100
KEYS = 1_000
ROUNDS = 9
SECONDS = 3.0
LEAST_UPDATES = 5_000
SHARE = 0.99


def test_what_a_slow_reader_gets_is_new() -> None:
    table = Table(f"A reader of {SLOW:,} bytes/s beside {UPDATES_PER_SECOND:,} updates/s, age")
    with running() as server:
        for keys, budget in ((50, 60.0), (KEYS, None)):
            put_queue(server, keys=keys)
            ages = asyncio.run(ages_of(server, keys=keys, seconds=10.0, bytes_per_second=SLOW))
            assert len(ages.seconds) > LEAST_UPDATES
            table.row(
                f"{keys:,} keys, median, milliseconds", 1e3 * ages.quantile(0.5), budget, "ms"
            )
            table.row(f"{keys:,} keys, p99, milliseconds", 1e3 * ages.quantile(SHARE), None, "ms")
    table.assert_met()


def test_what_a_slow_reader_takes() -> None:
    table = Table(f"Memory for each of {CROWD} readers of {VERY_SLOW:,} bytes/s, {KEYS:,} keys")
    taken = []
    for _ in range(3):
        with running() as server:
            put_queue(server, keys=KEYS)
            p99(server)
            before = resident_bytes(server.pid)
            with crowd(server, bytes_per_second=VERY_SLOW):
                p99(server)
                taken.append((resident_bytes(server.pid) - before) / CROWD)
    table.row("kilobytes each, at most", max(taken) / 1e3, MOST_BYTES_EACH / 1e3, "kB")
    table.assert_met()


def p99(server: RunningServer) -> float:
    """Return the age in milliseconds that 99 of 100 updates do not exceed at a fast reader."""
    ages = asyncio.run(ages_of(server, keys=KEYS, seconds=SECONDS))
    assert len(ages.seconds) > LEAST_UPDATES, "the fast reader did not get its updates"
    return 1e3 * ages.quantile(SHARE)


@pytest.mark.parametrize("bytes_per_second", [HARDLY_ANYTHING, VERY_SLOW, SLOW])
def test_a_fast_reader_beside_two_hundred_slow_ones(bytes_per_second: int) -> None:
    table = Table(f"A fast reader beside 200 of {bytes_per_second:,} bytes/s, age of updates, p99")
    apart: list[float] = []
    beside: list[float] = []
    with running() as server, running() as other:
        put_queue(server, keys=KEYS)
        put_queue(other, keys=KEYS)
        for _ in range(ROUNDS):
            for crowded, measured in ((other, apart), (server, beside)):
                with crowd(crowded, bytes_per_second=bytes_per_second):
                    p99(server)  # until both have what they begin with
                    measured.append(p99(server))
    table.row("  crowd on another service, milliseconds", median(apart), None, "ms")
    table.row("  crowd on the same service, milliseconds", median(beside), None, "ms")
    ratios = [one / another for one, another in zip(beside, apart, strict=True)]
    table.row("same / other", median(ratios), 1.1)
    table.assert_met()
