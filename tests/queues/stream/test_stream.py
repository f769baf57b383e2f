"""A stream with queues of all kinds does what plain lists of events say it should.

Everything that can happen to a stream happens at random: the clock moves, updates come late or at
equal times, queues come and go, and consumers deliver or give back in any order. The model
(`model.py`) says after every step what waits, in which order, what was counted, and how stale it
all was on average.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from upstream import (
    TOMBSTONE,
    ClosedError,
    Key,
    ManualClock,
    NotInProcessError,
    OnDemandMemory,
    Outcome,
    PagePool,
    PagePoolFullError,
    ParameterError,
    Stream,
    StreamQueue,
    UnknownKeyError,
    Update,
)
from upstream.statistics import QueueStatistics

from ..model import Held, ModelQueue
from ..model_kinds import (
    ModelFifo,
    ModelInPlace,
    ModelUpdateQueue,
)
from ..model_stream import ModelStream
from ..queue_pairs import (
    KEYS,
    LOCATIONS,
    MAY_FALL,
    MOST_QUEUES,
    RATES,
    Pair,
    adaptive_queues,
    append_queues,
    keys,
    linecutting_queues,
    paced_queues,
    pauses,
    seconds,
    source_times,
    update_queues,
)

COUNTERS = [counter.name for counter in fields(QueueStatistics)]


class StreamMachine(RuleBasedStateMachine):
    """One stream with up to four queues against the model."""

    retain: bool | None = True
    """Whether newest values are kept; None for either."""
    has_pool = False
    is_watched = True
    """Whether everything is looked at after every step, or only now and then: looking makes
    queues take in what they have not read yet, and must make no difference."""
    kinds: st.SearchStrategy[Pair] = st.one_of(
        update_queues(), update_queues(), append_queues(), adaptive_queues()
    )
    rates: dict[Key, float] | None = None

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.pairs: list[Pair] = []
        self.before: dict[ModelQueue, dict[str, int]] = {}
        self.made = 0
        self.should_look = False

    @initialize(
        data=st.data(), forget_after=st.sampled_from([None, 3.0, 6.0]), queues=st.integers(0, 3)
    )
    def begin(self, data: st.DataObject, forget_after: float | None, queues: int) -> None:
        if self.retain is None:
            self.retain = data.draw(st.booleans())
        memory = None
        if self.has_pool:
            memory = OnDemandMemory(PagePool(64, page_bytes=32, location_bytes=32))
        self.stream = Stream(
            clock=self.clock,
            retain=self.retain,
            memory=memory,
            forget_after=forget_after,
            rates=self.rates,
        )
        self.model = ModelStream(retain=self.retain, forget_after=forget_after)
        if self.has_pool:
            self.model.locations = LOCATIONS
        for _ in range(queues):
            self.attach(data.draw(self.kinds), since=None)

    # What happens.

    @rule(pause=seconds)
    def time_passes(self, pause: float) -> None:
        self.clock.advance(pause)

    @rule(key=keys, offset=source_times, pause=pauses)
    def an_update_comes(self, key: Key, offset: float | None, pause: float) -> None:
        self.clock.advance(pause)
        self.enqueue(key, self.value(), offset)

    @rule(key=keys, offset=source_times, pause=pauses)
    def a_deletion_comes(self, key: Key, offset: float | None, pause: float) -> None:
        self.clock.advance(pause)
        self.enqueue(key, TOMBSTONE, offset)

    @rule(
        rows=st.lists(st.tuples(keys, st.sampled_from([0.0, -0.5, -2.0, 1.0])), max_size=8),
        column=st.sampled_from([list, tuple, np.array, pa.array]),
        has_times=st.booleans(),
    )
    def a_batch_comes(
        self,
        rows: list[tuple[Key, float]],
        column: Callable[[Sequence[object]], Sequence[object]],
        has_times: bool,
    ) -> None:
        now = self.clock.now()
        names = [key for key, _ in rows]
        values = [self.value() for _ in rows]
        times = [now + offset for _, offset in rows]
        if not rows:
            column = list
        batch = self.stream.enqueue_many(
            column(names), values, column(times) if has_times else None
        )
        outcomes = [
            self.model.enqueue(key, value, time if has_times else None, now)
            for key, value, time in zip(names, values, times, strict=True)
        ]
        rejected = [outcome in (None, Outcome.REJECTED) for outcome in outcomes]
        assert batch.waiting == outcomes.count(Outcome.WAITING)
        assert batch.superseded == outcomes.count(Outcome.SUPERSEDED)
        assert batch.late == outcomes.count(Outcome.LATE)
        assert batch.rejected == sum(rejected)
        assert batch.rejected_rows == tuple(np.flatnonzero(rejected))

    @precondition(lambda self: len(self.pairs) < MOST_QUEUES)
    @rule(data=st.data(), snapshot=st.booleans(), age=st.none() | seconds)
    def a_queue_is_attached(self, data: st.DataObject, snapshot: bool, age: float | None) -> None:
        pair = queue, model = data.draw(self.kinds)
        if snapshot and not self.retain:
            with pytest.raises(ParameterError):
                self.stream.attach(queue, snapshot=True)
            return
        is_orderless = type(model) in ORDERLESS and model.capacity is None
        if snapshot and (is_orderless or self.arrivals_differ()):
            self.attach(pair, since=-math.inf if age is None else self.clock.now() - age)
        else:
            self.attach(pair, since=None)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def a_queue_is_detached(self, data: st.DataObject) -> None:
        pair = queue, model = data.draw(st.sampled_from(self.pairs))
        held = [held.update for held in model.held]
        final = self.stream.detach(queue)
        now = self.clock.now()
        expected = self.model.detach(model, now)
        assert {name: getattr(final, name) for name in expected} == expected
        means = queue.queue_staleness(), queue.application_staleness()
        assert means == pytest.approx(model.means(now), rel=1e-9, abs=1e-9)
        for update in held[:1]:
            with pytest.raises(ClosedError):
                queue.deliver(update)
        self.pairs.remove(pair)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), limit=st.sampled_from([None, 1, 2, 9]), pause=pauses)
    def updates_are_dequeued(self, data: st.DataObject, limit: int | None, pause: float) -> None:
        queue, model = data.draw(st.sampled_from(self.pairs))
        self.clock.advance(pause)
        now = self.clock.now()
        self.model.advance(now)
        if limit is None:
            following = queue.peek() if self.is_watched else None
            update = queue.dequeue()
            assert not self.is_watched or update == following
            model.serve(update, now)
        else:
            updates = queue.dequeue_many(limit)
            for update in updates:
                model.serve(update, now)
            if len(updates) < limit:
                model.serve(None, now)
        self.model.advance(now)

    @precondition(lambda self: self.held())
    @rule(data=st.data(), as_copy=st.booleans(), pause=pauses)
    def an_update_is_delivered(self, data: st.DataObject, as_copy: bool, pause: float) -> None:
        queue, model, held = data.draw(st.sampled_from(self.held()))
        self.clock.advance(pause)
        update = held.update
        if as_copy:
            update = Update(*update)
            held = next(each for each in model.held if each.update == update)
        self.model.advance(self.clock.now())
        queue.deliver(update)
        model.deliver(held)
        self.model.advance(self.clock.now())
        if not any(_is_alike(each.update, update) for each in model.held):
            self.deliver_again(queue, model, update)

    @precondition(lambda self: self.held())
    @rule(data=st.data(), pause=pauses)
    def an_update_is_given_back(self, data: st.DataObject, pause: float) -> None:
        queue, model, held = data.draw(st.sampled_from(self.held()))
        self.clock.advance(pause)
        self.model.advance(self.clock.now())
        if self.finds_no_room(model, held):
            with pytest.raises(PagePoolFullError):
                queue.give_back(held.update)
            return
        queue.give_back(held.update)
        model.give_back(held)
        self.model.advance(self.clock.now())

    @rule(key=keys)
    def a_key_is_forgotten(self, key: Key) -> None:
        self.model.advance(self.clock.now())
        known = self.model.known.get(key)
        if known is None:
            with pytest.raises(UnknownKeyError):
                self.stream.forget(key)
        else:
            self.stream.forget(key)
            self.model.forget(known)

    @rule()
    def everything_is_read(self) -> None:
        self.should_look = True

    # How it is done.

    def attach(self, pair: Pair, *, since: float | None) -> None:
        queue, model = pair
        takes_all = since == -math.inf
        self.stream.attach(queue, snapshot=since is not None, since=None if takes_all else since)
        self.model.attach(model, since=since, now=self.clock.now())
        self.pairs.append(pair)

    def value(self) -> object:
        self.made += 1
        return b"%d" % self.made if self.has_pool else self.made

    def enqueue(self, key: Key, value: object, offset: float | None) -> None:
        now = self.clock.now()
        time = None if offset is None else now + offset
        expected = self.model.enqueue(key, value, time, now)
        if expected is None:
            with pytest.raises(PagePoolFullError):
                self.stream.enqueue(key, value, time)
        else:
            assert self.stream.enqueue(key, value, time) is expected

    def deliver_again(self, queue: StreamQueue, model: ModelQueue, update: Update) -> None:
        # The consumer may deliver an update that was already taken as delivered.
        if not model.counts["taken_as_delivered"]:
            with pytest.raises(NotInProcessError):
                queue.deliver(update)
        with pytest.raises(NotInProcessError):
            queue.give_back(update)

    def held(self) -> list[tuple[StreamQueue, ModelQueue, Held]]:
        return [(queue, model, held) for queue, model in self.pairs for held in model.held]

    def finds_no_room(self, model: ModelQueue, held: Held) -> bool:
        if not model.hears_starts or held.known.is_forgotten or model.is_outdated(held):
            return False
        has_room = self.model.has_value(held.known) or not self.model.is_full()
        is_value = held.update.value is not TOMBSTONE
        return is_value and not has_room and not model.is_expired(held.event, self.clock.now())

    def arrivals_differ(self) -> bool:
        arrivals = [known.newest.arrival for known in self.model.known.values()]
        return len(set(arrivals)) == len(arrivals)

    # What holds.

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        if self.model.unheard_deletions():
            self.model.advance(self.clock.now())  # as the stream does when it is asked for a key
        for known in self.model.unheard_deletions():
            if self.stream._feed.find(known.key) is None:
                self.model.forget(known)
        if self.is_watched or self.should_look:
            self.should_look = False
            self.look()

    def teardown(self) -> None:
        if hasattr(self, "model"):
            self.look()

    def look(self) -> None:
        now = self.clock.now()
        self.model.advance(now)
        for queue, model in self.pairs:
            self.look_at(queue, model, now)
        self.stream._check()
        known = self.model.known
        statistics = self.stream.statistics()
        assert len(self.stream) == statistics.keys == len(known)
        assert statistics.arrived == self.model.arrived
        assert statistics.late == self.model.late
        assert statistics.rejected == self.model.rejected
        for key in KEYS:
            assert self.stream.read(key) == self.model.read(key)
        newest = [each.newest.update for each in self.model.by_last_arrival()]
        assert sorted(self.stream.snapshot(), key=repr) == sorted(newest, key=repr)
        usage = self.stream.memory_usage()
        assert usage is None or usage.locations_live == usage.locations_held == len(newest)

    def look_at(self, queue: StreamQueue, model: ModelQueue, now: float) -> None:
        queue._check()
        assert len(queue) == len(model.waiting)
        assert queue.waiting_since() == model.waiting_since()
        statistics = queue.statistics()
        counters = {name: getattr(statistics, name) for name in COUNTERS}
        expected = model.statistics()
        assert counters == expected, {
            n: (counters[n], expected[n]) for n in expected if counters[n] != expected[n]
        }
        before = self.before.get(model, counters)
        assert all(counters[name] >= before[name] for name in set(counters) - MAY_FALL)
        self.before[model] = counters
        for key in KEYS:
            assert queue.read(key) == model.read(key)
        _check_order(queue, model, now)
        _check_staleness(queue, model, now)


ORDERLESS = {ModelFifo, ModelInPlace, ModelUpdateQueue}
"""What does not depend on the order in which it takes over values that arrived at one moment."""


def _is_alike(one: Update, other: Update) -> bool:
    return one.key == other.key and one.time == other.time


def _check_order(queue: StreamQueue, model: ModelQueue, now: float) -> None:
    updates = queue.snapshot()
    following = queue.peek()
    assert following is None or model.may_be_next(following, now)
    assert (following is None) == (not model.may_be_served(now))
    groups = model.order()
    if groups is None:
        groups = [model.waiting]
    else:
        assert updates[:1] == ([] if following is None else [following])
    for group in groups:
        expected = sorted((waiting.event.update for waiting in group), key=repr)
        assert sorted(updates[: len(group)], key=repr) == expected
        del updates[: len(group)]
    assert not updates


def _check_staleness(queue: StreamQueue, model: ModelQueue, now: float) -> None:
    for key, life in model.lives.items():
        expected = life.queue_mean(now), life.application_mean(now)
        means = queue.queue_staleness(key), queue.application_staleness(key)
        assert _are_close(means, expected), (key, means, expected)
    rows = queue.key_staleness()
    assert {row.key for row in rows} == set(model.lives)
    for row in rows:
        waits = [waiting.since for waiting in model.waiting_of(row.key)]
        assert row.waiting_seconds == now - min(waits, default=now)
        assert row.queue_staleness == queue.queue_staleness(row.key)
        assert row.application_staleness == queue.application_staleness(row.key)
    means = queue.queue_staleness(), queue.application_staleness()
    assert _are_close(means, model.means(now)), (means, model.means(now))
    for key in set(KEYS) - set(model.lives):
        with pytest.raises(UnknownKeyError):
            queue.queue_staleness(key)


def _are_close(means: Sequence[float], expected: Sequence[float]) -> bool:
    """Tell whether means are equal up to rounding; pytest.approx takes ten times as long."""
    pairs = zip(means, expected, strict=True)
    return all(math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) for one, other in pairs)


class RetainingMachine(StreamMachine):
    """A stream that keeps the newest values."""


class ForgetfulMachine(StreamMachine):
    """A stream that keeps only values that wait."""

    retain = False


class PooledMachine(StreamMachine):
    """A stream with room for two values."""

    retain = False
    has_pool = True
    kinds = st.one_of(update_queues(), update_queues(), linecutting_queues(), append_queues())
    rates = RATES


class RetainingPooledMachine(PooledMachine):
    """A stream with room for two values that keeps them."""

    retain = True


class UnwatchedMachine(StreamMachine):
    """Queues that read the log late are no different from those that read it at once."""

    is_watched = False
    kinds = st.one_of(update_queues(), append_queues(), append_queues(), adaptive_queues())


class UnwatchedPooledMachine(UnwatchedMachine):
    """What falls due unseen frees its place in the pool at its time, and in its order."""

    retain = None
    has_pool = True


class LinecuttingMachine(StreamMachine):
    """Given rates and costs."""

    retain = False
    kinds = st.one_of(linecutting_queues(), linecutting_queues(), update_queues())
    rates = RATES


class PacedMachine(StreamMachine):
    """Keys that are not to be served too often, or never."""

    retain = None
    kinds = st.one_of(paced_queues(), paced_queues(), update_queues())


class PacedPooledMachine(PacedMachine):
    """The same with room for two values."""

    has_pool = True


TestRetaining = RetainingMachine.TestCase
TestForgetful = ForgetfulMachine.TestCase
TestPooled = PooledMachine.TestCase
TestRetainingPooled = RetainingPooledMachine.TestCase
TestUnwatched = UnwatchedMachine.TestCase
TestUnwatchedPooled = UnwatchedPooledMachine.TestCase
TestLinecutting = LinecuttingMachine.TestCase
TestPaced = PacedMachine.TestCase
TestPacedPooled = PacedPooledMachine.TestCase

for case in (
    TestRetaining,
    TestForgetful,
    TestPooled,
    TestRetainingPooled,
    TestUnwatched,
    TestUnwatchedPooled,
    TestLinecutting,
    TestPaced,
    TestPacedPooled,
):
    case.settings = settings(stateful_step_count=40)
del case
