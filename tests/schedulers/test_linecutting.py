"""LINECUTTING: slow updaters go to the head of the queue."""

from __future__ import annotations

import pytest

from upstream.schedulers import LinecuttingScheduler
from upstream.statistics import GivenRates
from upstream.updates import Key

from .contract import SHORT_RUNS, Model, SchedulerContract, SchedulerMachine, Waiting
from .feed import Feed, Line

HEAD, TAIL = True, False


class TestLinecuttingScheduler(SchedulerContract):
    name = "linecutting"
    policy = LinecuttingScheduler

    def test_a_newer_update_keeps_the_place_of_the_older_one(self, feed: Feed, line: Line) -> None:
        feed.arrive("A", "B", "A", seconds_each=1.0)
        assert line.drain() == ["A", "B"]


@pytest.mark.parametrize(
    ("rate", "cost", "waiting_count", "expected"),
    [
        # rate < 1 / (cost * waiting_count), with the key itself among those that wait
        (0.1, 1.0, 9, HEAD),
        (0.125, 1.0, 8, TAIL),  # equal is not less
        (0.125, 1.0, 7, HEAD),
        (0.1, 1.0, 11, TAIL),
        (0.1, 2.0, 4, HEAD),
        (0.1, 2.0, 6, TAIL),
        (4.0, 0.125, 2, TAIL),
        (3.9, 0.125, 2, HEAD),
        (1e6, 1e-9, 100, HEAD),
        (1e-9, 1e6, 100, HEAD),
        (1e-9, 1e8, 100, TAIL),
        # unknown or zero: as IN-PLACE
        (None, 1.0, 2, TAIL),
        (0.0, 1.0, 2, TAIL),
        (0.001, None, 2, TAIL),
        (0.001, 0.0, 2, TAIL),
        (None, None, 2, TAIL),
    ],
)
def test_a_key_cuts_the_line_if_all_can_be_served_before_it_updates_again(
    rate: float | None, cost: float | None, waiting_count: int, expected: bool
) -> None:
    rates: dict[Key, float] = {} if rate is None else {"key": rate}
    feed = Feed(GivenRates(rates))
    line = feed.attach(LinecuttingScheduler(), cost=cost)
    others = [f"other {number}" for number in range(waiting_count - 1)]
    feed.arrive(*others, "key", seconds_each=0.5)
    assert line.drain() == (["key", *others] if expected is HEAD else [*others, "key"])


def test_a_key_that_does_not_cut_the_line_is_slow_enough_when_fewer_wait() -> None:
    feed = Feed(GivenRates({"slow": 0.3}))
    line = feed.attach(LinecuttingScheduler(), cost=1.0)
    feed.arrive(*"ABC", "slow", seconds_each=1.0)
    assert line.drain() == [*"ABC", "slow"]
    feed.arrive("A", "B", "slow", seconds_each=1.0)
    assert line.drain() == ["slow", "A", "B"]


def test_the_last_of_several_slow_keys_is_the_first() -> None:
    feed = Feed(GivenRates({"S": 0.001, "T": 0.002}))
    line = feed.attach(LinecuttingScheduler(), cost=1.0)
    feed.arrive(*"ASBT", seconds_each=1.0)
    assert line.drain() == ["T", "S", "A", "B"]


def test_a_slow_key_cuts_the_line_when_it_starts_to_wait_and_then_keeps_its_place() -> None:
    feed = Feed(GivenRates({"S": 0.001, "T": 0.001}))
    line = feed.attach(LinecuttingScheduler(), cost=1.0)
    feed.arrive(*"ASTS", seconds_each=1.0)
    assert line.drain() == ["T", "S", "A"]


def test_a_key_is_known_to_be_slow_by_its_past_arrivals() -> None:
    feed = Feed()
    line = feed.attach(LinecuttingScheduler(), cost=1.0)
    for _ in range(20):
        feed.arrive("slow", *["fast"] * 40, seconds_each=0.5)
        line.drain()
    feed.arrive("new", "fast", "slow")
    assert line.drain() == ["slow", "new", "fast"]


def test_a_cost_that_is_measured_counts() -> None:
    feed = Feed(GivenRates({"S": 0.01}))
    line = feed.attach(LinecuttingScheduler())
    feed.arrive(*"AS")
    assert line.drain() == ["A", "S"]
    line.cost.delivered(0.0, 1.0)
    feed.arrive(*"AS")
    assert line.drain() == ["S", "A"]


def test_a_key_given_back_goes_to_the_head_even_after_another_cut_the_line() -> None:
    feed = Feed(GivenRates({"S": 0.001}))
    line = feed.attach(LinecuttingScheduler(), cost=1.0)
    feed.arrive(*"ABC", seconds_each=1.0)
    first, second = line.serve(), line.serve()
    assert first is not None
    assert second is not None
    line.give_back(first)
    feed.arrive("S")
    line.give_back(second)
    feed._check()
    assert line.drain() == ["B", "S", "A", "C"]


RATES: dict[Key, float] = {"A": 0.0, "B": 0.25, "C": 0.5, "D": 1.0, "E": 64.0}
COST = 0.5


class LinecuttingModel(Model):
    """A list that slow keys enter at the head."""

    def start(self, one: Waiting) -> None:
        rate = RATES.get(one.key)
        is_slow = rate and rate < 1 / (COST * (len(self.waiting) + 1))
        self.waiting.insert(0 if is_slow else len(self.waiting), one)

    def restore(self, one: Waiting) -> None:
        position = 0
        while position < len(self.waiting) and self.waiting[position].since <= one.since:
            position += 1
        self.waiting.insert(position, one)


class LinecuttingMachine(SchedulerMachine):
    """LINECUTTING, with keys of every speed, one of them of none and one that is unknown."""

    rates = RATES
    cost = COST
    policy = LinecuttingScheduler
    model = LinecuttingModel


TestLinecutting = LinecuttingMachine.TestCase
TestLinecutting.settings = SHORT_RUNS
