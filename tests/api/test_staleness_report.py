"""The staleness report agrees with the measures of the library."""

from __future__ import annotations

import random
from typing import Any

import pytest

from api.staleness_report import gather, staleness_report
from upstream import InPlaceScheduler, ManualClock, UpdateQueue, staleness_lower_bound


@pytest.fixture
def queue() -> UpdateQueue:
    """Return a queue that has been overloaded for a while."""
    clock = ManualClock()
    queue = UpdateQueue(InPlaceScheduler(), clock=clock, processing_cost=3.0)
    drawn = random.Random(5)
    for row in range(3_000):
        clock.advance(drawn.expovariate(1.0))
        queue.enqueue(f"K{int(200 * drawn.random() ** 3)}", row)
        if row % 3 == 0:
            update = queue.dequeue()
            assert update is not None
            queue.deliver(update)
    return queue


def report_of(queue: UpdateQueue, **sizes: int) -> Any:
    return staleness_report(gather(queue), **sizes)


def test_means_and_bounds_are_those_of_the_library(queue: UpdateQueue) -> None:
    report = report_of(queue)
    assert report["queue_staleness"] == queue.queue_staleness()
    assert report["application_staleness"] == queue.application_staleness()
    rates = [row.rate or 0.0 for row in queue.key_staleness()]
    assert report["lower_bound"] == staleness_lower_bound(rates, 3.0)
    assert report["ratio"] == pytest.approx(report["queue_staleness"] / report["lower_bound"])
    assert report["application_lower_bound"] == queue.lower_bound("application")
    assert report["rates"] == {"arrival": pytest.approx(1.0, rel=0.2), "keys": len(rates)}


def test_the_stalest_keys_come_first_and_are_the_stalest(queue: UpdateQueue) -> None:
    stalest = report_of(queue, stalest=5)["stalest_keys"]
    by_key = queue.staleness_by_key()
    expected = sorted(by_key.values(), reverse=True)[:5]
    assert [row["queue_staleness"] for row in stalest] == expected
    assert all(by_key[row["key"]] == row["queue_staleness"] for row in stalest)
    assert report_of(queue)["worst_key"] == stalest[0]["key"]
    assert report_of(queue, stalest=0)["stalest_keys"] == []


def test_ranks_go_from_the_busiest_key_to_the_quietest(queue: UpdateQueue) -> None:
    ranks = report_of(queue, ranks=10)["ranks"]
    assert ranks[0]["rank"] == 1
    assert ranks[-1]["rank"] == report_of(queue)["rates"]["keys"]
    assert len(ranks) <= 10
    rates = [row["rate"] or 0.0 for row in ranks]
    assert rates == sorted(rates, reverse=True)
    assert report_of(queue, ranks=0)["ranks"] == []


def test_percentiles_rise_to_the_stalest_key(queue: UpdateQueue) -> None:
    report = report_of(queue)
    percentiles = list(report["percentiles"].values())
    assert percentiles == sorted(percentiles)
    assert percentiles[-1] == report["stalest_keys"][0]["queue_staleness"]


def test_nothing_is_made_up_where_nothing_is_known() -> None:
    report = report_of(UpdateQueue(InPlaceScheduler(), clock=ManualClock()))
    for name in ("worst_key", "cost", "lower_bound", "ratio", "application_ratio"):
        assert report[name] is None
    assert report["percentiles"] == dict.fromkeys(("50", "90", "99", "100"))
