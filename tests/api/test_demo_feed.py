"""The demo: prices from a seed, and four equally slow consumers under different policies."""

from __future__ import annotations

import asyncio
import heapq
import json
from collections import Counter
from itertools import count, pairwise

import pytest

from api.demo_feed import (
    LONGEST_CATCH_UP_SECONDS,
    QUEUES,
    SECONDS_PER_UPDATE,
    STREAM,
    SYMBOLS,
    UPDATES_PER_SECOND,
    DemoFeed,
    Prices,
    SlowConsumer,
    demo_queue,
)
from api.entries import QueueEntry
from tests.api.push.setting import make_service
from upstream import ManualClock, QueueStatistics


def test_the_same_seed_gives_the_same_prices() -> None:
    assert Prices(seed=1).during(0.1) == Prices(seed=1).during(0.1)
    assert Prices(seed=1).during(0.1) != Prices(seed=2).during(0.1)


def test_about_a_thousand_updates_come_in_a_second() -> None:
    keys, values = Prices().during(10.0)
    assert len(keys) == len(values)
    assert len(keys) == pytest.approx(10 * UPDATES_PER_SECOND, rel=0.05)


def test_in_no_time_nothing_comes() -> None:
    assert Prices().during(0.0) == ([], [])


def test_symbols_are_updated_as_zipf_says() -> None:
    prices = Prices()
    counts = Counter(prices.during(100.0)[0])
    first, second, tenth = (counts[prices.symbols[rank - 1]] for rank in (1, 2, 10))
    assert first / second == pytest.approx(2.0, rel=0.1)
    assert first / tenth == pytest.approx(10.0, rel=0.15)
    assert set(counts) == set(prices.symbols)


def test_symbols_differ() -> None:
    assert len(set(Prices().symbols)) == SYMBOLS


def test_values_are_json_and_a_price_moves_in_small_steps() -> None:
    prices = Prices(symbols=1)
    _, values = prices.during(0.5)
    decoded = [json.loads(value) for value in values]
    assert all(row["size"] % 100 == 0 for row in decoded)
    walk = [row["price"] for row in decoded]
    assert len(set(walk)) > 1
    assert all(abs(after / before - 1) < 0.005 for before, after in pairwise(walk))


class Demo:
    """A demo on a clock that advances to the task that wakes up next, each `late` seconds."""

    def __init__(self, *, late: float = 0.0) -> None:
        self.clock = ManualClock(1_000.0)
        self.service = make_service(self.clock)
        self.late = late
        self.sleeping: list[tuple[float, int, asyncio.Future[None]]] = []
        self.pauses = count()
        self.feed = DemoFeed(self.service, pause=self.pause)

    async def pause(self, seconds: float) -> None:
        wakes_up = asyncio.get_running_loop().create_future()
        due = self.clock.now() + seconds + self.late
        heapq.heappush(self.sleeping, (due, next(self.pauses), wakes_up))
        await wakes_up

    async def step(self) -> None:
        """Let all tasks go on until they sleep, and then wake up the first."""
        for _ in range(5):
            await asyncio.sleep(0)
        if self.sleeping:
            due, _, wakes_up = heapq.heappop(self.sleeping)
            self.clock.set(due)
            wakes_up.set_result(None)

    def run(self, seconds: float) -> None:
        async def run() -> None:
            running = asyncio.create_task(self.feed.run())
            until = self.clock.now() + seconds
            while self.clock.now() < until:
                assert not running.done()
                await self.step()
            running.cancel()
            await asyncio.wait([running])

        asyncio.run(run())


def counts_of(queue: QueueEntry) -> QueueStatistics:
    counts = queue.source.statistics()
    assert isinstance(counts, QueueStatistics)
    return counts


def test_the_demo_has_one_stream_and_four_queues_that_differ_in_policy_only() -> None:
    demo = Demo()
    demo.run(0.1)
    queues = demo.service.queues
    assert list(queues) == list(QUEUES)
    policies = [
        entry.definition.scheduler if entry.definition.kind == "update" else entry.definition.kind
        for entry in queues.values()
    ]
    assert policies == ["append", "fifo", "in-place", "index"]
    assert {entry.stream.name for entry in queues.values()} == {STREAM}


