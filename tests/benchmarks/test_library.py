"""The library's rows of the budget table: time per update as ratios to the bare queue."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.benchmarks.bare import BareQueue
from tests.benchmarks.measure import (
    KEYS,
    UPDATES,
    UPDATES_PER_DEQUEUE,
    Drive,
    Driver,
    Table,
    ratios,
    timed,
    zipf_keys,
)
from upstream import (
    BytesCodec,
    InPlaceScheduler,
    OnDemandMemory,
    PagePool,
    UpdateQueue,
    make_queue,
)

pytestmark = pytest.mark.benchmark

BATCH = 1_000
COLUMN = 100_000


def bare_drive(keys: list[str], values: list[object]) -> Drive:
    driver = Driver()

    def drive() -> float:
        queue = BareQueue()
        return driver.seconds(queue.enqueue, queue.dequeue, keys, values)

    return drive


def test_enqueue_one_by_one() -> None:
    keys = zipf_keys()
    prices: list[object] = [float(row) for row in range(UPDATES)]
    quotes: list[object] = [b"%08d" % row for row in range(UPDATES)]

    def library(policy: str) -> Drive:
        driver = Driver()

        def drive() -> float:
            queue = make_queue(policy)
            seconds = driver.seconds(queue.enqueue, queue.dequeue, keys, prices)
            assert queue.statistics().arrived == UPDATES + len(set(keys))
            return seconds

        return drive

    pool_driver, delivery_driver = Driver(), Driver()

    def pooled() -> float:
        memory = OnDemandMemory(PagePool(KEYS * 64, location_bytes=16))
        queue = UpdateQueue(InPlaceScheduler(), memory=memory, codec=BytesCodec())
        seconds = pool_driver.seconds(queue.enqueue, queue.dequeue, keys, quotes)
        assert queue.statistics().rejected == 0
        return seconds

    def delivering() -> float:
        queue = UpdateQueue(InPlaceScheduler())

        def serve() -> object:
            update = queue.dequeue()
            if update is not None:
                queue.deliver(update)
            return update

        return delivery_driver.seconds(queue.enqueue, serve, keys, prices)

    policies = ("in-place", "fifo", "linecutting", "index")
    measured = ratios(
        {"bare": bare_drive(keys, prices), "pool": pooled, "deliver": delivering}
        | {policy: library(policy) for policy in policies},
        to="bare",
    )
    table = Table("enqueue with a tenth of a dequeue, per update, by bare")
    table.row("UpdateQueue.enqueue, in place", measured["in-place"], 2.5)
    table.row("UpdateQueue.enqueue, in place, byte pool", measured["pool"], 4.0)
    table.row("the same without pool, each dequeue delivered", measured["deliver"], None)
    for policy in policies[1:]:
        table.row(f"UpdateQueue.enqueue, {policy}", measured[policy], None)
    table.assert_met()


def test_enqueue_many_from_lists() -> None:
    keys = zipf_keys()
    prices: list[object] = [float(row) for row in range(UPDATES)]
    batches = [
        (keys[row : row + BATCH], prices[row : row + BATCH]) for row in range(0, UPDATES, BATCH)
    ]

    def library(policy: str) -> Drive:
        def drive() -> float:
            queue = make_queue(policy)
            for key in dict.fromkeys(keys):
                queue.enqueue(key, 0.0, -1.0)
            seconds = 0.0
            for number, (names, values) in enumerate(batches):
                times = [float(number)] * BATCH
                seconds += timed(lambda: queue.enqueue_many(names, values, times))  # noqa: B023
                queue.deliver_many(queue.dequeue_many(BATCH // UPDATES_PER_DEQUEUE))
            counters = queue.statistics()
            assert counters.arrived == UPDATES + len(set(keys))
            assert counters.dequeued == UPDATES // UPDATES_PER_DEQUEUE
            return seconds

        return drive

    measured = ratios(
        {
            "bare": bare_drive(keys, prices),
            "in-place": library("in-place"),
            "index": library("index"),
        },
        to="bare",
    )
    table = Table("enqueue_many of 1,000 from Python lists, per update, by bare")
    table.row("enqueue_many, in place", measured["in-place"], 0.7)
    table.row("enqueue_many, index", measured["index"], None)
    table.assert_met()


def test_enqueue_many_from_arrow() -> None:
    keys = zipf_keys(updates=COLUMN)
    prices = np.arange(COLUMN, dtype=np.float64)
    codes = pa.array(keys).dictionary_encode()
    values = pa.array(prices)
    in_order = np.arange(COLUMN) / 1_000
    random = np.random.default_rng(620)
    moved = random.choice(COLUMN, COLUMN // 20, replace=False)
    delayed = in_order.copy()
    delayed[moved] -= random.exponential(1.0, len(moved))
    permuted = in_order.copy()
    permuted[moved] = in_order[random.permutation(moved)]

    def library(times: np.ndarray[tuple[int], np.dtype[np.float64]], late: bool) -> Drive:
        column = pa.array(times)

        def drive() -> float:
            queue = UpdateQueue(InPlaceScheduler())
            queue.enqueue_many(codes, values, pa.array(np.full(COLUMN, -1e9)))
            seconds = timed(lambda: queue.enqueue_many(codes, values, column))
            counters = queue.statistics()
            assert counters.arrived == 2 * COLUMN
            assert (counters.late > 0) == late
            return seconds

        return drive

    bare = bare_drive(keys, list(prices))
    measured = ratios(
        {
            "bare": bare,
            "in order": library(in_order, late=False),
            "delayed": library(delayed, late=True),
            "permuted": library(permuted, late=True),
        },
        to="bare",
        rounds=15,
    )
    table = Table("enqueue_many of 100,000 from Arrow, dictionary-encoded keys, by bare")
    table.row("in time order", measured["in order"], 0.2)
    table.row("5 % of the rows delayed", measured["delayed"], 0.5)
    table.row("the times of 5 % of the rows permuted", measured["permuted"], 0.5)
    table.assert_met()
