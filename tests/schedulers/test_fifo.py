"""FIFO: a newer update moves its key to the tail."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from upstream.keys import ArrivalOrder, KeyCell
from upstream.schedulers import FifoScheduler, Surroundings
from upstream.statistics import EstimatedRates, ProcessingCost

from .contract import SHORT_RUNS, Model, SchedulerContract, SchedulerMachine, Waiting
from .feed import Feed, Line, no_place


class TestFifoScheduler(SchedulerContract):
    name = "fifo"
    needs_arrival_order = True
    policy = FifoScheduler

    def test_a_newer_update_moves_its_key_to_the_tail(self, feed: Feed, line: Line) -> None:
        feed.arrive("A", "B", "A", "C", "B", "A", seconds_each=1.0)
        assert line.keys() == ["C", "B", "A"]
        assert line.drain() == ["C", "B", "A"]

    def test_the_tail_is_that_of_the_instant_too(self, feed: Feed, line: Line) -> None:
        feed.arrive("A", "B", "A", "C", "B", "A")
        assert line.drain() == ["C", "B", "A"]

    def test_a_key_given_back_that_arrives_again_moves_to_the_tail(
        self, feed: Feed, line: Line
    ) -> None:
        feed.arrive(*"ABC", seconds_each=1.0)
        served = [line.serve(), line.serve()]
        for one in served:
            assert one is not None
            line.give_back(one)
        feed.arrive("A")
        assert line.keys() == ["B", "C", "A"]
        feed._check()
        assert line.drain() == ["B", "C", "A"]

    def test_a_key_that_is_given_back_twice_is_served_once(self, feed: Feed, line: Line) -> None:
        feed.arrive(*"AB", seconds_each=1.0)
        for _ in range(2):
            served = line.serve()
            assert served is not None
            line.give_back(served)
        feed.arrive("A")
        feed._check()
        assert line.drain() == ["B", "A"]
        feed._check()

    def test_each_line_reads_the_one_order_at_its_own_pace(self) -> None:
        feed = Feed()
        lines = [feed.attach(FifoScheduler()) for _ in range(3)]
        feed.arrive(*"ABC", seconds_each=1.0)
        assert lines[0].drain() == ["A", "B", "C"]
        assert lines[1].serve_key() == "A"
        feed.arrive("B", seconds_each=1.0)
        assert [line.drain() for line in lines] == [["B"], ["C", "B"], ["A", "C", "B"]]
        feed._check()

    def test_keys_that_do_not_wait_are_stepped_over(self, feed: Feed, line: Line) -> None:
        """A queue at its capacity refuses keys, which stand in the order all the same."""
        feed.arrive(*"ABCDE", seconds_each=1.0)
        for key in "ACE":
            line.expire(key)
        assert line.keys() == ["B", "D"]
        assert line.drain() == ["B", "D"]
        feed.arrive("E")
        assert line.drain() == ["E"]

    def test_a_line_that_is_detached_leaves_the_order_to_the_others(self) -> None:
        feed = Feed()
        going, staying = feed.attach(FifoScheduler()), feed.attach(FifoScheduler())
        feed.arrive(*"AB", seconds_each=1.0)
        feed.detach(going)
        feed.arrive("A")
        assert staying.drain() == ["B", "A"]
        feed._check()

    def test_a_line_that_is_detached_leaves_no_marker_behind(self, feed: Feed, line: Line) -> None:
        feed.arrive(*"AB", seconds_each=1.0)
        for _ in range(2):
            feed.detach(line)
            feed._check()
            line = feed.attach(line.scheduler)
            feed._check()
            feed.arrive(*"BA", seconds_each=1.0)
            assert line.keys() == ["B", "A"]


def test_fifo_cannot_do_without_the_order_of_arrival() -> None:
    scheduler = FifoScheduler()
    surroundings = Surroundings(
        rates=EstimatedRates(), cost=ProcessingCost(None), place_of=no_place
    )
    with pytest.raises(AssertionError, match="order"):
        scheduler.bind(surroundings)


def test_a_key_without_a_place_in_the_queue_is_stepped_over() -> None:
    order = ArrivalOrder()
    scheduler = FifoScheduler()
    scheduler.bind(
        Surroundings(
            rates=EstimatedRates(),
            cost=ProcessingCost(None),
            place_of=no_place,
            order=order,
        )
    )
    order.append(KeyCell("A", 0, time=0.0, arrival=0.0))
    assert scheduler.next(0.0) is None
    assert list(scheduler) == []


class FifoModel(Model):
    """Whose newest update arrived first is next; at one instant, keys given back go first."""

    def supersede(self, one: Waiting) -> None:
        one.turn = self.turns
        one.is_returned = False

    def order(self) -> list[Waiting]:
        return sorted(self.waiting, key=lambda one: (one.last, not one.is_returned, one.turn))


class FifoMachine(SchedulerMachine):
    """FIFO lines that come and go, each against a list that is sorted by last arrival."""

    policy = FifoScheduler
    model = FifoModel

    @precondition(lambda self: len(self.models) < 4)
    @rule(from_oldest=st.booleans())
    def a_line_comes(self, from_oldest: bool) -> None:
        self.attach(from_oldest=from_oldest)

    @precondition(lambda self: len(self.models) > 1)
    @rule(which=st.integers(0, 3))
    def a_line_goes(self, which: int) -> None:
        self.feed.detach(self.models.pop(which % len(self.models)).line)


TestFifo = FifoMachine.TestCase
TestFifo.settings = SHORT_RUNS
