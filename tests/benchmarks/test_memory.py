"""A million keys that come and go: what is held afterwards, for each kind of queue and reader."""

from __future__ import annotations

import pytest

from api.service_state import resident_bytes
from tests.api.push.setting import define, make_service
from tests.api.test_released import KINDS, by_dequeue, by_push, come_and_go
from tests.benchmarks.measure import Table

pytestmark = pytest.mark.benchmark

KEYS = 1_000_000
WARM_UP = 50_000
MOST_GROWTH = 4.0
"""Megabytes: four bytes for each key that came and went."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_million_keys_that_come_and_go_take_no_memory(kind: str) -> None:
    table = Table(f"{KEYS:,} keys that came and went, {kind}")
    for way in (by_dequeue, by_push):
        queue = define(make_service(), **KINDS[kind])
        read = way(queue)
        come_and_go(queue, read, keys=WARM_UP)
        before = resident_bytes()
        come_and_go(queue, read, keys=KEYS, first=WARM_UP)
        assert queue.stream.stream.statistics().arrived == 3 * (KEYS + WARM_UP)
        assert len(queue.stream.stream) == len(queue.queue) == 0
        grown = (resident_bytes() - before) / 1e6
        table.row(f"{way.__name__}, megabytes more than before", grown, MOST_GROWTH, "MB")
    table.assert_met()
