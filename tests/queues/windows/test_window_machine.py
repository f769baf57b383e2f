"""A window queue does what plain lists of tuples and windows say it should.

Everything that can happen to one happens at random: tuples come late, at equal times and after
gaps, windows are ended by hand, keys are served while others become idle, and results are
delivered at once, late or never. The model (`window_model.py`) says after every step what
leaves next with which mark, what was counted, and how stale it all was on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

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
    Aggregate,
    EagerWindowBuffer,
    InPlaceScheduler,
    Key,
    LazyWindowBuffer,
    ManualClock,
    Memory,
    NaiveMemory,
    OnDemandMemory,
    Outcome,
    PagePool,
    PagePoolFullError,
    UnknownKeyError,
    Update,
    WindowMark,
    WindowNotInProcessError,
    WindowQueue,
    WindowResult,
    WindowSpecification,
    WindowTuple,
)
from upstream.windows import WindowEnd

from ..window_model import WindowModel, counters_of
from ..window_model_keys import EagerKey, LazyKey, ModelKey

KEYS = "ABC"
FAR = 1e9
"""After every window."""

SPECIFICATIONS = [
    WindowSpecification(1, 1),
    WindowSpecification(1, 1, tick=1),
    WindowSpecification(3, 3),
    WindowSpecification(3, 3, tick=1),
    WindowSpecification(3, 1),
    WindowSpecification(3, 1, tick=1),
    WindowSpecification(5, 2),
    WindowSpecification(5, 2, tick=1),
    WindowSpecification(2, 5),
    WindowSpecification(2, 5, tick=1),
    WindowSpecification(0.5, 0.25),
    WindowSpecification(0.5, 0.25, tick=0.25),
    WindowSpecification(0.75, 0.5, tick=0.125),
    WindowSpecification(0.3, 0.1),
    WindowSpecification(0.3, 0.1, tick=0.1),
]

keys = st.sampled_from(KEYS)
pauses = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0])
seconds = st.sampled_from([0.25, 1.0, 2.5, 8.0])
steps = st.sampled_from([1, 1, 1, 1, 0, 2, 3, 5, 11, -1, -3])
"""From one tuple of a key to the next, in units of the specification; back for late ones."""
runs = st.sampled_from([1, 1, 2, 3, 8])


@dataclass
class Opened:
    """A window that the operator has open."""

    mark: WindowEnd
    values: list[object] = field(default_factory=list)


class Operator:
    """What reads the marks as Table 1 of the report says, and keeps to what they promise."""

    def __init__(self) -> None:
        self.opened: dict[Key, Opened] = {}
        self.aborted: list[tuple[Key, Opened]] = []

    def process(self, leaving: WindowTuple) -> WindowResult | None:
        """Return the window that is complete with this tuple or mark."""
        update, mark, key = leaving.update, leaving.mark, leaving.key
        if isinstance(mark, WindowEnd):
            assert key not in self.opened, "a window begins before the last one is complete"
            self.opened[key] = Opened(mark)
        assert key in self.opened, "no window is open"
        opened = self.opened[key]
        if update is None:
            assert mark in {WindowMark.CLOSE, WindowMark.ABORT}
        else:
            assert isinstance(mark, WindowEnd) or mark in {WindowMark.INSIDE, WindowMark.DISALLOW}
            assert opened.mark.start <= update.time < opened.mark
            opened.values.append(update.value)
        if mark is WindowMark.ABORT:
            self.aborted.append((key, self.opened.pop(key)))
        elif update is None or update.time >= opened.mark.last:
            del self.opened[key]
            return WindowResult(key, opened.mark.start, float(opened.mark), opened.values)
        return None


class WindowMachine(RuleBasedStateMachine):
    """One window queue, whose updates are processed as they leave."""

    kind: type[ModelKey] = LazyKey
    buffer: type[LazyWindowBuffer | EagerWindowBuffer] = LazyWindowBuffer
    is_scarce = False
    """Whether tuples may be refused."""

    @initialize(
        specification=st.sampled_from(SPECIFICATIONS),
        base=st.sampled_from([-7, 0, 0, 1, 40]),
        divisor=st.sampled_from([1, 1, 2]),
        memory=st.sampled_from([OnDemandMemory, NaiveMemory]),
        block=st.sampled_from([16, 32, 64]),
    )
    def begin(
        self,
        specification: WindowSpecification,
        base: int,
        divisor: int,
        memory: type[OnDemandMemory | NaiveMemory],
        block: int,
    ) -> None:
        self.unit = (specification.tick or min(specification.size, specification.slide)) / divisor
        self.base = base * self.unit
        self.clock = ManualClock()
        self.queue = WindowQueue(
            specification,
            self.buffer,
            InPlaceScheduler(),
            clock=self.clock,
            memory=self.make_memory(memory, block),
        )
        self.model = WindowModel(self.kind, specification)
        self.aggregate = Aggregate(list)
        self.operator = Operator()
        self.results: list[tuple[ModelKey, WindowResult]] = []
        self.noted: list[tuple[ModelKey, Update, Outcome]] = []
        """What became of all tuples."""
        self.made = 0

    def make_memory(self, memory: type[OnDemandMemory | NaiveMemory], block: int) -> Memory | None:
        self.pool: PagePool | None = None
        return None

    # What happens.

    @rule(pause=seconds)
    def time_passes(self, pause: float) -> None:
        self.clock.advance(pause)

    @rule(key=keys, step=steps, pause=pauses)
    def a_tuple_comes(self, key: Key, step: int, pause: float) -> None:
        self.clock.advance(pause)
        self.enqueue(key, self.newest(key) + step * self.unit)

    @rule(key=keys, count=st.integers(2, 8), pause=pauses)
    def tuples_come_one_after_another(self, key: Key, count: int, pause: float) -> None:
        for _ in range(count):
            self.clock.advance(pause)
            self.enqueue(key, self.newest(key) + self.unit)

    @rule(key=keys, pause=pauses)
    def a_tuple_comes_with_the_time_of_the_clock(self, key: Key, pause: float) -> None:
        self.clock.advance(pause)
        self.enqueue(key, None)

    @rule(rows=st.lists(st.tuples(keys, steps), max_size=6), has_times=st.booleans(), pause=pauses)
    def a_batch_comes(self, rows: list[tuple[Key, int]], has_times: bool, pause: float) -> None:
        self.clock.advance(pause)
        names = [key for key, _ in rows]
        times = [self.newest(key) + step * self.unit for key, step in rows]
        if not has_times:
            times = [self.clock.now()] * len(rows)
        values = [self.value() for _ in rows]
        batch = self.queue.enqueue_many(names, values, times if has_times else None)
        outcomes = [
            self.note(*row, is_refused=number in batch.rejected_rows)
            for number, row in enumerate(zip(names, values, times, strict=True))
        ]
        assert batch.waiting == outcomes.count(Outcome.WAITING)
        assert batch.superseded == outcomes.count(Outcome.SUPERSEDED)
        assert batch.late == outcomes.count(Outcome.LATE)
        assert batch.outside == outcomes.count(Outcome.OUTSIDE)
        assert batch.rejected == len(batch.rejected_rows)

    @rule(count=runs, pause=pauses)
    def tuples_leave(self, count: int, pause: float) -> None:
        for _ in range(count):
            self.clock.advance(pause)
            self.dequeue()

    @rule(count=runs, pause=pauses)
    def tuples_leave_and_results_are_delivered(self, count: int, pause: float) -> None:
        for _ in range(count):
            results = len(self.results)
            self.dequeue()
            self.clock.advance(pause)
            for known, result in self.results[results:]:
                self.deliver(known, result)

    @precondition(lambda self: self.results)
    @rule(data=st.data(), pause=pauses)
    def a_result_is_delivered(self, data: st.DataObject, pause: float) -> None:
        self.clock.advance(pause)
        known, result = data.draw(st.sampled_from(self.results))
        self.deliver(known, result)
        # The consumer may deliver a result whose window was already taken as delivered.
        if not self.queue.statistics().taken_as_delivered:
            with pytest.raises(WindowNotInProcessError):
                self.queue.deliver(result)

    @rule(key=keys, step=st.sampled_from([-2, 0, 1, 2, 5]), pause=pauses)
    def windows_end(self, key: Key, step: int, pause: float) -> None:
        self.clock.advance(pause)
        self.advance(self.newest(key) + step * self.unit)

    @precondition(lambda self: self.model.keys)
    @rule(data=st.data(), pause=pauses)
    def a_key_is_forgotten(self, data: st.DataObject, pause: float) -> None:
        self.clock.advance(pause)
        self.forget(data.draw(st.sampled_from(list(self.model.keys))))

    # How it is done.

    def value(self) -> object:
        self.made += 1
        return self.made

    def newest(self, key: Key) -> float:
        """Return the time of the key's newest tuple, or about when its first may come."""
        known = self.model.keys.get(key)
        return self.base if known is None else max(each.update.time for each in known.arrivals)

    def enqueue(self, key: Key, time: float | None) -> None:
        value = self.value()
        try:
            outcome = self.queue.enqueue(key, value, time)
        except PagePoolFullError:
            outcome = Outcome.REJECTED
        time = self.clock.now() if time is None else time
        expected = self.note(key, value, time, is_refused=outcome is Outcome.REJECTED)
        assert outcome is expected, f"{outcome}, expected {expected}"

    def note(self, key: Key, value: object, time: float, *, is_refused: bool) -> Outcome:
        """Tell the model of a tuple, and whether it was refused; return its outcome."""
        assert self.is_scarce or not is_refused
        now = self.clock.now()
        outcome = self.model.enqueue(key, value, time, now, is_refused=is_refused)
        self.noted.append((self.model.keys[key], Update(key, value, time), outcome))
        return outcome

    def advance(self, time: float) -> None:
        self.queue.advance(time)
        self.model.advance(time, self.clock.now())

    def dequeue(self) -> WindowTuple | None:
        leaving = self.queue.dequeue()
        hint = None if leaving is None else leaving.key
        expected = self.model.dequeue(self.clock.now(), hint)
        assert leaving == expected
        if leaving is not None and expected is not None:
            assert leaving.key == self.model.served.key
            assert is_same(leaving.mark, expected.mark)
            self.process(leaving, self.model.served)
        return leaving

    def process(self, leaving: WindowTuple, known: ModelKey) -> None:
        opened = self.operator.opened.get(leaving.key)
        result = self.operator.process(leaving)
        assert self.aggregate.process(leaving) == result
        if result is not None:
            assert result.value == self.whole(known, result.start, result.end)
            # The window of a forgotten key that came again may have the name of another.
            self.results = [each for each in self.results if not is_of_one_window(each[1], result)]
            self.results.append((known, result))
        elif leaving.mark is WindowMark.ABORT and known.forgotten is None:
            assert opened is not None
            assert self.whole(known, opened.mark.start, opened.mark) is None

    def whole(self, known: ModelKey, start: float, end: float) -> list[object] | None:
        """Return the values in a window, None if it lacks any, without asking the model."""
        noted = [(update, outcome) for each, update, outcome in self.noted if each is known]
        inside = [each for each in noted if start <= each[0].time < end]
        if any(outcome is Outcome.REJECTED for _, outcome in inside):
            return None
        return [update.value for update, outcome in inside if outcome is not Outcome.LATE]

    def deliver(self, known: ModelKey, result: WindowResult) -> None:
        self.queue.deliver(result)
        self.results.remove((known, result))
        known.deliver(result.end, self.clock.now())

    def forget(self, key: Key) -> None:
        self.queue.forget(key)
        self.model.forget(key, self.clock.now())
        with pytest.raises(UnknownKeyError):
            self.queue.queue_staleness(key)

    def drain(self) -> None:
        while self.dequeue() is not None:
            pass

    # What holds.

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        if hasattr(self, "model"):
            self.look()

    def look(self) -> None:
        now = self.clock.now()
        self.queue._check()
        statistics = self.queue.statistics()
        assert statistics.windows.is_balanced
        assert statistics.tuples.is_balanced
        assert counters_of(statistics.windows) == self.model.window_counts()
        assert counters_of(statistics.tuples) == self.model.tuple_counts()
        assert len(self.queue) == len(self.model.waiting())
        for key, known in self.model.keys.items():
            expected = known.means(now)
            means = self.queue.queue_staleness(key), self.queue.application_staleness(key)
            assert are_close(means, expected), f"{key}: {means}, expected {expected}"
        means = self.queue.queue_staleness(), self.queue.application_staleness()
        assert are_close(means, self.model.means(now))

    def teardown(self) -> None:
        if not hasattr(self, "model"):
            return
        self.drain()
        self.advance(FAR)
        self.look()
        self.drain()
        self.look()
        statistics = self.queue.statistics()
        assert statistics.windows.held == statistics.tuples.held == len(self.queue) == 0
        assert not self.operator.opened
        for key in list(self.model.keys):
            self.forget(key)
        self.look()
        assert self.pool is None or self.pool.pages_in_use == 0