def test_all_consumers_get_the_same_share_of_the_feed() -> None:
    demo = Demo()
    demo.run(2.0)
    append, *conflating = [counts_of(entry) for entry in demo.service.queues.values()]
    assert append.superseded == 0
    assert all(counts.superseded > counts.arrived / 4 for counts in conflating)
    for counts in (append, *conflating):
        assert counts.is_balanced
        assert counts.arrived == append.arrived
        assert counts.delivered == append.delivered
    assert append.arrived == pytest.approx(2 * UPDATES_PER_SECOND, rel=0.1)
    assert append.delivered == pytest.approx(2 / SECONDS_PER_UPDATE, rel=0.02)


def test_only_the_append_queue_falls_behind_and_its_memory_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(QUEUES, "demo-append", {"kind": "append", "capacity": 5_000})
    demo = Demo()
    demo.run(8.0)
    behind = {name: entry.queue.queue_staleness() for name, entry in demo.service.queues.items()}
    assert behind["demo-append"] > 10 * behind["demo-index"]
    assert behind["demo-fifo"] > 1.5 * behind["demo-index"]
    counts = counts_of(demo.service.queues["demo-append"])
    assert counts.waiting == pytest.approx(5_000, abs=10)
    assert counts.rejected > 0
    assert counts.is_balanced


def test_the_queues_know_the_cost_of_their_consumers() -> None:
    demo = Demo(late=0.1)
    demo.run(2.0)
    costs = {entry.source.processing_cost for entry in demo.service.queues.values()}
    assert costs == {SECONDS_PER_UPDATE}


def test_a_delayed_feed_skips_the_updates_it_missed() -> None:
    demo = Demo(late=10.0)
    demo.run(100.0)
    arrived = demo.service.streams[STREAM].stream.statistics().arrived
    batches = arrived / (UPDATES_PER_SECOND * LONGEST_CATCH_UP_SECONDS)
    assert batches == pytest.approx(9, rel=0.2)  # one each time it came, not a hundred seconds


def test_delayed_consumers_catch_up_a_little() -> None:
    usual, late, later = Demo(), Demo(late=0.1), Demo(late=10.0)
    delivered = []
    for demo in (usual, late, later):
        demo.run(20.0)
        delivered.append(counts_of(demo.service.queues["demo-index"]).delivered)
    assert delivered[1] == pytest.approx(delivered[0], rel=0.03)
    assert delivered[2] < delivered[0] / 10


def test_a_dropped_queue_does_not_stop_the_others() -> None:
    demo = Demo()
    service = demo.service
    stop, _ = service.define_queue("demo-index", demo_queue("demo-index"))
    other, _ = service.define_queue("demo-fifo", demo_queue("demo-fifo"))
    readers = [SlowConsumer(stop), SlowConsumer(other)]
    stop.stream.take_in(["IBM", "GM"], [b"1", b"2"])
    for reader in readers:
        reader.step()
    service.drop_queue("demo-index")
    for reader in readers:
        reader.step()
    assert counts_of(other).delivered == 1
    assert counts_of(other).dequeued == 2


async def test_the_demo_ends_when_its_stream_is_dropped() -> None:
    demo = Demo()

    running = asyncio.create_task(demo.feed.run())
    while STREAM not in demo.service.streams:
        await asyncio.sleep(0)
    demo.service.drop_stream(STREAM)
    while not running.done():
        await demo.step()
    await running
    assert demo.clock.now() < 1_001.0
    assert demo.service.queues == {}


def test_queues_of_that_name_that_are_there_already_are_used() -> None:
    demo = Demo()
    demo.service.define_queue("demo-fifo", demo_queue("demo-fifo"))
    demo.run(0.1)
    assert set(demo.service.queues) == set(QUEUES)
