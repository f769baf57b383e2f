"""What every key scheduler must do; the test of each policy is a subclass of this suite.

Beside it stands a state machine that holds a policy against a plain list. A policy says by `Model`
which of the waiting keys may be served next; everything else is the same for all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import permutations
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from upstream.errors import AlreadyAttachedError
from upstream.schedulers import Scheduler
from upstream.statistics import GivenRates, Rates
from upstream.updates import Key

from .feed import Feed, Line, Served

KEYS = "ABCDEF"

SHORT_RUNS = settings(stateful_step_count=30)
"""Many short lives of a scheduler find more than few long ones."""


class SchedulerContract:
    """Rules that hold whatever the order in which keys of one rate are served."""

    name: ClassVar[str]
    needs_arrival_order: ClassVar[bool] = False
    policy: ClassVar[type[Scheduler]]

    def make(self) -> Scheduler:
        return self.policy()

    @pytest.fixture
    def feed(self) -> Feed:
        """All keys update at one rate, so fast that none of them cuts the line."""
        return Feed(GivenRates(_very_fast))

    @pytest.fixture
    def line(self, feed: Feed) -> Line:
        return feed.attach(self.make(), cost=1.0)

    def test_it_has_its_public_name(self) -> None:
        assert self.make().name == self.name
        assert self.make().needs_arrival_order is self.needs_arrival_order

    def test_nothing_is_served_while_nothing_waits(self, feed: Feed, line: Line) -> None:
        assert line.scheduler.next(0.0) is line.scheduler.take(0.0) is None
        assert (len(line.scheduler), list(line.scheduler)) == (0, [])
        feed.arrive("A")
        line.serve()
        assert line.scheduler.next(0.0) is line.scheduler.take(0.0) is None
        feed._check()

    def test_looking_at_the_next_key_changes_nothing(self, feed: Feed, line: Line) -> None:
        feed.arrive(*KEYS, seconds_each=1.0)
        assert {line.peek() for _ in range(5)} == {"A"}
        assert len(line.scheduler) == 6
        assert line.serve_key() == "A"
        assert line.peek() == "B"
        feed._check()

    def test_looking_and_serving_is_as_taking(self, feed: Feed, line: Line) -> None:
        """As an update queue does whose values are in a page pool."""
        feed.arrive(*KEYS, seconds_each=1.0)
        served = []
        while (place := line.scheduler.next(feed.now)) is not None:
            line.scheduler.serve(place, feed.now)
            line.end_wait(place)
            served.append(place.cell.key)
            feed._check()
        assert served == list(KEYS)

    def test_waiting_since_is_the_start_of_the_longest_wait(self, feed: Feed, line: Line) -> None:
        assert line.scheduler.waiting_since() is None
        feed.arrive(*"ABCA", seconds_each=1.0)
        assert line.scheduler.waiting_since() == 0.0
        line.expire("A")
        assert line.scheduler.waiting_since() == 1.0
        served = line.serve()
        assert served is not None
        assert served.key == "B"
        assert line.scheduler.waiting_since() == 2.0
        line.give_back(served)
        assert line.scheduler.waiting_since() == 1.0

    def test_each_waiting_key_is_served_once(self, feed: Feed, line: Line) -> None:
        feed.arrive(*"ABACABCB", seconds_each=0.5)
        assert len(line.scheduler) == 3
        assert sorted(line.drain()) == ["A", "B", "C"]
        assert len(line.scheduler) == 0

    @pytest.mark.parametrize("seconds_each", [0.0, 1.0])
    def test_keys_that_arrive_once_are_served_in_their_order(
        self, feed: Feed, line: Line, seconds_each: float
    ) -> None:
        feed.arrive(*"DBFACE", seconds_each=seconds_each)
        assert line.keys() == list("DBFACE")
        assert line.drain(seconds_each=0.25) == list("DBFACE")

    def test_a_key_that_was_served_waits_again_behind_the_others(
        self, feed: Feed, line: Line
    ) -> None:
        feed.arrive(*"AB", seconds_each=1.0)
        line.serve()
        feed.arrive("A")
        assert line.drain() == ["B", "A"]

    def test_a_key_that_expires_is_not_served(self, feed: Feed, line: Line) -> None:
        for expiring in ("A", "B", "C", "AC", "CA", "BCA"):
            feed.arrive(*"ABC", seconds_each=1.0)
            for key in expiring:
                line.expire(key)
                feed._check()
            assert line.drain() == [key for key in "ABC" if key not in expiring]
            feed._check()

    def test_a_key_that_is_forgotten_is_not_served_and_comes_back_as_new(
        self, feed: Feed, line: Line
    ) -> None:
        feed.arrive(*"ABC", seconds_each=1.0)
        for key in "AC":
            feed.forget(key)
            feed._check()
        feed.arrive(*"CA", seconds_each=1.0)
        assert line.drain() == ["B", "C", "A"]

    def test_a_key_that_is_given_back_at_once_is_served_next_and_listed_once(
        self, feed: Feed, line: Line
    ) -> None:
        feed.arrive(*"ABC", seconds_each=1.0)
        served = line.serve()
        assert served is not None
        line.give_back(served)
        assert line.keys() == ["A", "B", "C"]
        feed._check()
        assert line.drain() == ["A", "B", "C"]

    def test_the_only_key_can_be_given_back_again_and_again(self, feed: Feed, line: Line) -> None:
        feed.arrive("A")
        for _ in range(3):
            served = line.serve()
            assert served is not None
            assert line.give_back(served)
            feed._check()
            assert line.keys() == ["A"]
        assert line.drain() == ["A"]

    @pytest.mark.parametrize("served_between", [0, 1, 3])
    def test_keys_given_back_in_any_order_are_served_in_that_of_their_arrival(
        self, feed: Feed, served_between: int
    ) -> None:
        for order in permutations("ABCD"):
            line = feed.attach(self.make(), cost=1.0)
            feed.arrive(*KEYS, seconds_each=1.0)
            served = {one.key: one for one in (line.serve() for _ in range(4)) if one is not None}
            assert sorted(served) == list("ABCD")
            for position, key in enumerate(order):
                line.give_back(served[key])
                feed._check()
                if position < served_between:
                    again = line.serve()
                    assert again is not None
                    assert again.key == min(order[: position + 1])
                    line.give_back(again)
            assert line.drain() == list(KEYS)
            feed.detach(line)

    def test_keys_given_back_wait_before_those_that_began_later(
        self, feed: Feed, line: Line
    ) -> None:
        feed.arrive(*"AB", seconds_each=1.0)
        first, second = line.serve(), line.serve()
        assert first is not None
        assert second is not None
        feed.arrive(*"CD", seconds_each=1.0)
        line.give_back(second)
        assert line.peek() == "B"
        line.give_back(first)
        assert line.drain() == list("ABCD")

    def test_a_key_can_stand_back_while_it_waits(self, feed: Feed, line: Line) -> None:
        """As a window queue's key does whose turn comes while it is IDLE."""
        feed.arrive(*"ABC", seconds_each=1.0)
        place = line.scheduler.take(feed.now)
        assert place is not None
        line.scheduler.stand_back(place)
        since = place.waiting_since
        others = [key for key in "ABC" if key != place.cell.key]
        assert sorted(line.keys()) == others
        assert line.peek() in others
        assert len(line.scheduler) == 2
        place.version_before = place.cell.version - 1
        line.scheduler.restore(place)
        assert place.waiting_since == since
        feed._check()
        assert line.serve_key() == place.cell.key
        assert sorted(line.drain()) == others

    def test_a_key_given_back_can_expire_and_be_forgotten(self, feed: Feed, line: Line) -> None:
        feed.arrive(*"ABC", seconds_each=1.0)
        served = [line.serve() for _ in range(2)]
        for one in served:
            assert one is not None
            line.give_back(one)
        line.expire("B")
        feed._check()
        feed.forget("A")
        feed._check()
        assert line.drain() == ["C"]

    def test_a_key_that_arrived_again_is_not_given_back(self, feed: Feed, line: Line) -> None:
        feed.arrive(*"AB", seconds_each=1.0)
        served = line.serve()
        assert served is not None
        feed.arrive("A")
        assert not line.give_back(served)
        assert line.drain() == ["B", "A"]

    def test_two_lines_of_one_stream_leave_each_other_alone(self, feed: Feed, line: Line) -> None:
        other = feed.attach(self.make(), cost=1.0)
        feed.arrive(*"ABC", seconds_each=1.0)
        assert line.drain() == ["A", "B", "C"]
        feed.arrive("A")
        assert len(other.scheduler) == 3
        feed._check()
        assert line.drain() == ["A"]
        assert sorted(other.drain()) == ["A", "B", "C"]

    def test_it_serves_one_queue_at_a_time(self, feed: Feed, line: Line) -> None:
        assert line.scheduler.is_bound
        with pytest.raises(AlreadyAttachedError, match=type(line.scheduler).__name__):
            Line(Feed(), line.scheduler).bind()
        feed.arrive(*"AB", seconds_each=1.0)
        assert line.drain() == ["A", "B"]

    def test_it_can_serve_another_queue_after_the_first_has_unbound_it(
        self, feed: Feed, line: Line
    ) -> None:
        scheduler = line.scheduler
        feed.arrive(*"ABC", seconds_each=1.0)
        served = line.serve()
        assert served is not None
        line.give_back(served)
        feed.detach(line)
        assert not scheduler.is_bound
        assert len(scheduler) == 0
        feed._check()
        other_feed = Feed(GivenRates(_very_fast))
        other = other_feed.attach(scheduler, cost=1.0)
        feed.arrive("C")
        other_feed.arrive(*"XYX", seconds_each=1.0)
        assert sorted(other.drain()) == ["X", "Y"]
        other_feed._check()

    def test_a_line_that_is_attached_later_gets_the_arrivals_from_then_on(
        self, feed: Feed, line: Line
    ) -> None:
        feed.arrive(*"ABC", seconds_each=1.0)
        late = feed.attach(self.make(), cost=1.0)
        assert late.keys() == []
        feed.arrive(*"BD", seconds_each=1.0)
        feed._check()
        assert late.drain() == ["B", "D"]
        assert len(line.scheduler) == 4

    def test_a_line_that_attaches_late_may_start_with_all_keys(
        self, feed: Feed, line: Line
    ) -> None:
        feed.arrive(*"ABCA", seconds_each=1.0)
        line.drain()
        late = feed.attach(self.make(), cost=1.0, from_oldest=True)
        feed._check()
        assert late.keys() == ["B", "C", "A"]
        feed.arrive("D")
        assert late.drain() == ["B", "C", "A", "D"]