def are_close(means: tuple[float, float], expected: tuple[float, float]) -> bool:
    """Tell whether both are the same but for rounding."""
    pairs = zip(means, expected, strict=True)
    return all(math.isclose(mean, right, abs_tol=1e-9) for mean, right in pairs)


def is_of_one_window(one: WindowResult, other: WindowResult) -> bool:
    """Tell whether a queue cannot tell two results apart."""
    return (one.key, one.end) == (other.key, other.end)


def is_same(mark: WindowMark | float, expected: WindowMark | float) -> bool:
    """Tell whether two marks are of the same kind and window, the number -1 no `INSIDE`."""
    if isinstance(mark, WindowEnd) and isinstance(expected, WindowEnd):
        return (mark, mark.start, mark.last) == (expected, expected.start, expected.last)
    return type(mark) is type(expected) and mark == expected


class EagerMachine(WindowMachine):
    """Windows are committed as soon as they start."""

    kind = EagerKey
    buffer = EagerWindowBuffer


class PooledMachine(WindowMachine):
    """With bytes in a pool that has room for everything, nothing is different."""

    pool_bytes = 1 << 16

    def make_memory(self, memory: type[OnDemandMemory | NaiveMemory], block: int) -> Memory | None:
        self.pool = PagePool(self.pool_bytes, page_bytes=64)
        return memory(self.pool, location_bytes=block)

    def value(self) -> object:
        self.made += 1
        return b"%d" % self.made + b"." * (self.made % 5 * 12)


