"""Pace: a key that was served too lately is held back, and one that is barred for ever."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import pytest

from upstream.errors import AlreadyAttachedError, ParameterError, WeightError
from upstream.schedulers import (
    FifoScheduler,
    InPlaceScheduler,
    LinecuttingScheduler,
    PacedScheduler,
    Scheduler,
    StalenessIndexScheduler,
)
from upstream.updates import Key

from .contract import SchedulerContract
from .feed import Feed, Line, Served

INTERVALS: dict[str, float] = {
    "A": 0.0,
    "B": 0.5,
    "C": 2.0,
    "D": 2.0,
    "E": 6.0,
    "F": math.inf,
}


def unlimited(key: Key) -> float:
    return 0.0


def paced(feed: Feed, intervals: Callable[[str], float] = INTERVALS.__getitem__) -> Line:
    return feed.attach(PacedScheduler(InPlaceScheduler(), intervals))


def pace_of(line: Line) -> PacedScheduler:
    assert isinstance(line.scheduler, PacedScheduler)
    return line.scheduler


def serve(line: Line) -> Served:
    served = line.serve()
    assert served is not None
    return served


@pytest.fixture
def feed() -> Feed:
    return Feed()


@pytest.fixture
def line(feed: Feed) -> Line:
    return paced(feed)


class TestUnlimited(SchedulerContract):
    """Without limits it is the inner scheduler."""

    name = "paced"

    def make(self) -> Scheduler:
        return PacedScheduler(InPlaceScheduler(), unlimited)


class TestUnlimitedIndex(SchedulerContract):
    name = "paced"

    def make(self) -> Scheduler:
        return PacedScheduler(StalenessIndexScheduler(), unlimited)


class TestUnlimitedLinecutting(SchedulerContract):
    name = "paced"

    def make(self) -> Scheduler:
        return PacedScheduler(LinecuttingScheduler(), unlimited)


def test_a_key_is_served_again_when_its_interval_is_over(feed: Feed, line: Line) -> None:
    #  time     0    1    2    3
    #  arrives  C    C
    #  served   C         C
    feed.arrive("C")
    assert line.serve_key() == "C"
    feed.now = 1.0
    feed.arrive("C")
    for moment, due in ((1.0, 2.0), (1.999, 2.0)):
        feed.now = moment
        assert line.serve_key() is None
        assert pace_of(line).next_due() == due
        assert (len(line.scheduler), pace_of(line).held, pace_of(line).ready) == (1, 1, 0)
    feed.now = 2.0
    assert line.peek() == "C"
    assert (pace_of(line).held, pace_of(line).ready, pace_of(line).next_due()) == (0, 1, None)
    assert line.serve_key() == "C"
    feed.now = 3.0
    feed.arrive("C")
    assert pace_of(line).next_due() == 4.0, "the interval counts from the last service"


def test_a_key_that_arrives_after_its_interval_does_not_wait_for_it(feed: Feed, line: Line) -> None:
    feed.arrive("C")
    line.serve()
    feed.now = 2.0
    feed.arrive("C")
    assert pace_of(line).held == 0
    assert line.serve_key() == "C"


def test_a_key_that_was_held_back_has_waited_since_its_arrival(feed: Feed, line: Line) -> None:
    feed.arrive("C")
    line.serve()
    feed.now = 1.0
    feed.arrive("C")
    feed.now = 1.5
    feed.arrive("A")
    feed.now = 2.0
    assert line.drain() == ["C", "A"]


def test_keys_that_become_due_together_are_served_by_their_waits() -> None:
    feed = Feed()
    keys = [f"K{number}" for number in range(50)]
    line = paced(feed, lambda _: 100.0)
    feed.arrive(*keys)
    line.drain()
    again = keys[::2] + keys[1::2][::-1]
    feed.arrive(*again, seconds_each=1.0)
    assert line.serve() is None
    feed.now = 100.0
    assert line.drain() == again
    feed._check()


def test_a_barred_key_is_never_served_and_does_not_count_as_waiting_longest(
    feed: Feed, line: Line
) -> None:
    feed.arrive(*"FAF", seconds_each=1.0)
    assert line.drain() == ["A"]
    scheduler = pace_of(line)
    assert (len(scheduler), scheduler.held, scheduler.ready) == (1, 0, 0)
    assert scheduler.next_due() is None
    assert scheduler.waiting_since() is None
    assert line.keys() == ["F"]
    place = line.place_of("F")
    assert scheduler.bars(place)
    feed.now = 1e300
    assert line.serve() is None
    line.expire("F")
    assert not scheduler.bars(place)
    assert len(scheduler) == 0
    feed._check()


def test_no_other_key_is_barred(feed: Feed, line: Line) -> None:
    feed.arrive(*"AC")
    line.drain()
    feed.arrive(*"AC")
    assert [line.scheduler.bars(line.place_of(key)) for key in "AC"] == [False, False]


def test_looking_at_a_key_is_not_serving_it(feed: Feed, line: Line) -> None:
    feed.arrive("C")
    assert line.peek() == "C"
    line.expire("C")
    feed.arrive("C")
    assert line.serve_key() == "C"


def test_a_key_that_stands_back_was_not_served(feed: Feed, line: Line) -> None:
    feed.arrive("C")
    place = line.scheduler.take(feed.now)
    assert place is not None
    line.scheduler.stand_back(place)
    line.scheduler.restore(place)
    assert line.serve_key() == "C"
    feed.arrive("C")
    assert line.serve_key() is None, "now it was"


def test_a_key_that_is_served_after_a_look_is_held_back_as_well(feed: Feed, line: Line) -> None:
    feed.arrive("C")
    place = line.scheduler.next(feed.now)
    assert place is not None
    line.scheduler.serve(place, feed.now)
    line.end_wait(place)
    feed.arrive("C")
    assert line.serve_key() is None
    assert pace_of(line).next_due() == 2.0


def test_a_key_that_was_given_back_was_served(feed: Feed, line: Line) -> None:
    feed.arrive("C")
    line.give_back(serve(line))
    feed._check()
    assert line.serve() is None
    feed.now = 2.0
    assert line.serve_key() == "C"


def test_keys_given_back_are_held_in_the_order_of_their_waits() -> None:
    feed = Feed()
    line = paced(feed, lambda _: 10.0)
    feed.arrive(*"ABC", seconds_each=0.5)
    served = [serve(line) for _ in range(3)]
    for one in (served[1], served[2], served[0]):
        line.give_back(one)
        feed._check()
    assert line.scheduler.waiting_since() == 0.0
    feed.now = 20.0
    assert line.drain() == ["A", "B", "C"]


def test_the_longest_waiting_key_may_be_held_or_not(feed: Feed, line: Line) -> None:
    feed.arrive("C")
    line.serve()
    feed.arrive("A", "C", seconds_each=1.0)
    assert (pace_of(line).held, line.scheduler.waiting_since()) == (1, 0.0)
    assert line.serve_key() == "A"
    assert line.scheduler.waiting_since() == 1.0
    feed.now = 1.5
    feed.arrive("A")
    assert line.scheduler.waiting_since() == 1.0


def test_a_forgotten_key_comes_back_as_one_that_was_never_served(feed: Feed, line: Line) -> None:
    feed.arrive("C", "E")
    line.drain()
    feed.arrive("C", "E")
    feed.forget("C")
    feed.forget("E")
    feed._check()
    feed.arrive("C")
    assert line.serve_key() == "C"
    feed.arrive("C")
    feed.now = 1.0
    assert line.serve() is None
    assert pace_of(line).next_due() == 2.0


def test_the_number_of_a_forgotten_key_says_nothing_about_the_next_that_has_it(
    feed: Feed, line: Line
) -> None:
    feed.arrive("F")
    feed.forget("F")
    feed.arrive("A")
    assert line.serve_key() == "A"
    feed.arrive("A")
    assert line.serve_key() == "A"
    feed._check()


def test_the_interval_is_asked_for_once_when_a_key_is_new() -> None:
    asked: list[str] = []

    def interval_of(key: str) -> float:
        asked.append(key)
        return INTERVALS[key]

    feed = Feed()
    feed.arrive("A")
    line = paced(feed, interval_of)
    for _ in range(3):
        feed.arrive(*"ABCF", seconds_each=1.0)
        line.drain()
    assert asked == list("ABCF")
    feed.forget("B")
    feed.arrive("B")
    assert asked == list("ABCFB")


@pytest.mark.parametrize("interval", [-1.0, -math.inf, math.nan, "1", None])
def test_an_interval_is_a_number_of_seconds(interval: object) -> None:
    told = cast(float, interval)
    with pytest.raises(ParameterError, match="'IBM'"):
        PacedScheduler(InPlaceScheduler(), lambda _: told).terms_for("IBM")


def test_an_interval_that_ends_beyond_all_time_bars_the_key_from_its_first_service_on() -> None:
    feed = Feed()
    feed.now = 1e308
    line = paced(feed, lambda _: 1.7e308)
    feed.arrive("A")
    assert line.serve_key() == "A"
    feed.arrive("A")
    assert line.serve() is None
    assert line.scheduler.bars(line.place_of("A"))
    feed._check()


@pytest.mark.parametrize(
    "inner", [FifoScheduler(), PacedScheduler(InPlaceScheduler(), unlimited), "in-place", None]
)
def test_the_inner_scheduler_is_one_that_can_be_held_back_from(inner: object) -> None:
    with pytest.raises(ParameterError) as raised:
        PacedScheduler(inner, unlimited)  # type: ignore[arg-type]
    assert raised.value.name == "inner"


def test_the_intervals_must_be_a_function() -> None:
    with pytest.raises(ParameterError) as raised:
        PacedScheduler(InPlaceScheduler(), INTERVALS)  # type: ignore[arg-type]
    assert raised.value.name == "interval_of"


def test_an_inner_scheduler_that_serves_a_queue_cannot_serve_another() -> None:
    feed = Feed()
    inner = InPlaceScheduler()
    feed.attach(inner)
    scheduler = PacedScheduler(inner, unlimited)
    assert scheduler.inner is inner
    with pytest.raises(AlreadyAttachedError):
        feed.attach(scheduler)
    assert not scheduler.is_bound


def test_the_inner_scheduler_is_told_of_new_keys() -> None:
    scheduler = PacedScheduler(StalenessIndexScheduler(weight=lambda _: -1.0), unlimited)
    with pytest.raises(WeightError):
        scheduler.terms_for("IBM")
    inner = StalenessIndexScheduler(weight={"A": 0.001}.get)  # type: ignore[arg-type]
    feed = Feed()
    line = feed.attach(PacedScheduler(inner, unlimited))
    feed.arrive(*"AB", seconds_each=1.0)
    assert line.serve_key() == "B"
    assert inner.is_bound
    feed.detach(line)
    assert not inner.is_bound


def test_another_queue_knows_nothing_of_services_to_the_first(feed: Feed, line: Line) -> None:
    feed.arrive("C", "F")
    line.drain()
    feed.arrive("C")
    scheduler = line.scheduler
    feed.detach(line)
    other_feed = Feed()
    other = other_feed.attach(scheduler)
    other_feed.arrive("B", "C")
    assert sorted(other.drain()) == ["B", "C"]
    other_feed._check()


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_the_entries_of_keys_that_are_no_longer_held_are_bounded(is_forgotten: bool) -> None:
    feed = Feed()
    line = paced(feed, lambda _: 1e6)
    feed.arrive(*"ABC", seconds_each=1.0)
    line.drain()
    feed.arrive("A")
    for number in range(500):
        key = f"K{number}" if is_forgotten else "B"
        feed.arrive(key)
        if is_forgotten:
            line.serve()
            feed.arrive(key)
            feed.forget(key)
        else:
            line.expire(key)
        line.scheduler._check()
    assert pace_of(line).held == 1
    assert len(pace_of(line)._entries) < 50
    assert pace_of(line).next_due() == 1e6 + 3.0


def test_invalid_entries_are_bounded_when_keys_become_due() -> None:
    feed = Feed()
    near = [f"near {number}" for number in range(20)]
    line = paced(feed, lambda key: 1.0 if key in near else 1e6)
    feed.arrive("far", *near)
    line.drain()
    feed.arrive(*near)
    for _ in range(36):
        feed.arrive("far")
        line.expire("far")
    assert len(pace_of(line)._entries) > 50
    feed.now = 1.0
    assert line.peek() == near[0]
    line.scheduler._check()
    assert pace_of(line)._entries == []


def test_keys_without_a_limit_cost_nothing() -> None:
    feed = Feed()
    scheduler = PacedScheduler(InPlaceScheduler(), unlimited)
    keys = [f"K{number}" for number in range(100)]
    line = feed.attach(scheduler)
    feed.arrive(*keys)
    assert len(scheduler._intervals) == len(scheduler._dues) == 0
    assert line.drain() == keys
