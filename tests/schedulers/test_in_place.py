"""IN-PLACE: a newer update takes the place of the older."""

from __future__ import annotations

from upstream.schedulers import InPlaceScheduler

from .contract import SHORT_RUNS, InPlaceModel, SchedulerContract, SchedulerMachine
from .feed import Feed, Line


class TestInPlaceScheduler(SchedulerContract):
    name = "in-place"
    policy = InPlaceScheduler

    def test_a_newer_update_keeps_the_place_of_the_older_one(self, feed: Feed, line: Line) -> None:
        feed.arrive("VOD", "BP", "VOD", seconds_each=1.0)
        assert line.drain() == ["VOD", "BP"]

    def test_a_busy_key_neither_starves_nor_is_starved(self, feed: Feed, line: Line) -> None:
        feed.arrive("A", "B", "A", "C", "B", "A", seconds_each=1.0)
        assert line.drain() == ["A", "B", "C"]

    def test_rates_and_cost_change_nothing(self) -> None:
        feed = Feed()
        line = feed.attach(InPlaceScheduler(), cost=1e-9)
        feed.arrive(*"AAAAB", seconds_each=1.0)
        line.drain()
        feed.arrive(*"ACB", seconds_each=1.0)
        assert line.drain() == ["A", "C", "B"]


class InPlaceMachine(SchedulerMachine):
    """IN-PLACE against a list that is sorted by wait."""

    policy = InPlaceScheduler
    model = InPlaceModel


TestInPlace = InPlaceMachine.TestCase
TestInPlace.settings = SHORT_RUNS