class EagerPooledMachine(PooledMachine):
    """The same with windows that are committed as soon as they start."""

    kind = EagerKey
    buffer = EagerWindowBuffer


class ScarceMachine(PooledMachine):
    """With too little room tuples are refused, and no window is handed out with a hole."""

    is_scarce = True
    pool_bytes = 256


class EagerScarceMachine(ScarceMachine):
    """The same with windows that are aborted if they were committed."""

    kind = EagerKey
    buffer = EagerWindowBuffer


TestLazy = WindowMachine.TestCase
TestEager = EagerMachine.TestCase
TestPooled = PooledMachine.TestCase
TestEagerPooled = EagerPooledMachine.TestCase
TestScarce = ScarceMachine.TestCase
TestEagerScarce = EagerScarceMachine.TestCase

for case in (TestLazy, TestEager, TestPooled, TestEagerPooled, TestScarce, TestEagerScarce):
    case.settings = settings(stateful_step_count=50)
del case


# What these machines have found, so that it is looked for every time.


def make_queue(
    buffer: type[LazyWindowBuffer | EagerWindowBuffer], specification: WindowSpecification
) -> WindowQueue:
    return WindowQueue(specification, buffer, InPlaceScheduler(), clock=ManualClock())


def leave(queue: WindowQueue) -> tuple[Key, float | None] | None:
    """Return whose tuple leaves, and its time; None instead of it for a bare mark."""
    leaving = queue.dequeue()
    return None if leaving is None else (leaving.key, getattr(leaving.update, "time", None))