def _very_fast(key: Key) -> float:
    return 1000.0


@dataclass
class Waiting:
    """A waiting key, as the plain list knows it."""

    key: str
    since: float
    """The arrival that its wait counts from."""
    last: float
    """Its last arrival."""
    turn: int
    """When it last took a place in line, to tell those apart that did so at one instant."""
    is_returned: bool = False


@dataclass
class Model:
    """The waiting keys of one line, in any order; a policy says which key may be next."""

    line: Line
    waiting: list[Waiting] = field(default_factory=list)
    served: list[Served] = field(default_factory=list)
    turns: int = 0

    def arrive(self, key: str, now: float) -> None:
        self.turns += 1
        known = self.find(key)
        if known is None:
            self.start(Waiting(key, since=now, last=now, turn=self.turns))
        else:
            known.last = now
            self.supersede(known)

    def find(self, key: str) -> Waiting | None:
        return next((one for one in self.waiting if one.key == key), None)

    def give_back(self, served: Served) -> None:
        self.turns += 1
        self.restore(
            Waiting(
                served.key,
                since=served.arrival,
                last=served.arrival,
                turn=self.turns,
                is_returned=True,
            )
        )

    def remove(self, key: str) -> None:
        self.waiting = [one for one in self.waiting if one.key != key]

    # What policies may see differently.

    def may_be_served(self, now: float) -> list[Waiting]:
        """Return the keys that are not held back when the next key is read at `now`."""
        return self.waiting

    def is_barred(self, one: Waiting) -> bool:
        return False

    def note_service(self, key: str, now: float) -> None:
        self.remove(key)

    def forget(self, key: str) -> None:
        self.remove(key)

    def start(self, one: Waiting) -> None:
        self.waiting.append(one)

    def supersede(self, one: Waiting) -> None:
        return

    def restore(self, one: Waiting) -> None:
        self.waiting.append(one)

    def check_next(self, key: str, now: float) -> None:
        """Assert that `key` may be served next; the first of the order is the only one that may."""
        assert key == self.order()[0].key

    def order(self) -> list[Waiting]:
        """Return the waiting keys in the order in which they are served."""
        return self.waiting


