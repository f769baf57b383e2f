"""Reports of few keys are always new; those of many keys are made in parts, and rarely."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from api import queue_reports
from api.queue_reports import QueueReports
from upstream import ClosedError, InPlaceScheduler, ManualClock, UpdateQueue

KEYS = 3_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def queue(clock: ManualClock) -> Iterator[UpdateQueue]:
    queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    yield queue
    if not queue.is_closed:
        queue.close()


def fill(queue: UpdateQueue, keys: int = KEYS) -> None:
    queue.enqueue_many([f"K{number}" for number in range(keys)], [0] * keys)


def test_a_report_of_few_keys_is_new_every_time(queue: UpdateQueue, clock: ManualClock) -> None:
    reports = QueueReports(queue)
    fill(queue, 10)
    for seconds in (2.0, 4.0):
        clock.advance(4.0)
        report = reports.latest()
        assert report is not None
        assert report["queue_staleness"] == seconds


def test_a_report_of_many_keys_is_the_same_as_one_made_at_once(
    queue: UpdateQueue, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(queue)
    queue.dequeue_many(KEYS // 2)
    clock.advance(3.0)
    in_parts = asyncio.run(QueueReports(queue).get())
    monkeypatch.setattr(queue_reports, "FEW_KEYS", KEYS)
    assert QueueReports(queue).latest() == in_parts
    assert in_parts["rates"] == {"arrival": 0.0, "keys": KEYS}


async def test_other_tasks_run_while_a_report_is_made(queue: UpdateQueue) -> None:
    fill(queue)
    making = asyncio.create_task(QueueReports(queue).get())
    turns = 0
    while not making.done():
        queue.enqueue("K1", turns)  # and may use the queue
        await asyncio.sleep(0)
        turns += 1
    await making
    assert turns >= KEYS / queue_reports.ROWS_AT_ONCE


async def test_without_waiting_the_last_report_is_returned(queue: UpdateQueue) -> None:
    fill(queue)
    reports = QueueReports(queue)
    assert reports.latest() is None
    first = await reports.get()
    assert reports.latest() is first
    reports.close()


async def test_the_next_report_is_due_after_ten_times_as_long_as_the_last_one_took(
    queue: UpdateQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = ManualClock(100.0)
    monkeypatch.setattr("api.queue_reports.time.monotonic", now.now)
    fill(queue)
    reports = QueueReports(queue)
    making = asyncio.create_task(reports.get())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    now.advance(2.0)  # which the report takes
    first = await making
    now.advance(17.0)
    assert await reports.get() is first
    now.advance(1.0)
    reports.latest()
    assert reports._making is not None
    second = await reports._making
    assert second is not first
    reports.close()


@pytest.mark.parametrize("closed", ["queue", "reports"])
async def test_a_queue_that_is_deleted_during_its_report_is_an_error(
    queue: UpdateQueue, closed: str
) -> None:
    fill(queue)
    reports = QueueReports(queue)
    making = asyncio.create_task(reports.get())
    await asyncio.sleep(0)
    (queue if closed == "queue" else reports).close()
    with pytest.raises(ClosedError):
        await making