def test_a_tuple_that_closes_two_windows_replaces_none_that_waited() -> None:
    queue = make_queue(LazyWindowBuffer, WindowSpecification(3, 3, tick=1))
    queue.enqueue("A", 1, time=0)
    assert queue.enqueue("A", 2, time=5) is Outcome.WAITING, "it closes [0, 3) and [3, 6)"
    assert queue.statistics().windows.superseded == 1


def test_a_tuple_in_the_last_tick_of_two_windows_by_rounding_closes_both() -> None:
    queue = make_queue(LazyWindowBuffer, WindowSpecification(0.3, 0.1, tick=0.1))
    queue.enqueue("A", 1, time=1.0)
    queue.enqueue("A", 2, time=1.5)
    ends = [(end, end - 0.1) for end in (12 * 0.1 + 0.3, 13 * 0.1 + 0.3)]
    assert all(last <= 1.5 < end for end, last in ends)
    assert queue.statistics().windows.superseded == 2


def test_an_idle_key_goes_on_after_older_windows_of_it_were_ended() -> None:
    # source time  0  1  2  3  4  5  6
    # superseded  [B        |  )|
    # committed             [B  |  B    )   idle after the first, and again READY with the second
    # advance                   |
    queue = make_queue(EagerWindowBuffer, WindowSpecification(4, 3))
    queue.enqueue("B", 1, time=0)
    queue.enqueue("B", 2, time=3)
    assert [leave(queue), leave(queue)] == [("B", 3), None]
    queue.advance(4)
    queue.enqueue("B", 3, time=5)
    assert leave(queue) == ("B", 5)


def test_a_key_that_was_idle_when_its_turn_came_keeps_its_order_among_equal_waits() -> None:
    queue = make_queue(EagerWindowBuffer, WindowSpecification(5, 2))
    queue.enqueue("B", 1, time=0)
    assert [leave(queue), leave(queue)] == [("B", 0), None]
    queue.enqueue("B", 2, time=3)  # from here on B waits
    assert [leave(queue), leave(queue)] == [("B", 3), None], "the turn of B came, and passed"
    queue.enqueue("A", 3, time=-12)  # and A as long, but after it
    queue.enqueue("B", 4, time=5)
    assert [leave(queue) for _ in range(3)] == [("B", None), ("B", 5), ("A", -12)]


def test_keys_that_were_idle_when_their_turns_came_keep_their_order_between_them() -> None:
    queue = make_queue(EagerWindowBuffer, WindowSpecification(3, 1))
    for key, time in (("A", 0), ("B", 10)):
        queue.enqueue(key, 1, time=time)
        assert [leave(queue), leave(queue)] == [(key, time), None]
    for key, time in (("A", 1), ("B", 11)):  # from here on A waits, and then B
        queue.enqueue(key, 2, time=time)
    assert [leave(queue) for _ in range(3)] == [("A", 1), ("B", 11), None]
    queue.advance(100)
    assert {leave(queue), leave(queue)} == {("A", None), ("B", None)}, "in either order"
    assert leave(queue) == ("A", 1)