class SchedulerMachine(RuleBasedStateMachine):
    """Two lines of one feed, each against a plain list."""

    policy: ClassVar[type[Scheduler]]
    model: ClassVar[type[Model]]
    rates: ClassVar[Rates | None] = None
    cost: ClassVar[float | None] = 0.5
    has_order: ClassVar[bool] = True
    """Whether the keys of a line are listed in the order in which they are served."""

    def __init__(self) -> None:
        super().__init__()
        self.feed = Feed(None if self.rates is None else GivenRates(self.rates))
        self.models: list[Model] = []
        for _ in range(2):
            self.attach(from_oldest=False)

    def make(self) -> Scheduler:
        return self.policy()

    def attach(self, *, from_oldest: bool) -> None:
        line = self.feed.attach(self.make(), cost=self.cost, from_oldest=from_oldest)
        model = self.model(line)
        self.models.append(model)
        if from_oldest:
            for cell in self.feed.order:
                model.arrive(str(cell.key), self.feed.now)
                model.waiting[-1].last = cell.arrival

    @rule(seconds=st.sampled_from([0.25, 1.0, 3.0]))
    def time_passes(self, seconds: float) -> None:
        self.feed.now += seconds

    @rule(keys=st.text(KEYS, min_size=1, max_size=4))
    def updates_arrive(self, keys: str) -> None:
        for key in keys:
            for model in self.models:
                model.arrive(key, self.feed.now)
            self.feed.arrive(key)

    @rule(which=st.integers(0, 3))
    def the_next_key_is_read(self, which: int) -> None:
        model = self.models[which % len(self.models)]
        key = model.line.peek()
        assert (key is None) == (not model.may_be_served(self.feed.now))
        if key is not None:
            model.check_next(key, self.feed.now)
            assert model.line.peek() == key

    @rule(which=st.integers(0, 3))
    def a_key_is_served(self, which: int) -> None:
        model = self.models[which % len(self.models)]
        served = model.line.serve()
        assert (served is None) == (not model.may_be_served(self.feed.now))
        if served is not None:
            assert not model.line.waits(served.key)
            model.check_next(served.key, self.feed.now)
            model.note_service(served.key, self.feed.now)
            model.served = [one for one in model.served if one.key != served.key] + [served]

    @rule(which=st.integers(0, 3), data=st.data())
    def a_key_is_given_back(self, which: int, data: st.DataObject) -> None:
        model = self.models[which % len(self.models)]
        if model.served:
            served = data.draw(st.sampled_from(model.served), label="served")
            model.served.remove(served)
            if model.line.give_back(served):
                model.give_back(served)
            else:
                assert self.feed.table.cells[served.key].version > served.version

    @rule(which=st.integers(0, 3), data=st.data())
    def a_key_expires(self, which: int, data: st.DataObject) -> None:
        model = self.models[which % len(self.models)]
        if model.waiting:
            key = data.draw(st.sampled_from([one.key for one in model.waiting]), label="key")
            model.line.expire(key)
            model.remove(key)

    @precondition(lambda self: len(self.feed.table) > 0)
    @rule(data=st.data())
    def a_key_is_forgotten(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(map(str, self.feed.table.cells))), label="key")
        self.feed.forget(key)
        for model in self.models:
            model.forget(key)
            model.served = [one for one in model.served if one.key != key]

    @invariant()
    def every_line_is_as_its_list(self) -> None:
        self.feed._check()
        for model in self.models:
            assert len(model.line.scheduler) == len(model.waiting)
            assert set(model.line.keys()) == {one.key for one in model.waiting}
            to_be_served = [one.since for one in model.waiting if not model.is_barred(one)]
            since = model.line.scheduler.waiting_since()
            assert (math.inf if since is None else since) == min(to_be_served, default=math.inf)
            for one in model.waiting:
                assert model.line.place_of(one.key).waiting_since == one.since
            if self.has_order:
                assert model.line.keys() == [one.key for one in model.order()]

    def teardown(self) -> None:
        for model in self.models:
            self.feed.detach(model.line)
        self.feed._check()


class InPlaceModel(Model):
    """The key that has waited longest is next; among equal waits, the one that began first."""

    def order(self) -> list[Waiting]:
        return sorted(self.waiting, key=lambda one: (one.since, one.turn))
