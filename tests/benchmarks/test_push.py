"""What a fast reader notices of two hundred slow ones, on a machine that does nothing else.

The fast reader gets 2,000 updates a second, without and with the crowd in turns, and what is
compared is the 99th percentile of how old an update is when it arrives. The crowd has a process of
its own. The same is a test with wide bounds in `tests/api/push/test_slow_readers.py`.
"""

from __future__ import annotations

import asyncio
from statistics import median

import pytest

from tests.api.push.test_slow_readers import SLOW, VERY_SLOW, ages_of, crowd, put_queue
from tests.benchmarks.measure import Table
from tests.server_process import RunningServer, running

pytestmark = pytest.mark.benchmark

KEYS = 1_000
ROUNDS = 7
SECONDS = 3.0
LEAST_UPDATES = 5_000
MOST = 1.1
SHARE = 0.99


def p99(server: RunningServer) -> float:
    """Return the age in milliseconds that 99 of 100 updates do not exceed at a fast reader."""
    ages = asyncio.run(ages_of(server, keys=KEYS, seconds=SECONDS))
    assert len(ages.seconds) > LEAST_UPDATES, "the fast reader did not get its updates"
    return 1e3 * ages.quantile(SHARE)


@pytest.mark.parametrize("bytes_per_second", [VERY_SLOW, SLOW])
def test_a_fast_reader_beside_two_hundred_slow_ones(bytes_per_second: int) -> None:
    table = Table(f"A fast reader beside 200 of {bytes_per_second:,} bytes/s, age of updates, p99")
    alone, beside = [], []
    with running() as server:
        put_queue(server, keys=KEYS)
        for _ in range(ROUNDS):
            p99(server)  # until a crowd has gone, and all that was its
            alone.append(p99(server))
            with crowd(server, bytes_per_second=bytes_per_second):
                p99(server)
                beside.append(p99(server))
    table.row("  alone, milliseconds", median(alone), None, "ms")
    table.row("  beside the crowd, milliseconds", median(beside), None, "ms")
    ratios = [one / other for one, other in zip(beside, alone, strict=True)]
    table.row("beside / alone", median(ratios), MOST)
    table.assert_met()
