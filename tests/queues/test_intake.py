"""A batch gives what its rows would give one by one, and a bad batch gives nothing at all."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream import (
    TOMBSTONE,
    FifoScheduler,
    InPlaceScheduler,
    Key,
    LinecuttingScheduler,
    ManualClock,
    Outcome,
    Scheduler,
    StalenessIndexScheduler,
    Stream,
    Update,
    UpdateQueue,
)
from upstream.errors import (
    ColumnLengthError,
    ColumnTypeError,
    KeyNotHashableError,
    PagePoolFullError,
    TimeNotFiniteError,
    UpStreamError,
    ValueNotEncodableError,
    ValueTooLargeError,
    WeightError,
)
from upstream.memory import OnDemandMemory, PagePool
from upstream.queues import AppendQueue, BatchOutcome, StreamQueue
from upstream.queues.columns import Column
from upstream.statistics import QueueStatistics, StreamStatistics

from .batches import BYTES_VALUES, INTEGER_KEYS, STRING_KEYS, TIMES, VALUES, ColumnOf, object_array

# How queues are made: the same choices twice, for the batches and for the rows one by one.


def rank_of(key: Key) -> int:
    """Return a small number that is the same for 1 and 1.0, which are one key."""
    return len(key) % 5 if isinstance(key, str) else hash(key) % 5


def priority_of(key: Key) -> float:
    return 0.5 * rank_of(key)


def rate_of(key: Key) -> float:
    return 0.1 * rank_of(key) ** 2


SCHEDULERS: dict[str, Callable[[], Scheduler]] = {
    "fifo": FifoScheduler,
    "in-place": InPlaceScheduler,
    "linecutting": LinecuttingScheduler,
    "index": StalenessIndexScheduler,
    "index with weights": lambda: StalenessIndexScheduler(longest_wait=5, weight=priority_of),
}


@dataclass(frozen=True)
class Setup:
    """What a stream and its queues are like."""

    kinds: tuple[str, ...]
    is_shared: bool
    retain: bool
    capacity: int | None
    time_to_live: float | None
    has_pool: bool
    has_given_rates: bool
    processing_cost: float | None

    def make(self) -> System:
        clock = ManualClock()
        memory = (
            OnDemandMemory(PagePool(48, page_bytes=16, location_bytes=8)) if self.has_pool else None
        )
        rates = rate_of if self.has_given_rates else None
        if not self.is_shared:
            own = UpdateQueue(
                SCHEDULERS[self.kinds[0]](),
                clock=clock,
                capacity=self.capacity,
                time_to_live=self.time_to_live,
                memory=memory,
                rates=rates,
                processing_cost=self.processing_cost,
            )
            return System(clock, own.stream, [own])
        stream = Stream(clock=clock, retain=self.retain, memory=memory, rates=rates)
        queues = [self._queue(kind) for kind in self.kinds]
        for queue in queues:
            stream.attach(queue)
        return System(clock, stream, queues)

    def _queue(self, kind: str) -> StreamQueue:
        if kind == "append":
            return AppendQueue(capacity=self.capacity, time_to_live=self.time_to_live)
        return UpdateQueue(
            SCHEDULERS[kind](),
            capacity=self.capacity,
            time_to_live=self.time_to_live,
            processing_cost=self.processing_cost,
        )


@dataclass
class System:
    """A stream with its queues, and what they have handed out."""

    clock: ManualClock
    stream: Stream
    queues: list[StreamQueue]
    in_process: list[tuple[StreamQueue, Update]] = field(default_factory=list)

    def enqueue_singly(
        self, keys: Sequence[object], values: Sequence[object], times: Sequence[object] | None
    ) -> BatchOutcome:
        outcomes = []
        for row, (key, value) in enumerate(zip(keys, values, strict=True)):
            time = None if times is None else times[row]
            assert time is None or isinstance(time, (int, float))
            try:
                outcomes.append(self.stream.enqueue(key, value, time))
            except PagePoolFullError:
                outcomes.append(Outcome.REJECTED)
        counts = Counter(outcomes)
        return BatchOutcome(
            counts[Outcome.WAITING],
            counts[Outcome.SUPERSEDED],
            counts[Outcome.LATE],
            counts[Outcome.REJECTED],
            tuple(row for row, outcome in enumerate(outcomes) if outcome is Outcome.REJECTED),
        )

    def dequeue(self, limit: int) -> list[Update]:
        taken = [(queue, update) for queue in self.queues for update in queue.dequeue_many(limit)]
        self.in_process += taken
        return [update for _, update in taken]

    def deliver(self, which: int) -> None:
        if self.in_process:
            queue, update = self.in_process.pop(which % len(self.in_process))
            queue.deliver(update)

    def give_back(self, which: int) -> str:
        if not self.in_process:
            return "nothing"
        queue, update = self.in_process[which % len(self.in_process)]
        try:
            queue.give_back(update)
        except PagePoolFullError:
            return "no room"
        self.in_process.remove((queue, update))
        return "returned"

    def forget(self, key: Key) -> None:
        if self.stream.find(key) is not None:
            self.stream.forget(key)

    def state(self) -> State:
        return State(
            self.stream.statistics(),
            tuple(queue.statistics() for queue in self.queues),
            tuple(tuple(queue.snapshot()) for queue in self.queues),
            tuple(queue.peek() for queue in self.queues),
            tuple(self.stream.snapshot()),
            tuple(queue.queue_staleness() for queue in self.queues),
            tuple(queue.application_staleness() for queue in self.queues),
            str(self.stream.memory_usage()),
        )

    def check(self) -> None:
        self.stream._check()
        for queue in self.queues:
            queue._check()


@dataclass(frozen=True)
class State:
    """All that can be seen of a stream and its queues from outside."""

    stream: StreamStatistics
    queues: tuple[QueueStatistics, ...]
    waiting: tuple[tuple[Update, ...], ...]
    next: tuple[Update | None, ...]
    newest: tuple[Update, ...]
    queue_staleness: tuple[float, ...]
    application_staleness: tuple[float, ...]
    memory: str


# What happens to them.


@dataclass(frozen=True)
class Batch:
    """Rows of a key and a time, and the kinds of columns that they come in."""

    rows: tuple[tuple[int, int], ...]
    key_column: int
    value_column: int
    time_column: int
    deletes: bool

    def apply(self, batched: System, single: System, *, keys: str, has_pool: bool) -> None:
        names: list[object] = [
            key if keys == "integers" else "k" * (key + 1) for key, _ in self.rows
        ]
        values = self._values(batched.stream.statistics().arrived, has_pool=has_pool)
        times: list[object] | None = [time for _, time in self.rows]
        key_column = _pick(INTEGER_KEYS if keys == "integers" else STRING_KEYS, self.key_column)
        time_column: Column | None = None
        if self.time_column < 0:
            times = None
        else:
            time_column = _pick(TIMES, self.time_column)([time for _, time in self.rows])
        value_column = list if TOMBSTONE in values else self._value_column(has_pool=has_pool)
        outcome = batched.stream.enqueue_many(key_column(names), value_column(values), time_column)
        assert outcome == single.enqueue_singly(names, values, times)

    def _values(self, start: int, *, has_pool: bool) -> list[object]:
        numbers = range(start, start + len(self.rows))
        values: list[object] = list(numbers)
        if has_pool:
            values = [str(number).encode() * (1 + number * 7 % 5) for number in numbers]
        if self.deletes and values:
            values[-1] = TOMBSTONE
        return values

    def _value_column(self, *, has_pool: bool) -> ColumnOf:
        return _pick(BYTES_VALUES if has_pool else VALUES, self.value_column)


def _pick(columns: dict[str, ColumnOf], number: int) -> ColumnOf:
    return list(columns.values())[number % len(columns)]


Step = Batch | tuple[str, int]

any_column = st.integers(0, 100)
few_keys = st.integers(0, 3)
many_keys = st.integers(0, 30)


def rows_of(key: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[tuple[int, int], ...]]:
    return st.lists(st.tuples(key, st.integers(0, 12)), max_size=25).map(tuple)


batches: st.SearchStrategy[Step] = st.builds(
    Batch,
    rows=st.one_of(rows_of(few_keys), rows_of(many_keys)),
    key_column=any_column,
    value_column=any_column,
    time_column=st.integers(-30, 100),
    deletes=st.integers(0, 5).map(lambda number: number == 0),
)
others: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.sampled_from(["dequeue", "deliver", "give back", "forget"]), st.integers(0, 6)),
    st.tuples(st.just("advance"), st.integers(1, 3)),
)
kinds = st.sampled_from([*SCHEDULERS, "append"])
setups = st.builds(
    Setup,
    kinds=st.one_of(
        st.sampled_from(list(SCHEDULERS)).map(lambda kind: (kind,)), st.tuples(kinds, kinds)
    ),
    is_shared=st.just(True),
    retain=st.booleans(),
    capacity=st.one_of(st.none(), st.none(), st.integers(1, 5)),
    time_to_live=st.one_of(st.none(), st.none(), st.just(3.0)),
    has_pool=st.integers(0, 3).map(lambda number: number == 0),
    has_given_rates=st.booleans(),
    processing_cost=st.sampled_from([None, 0.5]),
)
own_setups = setups.filter(lambda setup: len(setup.kinds) == 1).map(
    lambda setup: Setup(**{**setup.__dict__, "is_shared": False})
)


def take(step: tuple[str, int], batched: System, single: System) -> None:
    action, number = step
    if action == "dequeue":
        assert batched.dequeue(number) == single.dequeue(number)
    elif action == "give back":
        assert batched.give_back(number) == single.give_back(number)
    else:
        for system in (batched, single):
            if action == "deliver":
                system.deliver(number)
            elif action == "forget":
                system.forget(number if number % 2 else "k" * number)
            else:
                system.clock.advance(number)


@settings(max_examples=250)
@given(
    st.one_of(setups, own_setups),
    st.sampled_from(["strings", "integers"]),
    st.lists(st.one_of(batches, others), min_size=1, max_size=14),
)
def test_a_batch_gives_what_its_rows_give_one_by_one(
    setup: Setup, keys: str, steps: list[Step]
) -> None:
    batched, single = setup.make(), setup.make()
    for step in steps:
        if isinstance(step, Batch):
            step.apply(batched, single, keys=keys, has_pool=setup.has_pool)
        else:
            take(step, batched, single)
        assert batched.state() == single.state()
        batched.check()
    for _ in range(40):
        for system in (batched, single):
            system.clock.advance(0.25)
        assert batched.dequeue(1) == single.dequeue(1)
    assert batched.state() == single.state()


@pytest.mark.parametrize("policy", SCHEDULERS)
@pytest.mark.parametrize("disorder", [0, 2_000])
def test_a_long_batch_gives_what_its_rows_give_one_by_one(policy: str, disorder: int) -> None:
    setup = Setup((policy,), False, False, None, None, False, True, 0.5)
    batched, single = setup.make(), setup.make()
    random = np.random.default_rng(disorder)
    names = [f"key {number}" for number in range(700)]
    for start in (0, 20_000):
        codes = random.zipf(1.3, 20_000) % len(names)
        times = start + np.arange(20_000)
        late = random.choice(20_000, disorder // 2, replace=False)
        times[late] -= random.integers(0, 4_000, len(late))
        keys = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names))
        outcome = batched.stream.enqueue_many(keys, times, pa.array(times, type=pa.timestamp("s")))
        rows = times.tolist()
        assert outcome == single.enqueue_singly(keys.to_pylist(), rows, rows)
        assert (outcome.late > 0) is (disorder > 0)
        assert batched.dequeue(200) == single.dequeue(200)
        batched.clock.advance(9)
        single.clock.advance(9)
    assert batched.state() == single.state()
    assert batched.dequeue(1_000) == single.dequeue(1_000)


@pytest.mark.parametrize(
    "keys",
    [
        ["A", "B", "A", "C", "B"],
        np.array(["A", "B", "A", "C", "B"]),
        pa.array(["A", "B", "A", "C", "B"]).dictionary_encode(),
    ],
)
def test_the_outcome_of_a_batch_counts_its_rows(keys: Column) -> None:
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
    queue.enqueue("B", 0, time=1.5)
    outcome = queue.enqueue_many(keys, [1, 2, 3, 4, 5], [1, 1, 2, 2, 3])
    assert outcome == BatchOutcome(waiting=2, superseded=2, late=1, rejected=0)
    assert queue.dequeue_many(9) == [("B", 5, 3), ("A", 3, 2), ("C", 4, 2)]


def test_with_capacity_two_the_rows_of_a_third_key_are_rejected_and_named() -> None:
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock(), capacity=2)
    outcome = queue.enqueue_many(["A", "C", "B", "C", "A", "D"], range(6), range(6))
    assert outcome == BatchOutcome(2, 2, 0, 2, rejected_rows=(2, 5))
    assert queue.enqueue_many(["E", "A"], [7, 8], [9, 9]).rejected_rows == (0,)
    assert queue.dequeue_many(9) == [("A", 8, 9), ("C", 3, 3)]


def test_a_batch_without_times_takes_the_clock() -> None:
    clock = ManualClock(7.0)
    queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    queue.enqueue_many(pa.array(["A", "B"]).dictionary_encode(), [1, 2])
    assert [update.time for update in queue.dequeue_many(2)] == [7.0, 7.0]


def test_an_empty_batch_changes_nothing() -> None:
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
    columns: list[Column] = [[], np.array([], dtype=str), pa.array([], type=pa.string())]
    for empty in columns:
        assert queue.enqueue_many(empty, [], []) == BatchOutcome(0, 0, 0, 0)
    assert queue.statistics().arrived == 0


# Bad input.


def used_system(setup: Setup) -> System:
    """Return a system in which keys A to C have arrived, and A was dequeued."""
    system = setup.make()
    for key, value in (("A", b"1"), ("B", b"2"), ("C", b"3")):
        system.clock.advance(1)
        system.stream.enqueue(key, value, 10.0)
    system.dequeue(1)
    system.clock.advance(1)
    return system


def assert_refused(
    error: type[UpStreamError],
    keys: object,
    values: object,
    times: object,
    *,
    has_pool: bool = False,
    row: int | None = None,
) -> None:
    """Assert that a batch raises `error`, and that nothing can be seen of it afterwards."""
    for policies in (("fifo",), ("in-place",), ("index with weights", "linecutting")):
        is_shared = len(policies) > 1
        setup = Setup(policies, is_shared, False, None, None, has_pool, False, None)
        system, untouched = used_system(setup), used_system(setup)
        with pytest.raises(error) as raised:
            system.stream.enqueue_many(keys, values, times)  # type: ignore[arg-type]
        if row is not None:
            assert getattr(raised.value, "row", None) == row
        assert system.state() == untouched.state()
        assert len(system.stream) == len(untouched.stream) == 3
        system.check()
        assert system.dequeue(9) == untouched.dequeue(9)


NAN = math.nan


@pytest.mark.parametrize(
    "keys",
    [
        ["A", [], "D"],
        ["A", NAN, "D"],
        ["A", ("B", {}), "D"],
        [1.0, NAN, 2.0],
        np.array([1.0, NAN, 2.0]),
        pa.array([1.0, NAN, 2.0]),
        pa.array([2.0, NAN, 2.0]).dictionary_encode(),
        pa.array([[1], [2], [3]]),
        pa.array([{"a": 1}] * 3),
    ],
)
def test_a_key_that_cannot_be_looked_up_is_refused(keys: object) -> None:
    first = 0 if isinstance(keys, pa.Array) and pa.types.is_nested(keys.type) else 1
    assert_refused(KeyNotHashableError, keys, [1, 2, 3], [1, 2, 3], row=first)


@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf, None, "1", 10**400, 1j, b"1", [1]])
@pytest.mark.parametrize("column", ["list", "tuple", "objects"])
@pytest.mark.parametrize(
    "keys", [["A", "D", "E"], pa.array(["A", "D", "E"])], ids=["list", "Arrow"]
)
def test_a_time_that_is_not_a_finite_number_is_refused(
    keys: object, column: str, bad: object, row: int
) -> None:
    times: list[object] = [20.0, 21, 22.0]
    times[row] = bad
    kinds: dict[str, ColumnOf] = {"list": list, "tuple": tuple, "objects": object_array}
    assert_refused(TimeNotFiniteError, keys, [1, 2, 3], kinds[column](times), row=row)


@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf])
@pytest.mark.parametrize("make", [np.array, pa.array])
def test_a_float_that_is_not_finite_is_refused_in_any_array(
    make: Callable[[list[float]], object], bad: float
) -> None:
    assert_refused(TimeNotFiniteError, ["A", "D"], [1, 2], make([20.0, bad]), row=1)


def test_integers_that_no_float_can_hold_are_refused_even_if_their_sum_is_zero() -> None:
    assert_refused(TimeNotFiniteError, ["A", "D"], [1, 2], [10**400, -(10**400)], row=0)


def test_a_missing_timestamp_is_refused() -> None:
    times = np.array(["2026-01-01", "NaT"], dtype="datetime64[ms]")
    assert_refused(TimeNotFiniteError, ["A", "D"], [1, 2], times, row=1)


@pytest.mark.parametrize(
    ("keys", "values", "times"),
    [
        (["A", "B"], [1], [1, 2]),
        (["A", "B"], [1, 2], [1]),
        (["A"], [1, 2], [1, 2]),
        (np.array(["A", "B"]), np.array([1]), None),
        (pa.array(["A"]), pa.array([1, 2]), pa.array([1.0, 2.0])),
        ([], [1], []),
    ],
)
def test_columns_of_different_lengths_are_refused(
    keys: object, values: object, times: object
) -> None:
    assert_refused(ColumnLengthError, keys, values, times)


NO_COLUMNS: list[object] = [
    "AB",
    b"AB",
    bytearray(b"AB"),
    {"A": 1, "B": 2},
    {"A", "B"},
    frozenset("AB"),
    7,
    iter(["A", "B"]),
    np.array([["A"], ["B"]]),
    np.array("AB"),
    np.ma.array([1, 2], mask=[False, True]),
    pa.scalar("AB"),
    pa.table({"a": ["A", "B"]}),
    pa.record_batch({"a": ["A", "B"]}),
]


@pytest.mark.parametrize("column", NO_COLUMNS, ids=lambda column: type(column).__name__)
@pytest.mark.parametrize("keys", [["A", "B"], pa.array(["A", "B"])], ids=["list", "Arrow"])
def test_what_is_no_column_is_refused_wherever_it_stands(keys: object, column: object) -> None:
    assert_refused(ColumnTypeError, column, [1, 2], [1, 2])
    assert_refused(ColumnTypeError, keys, column, [1, 2])
    assert_refused(ColumnTypeError, keys, [1, 2], column)


def test_none_is_no_column_of_keys_or_values() -> None:
    assert_refused(ColumnTypeError, None, [1, 2], [1, 2])
    assert_refused(ColumnTypeError, ["A", "B"], None, [1, 2])


@pytest.mark.parametrize(
    "keys",
    [
        pa.array(["A", None]),
        pa.array(["A", None]).dictionary_encode(),
        pa.array([1, None]),
        pa.array([1.0, None]),
        pa.nulls(2),
        pa.chunked_array([["A"], [None]]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["A", None])),
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), pa.array(["A", None])),
    ],
)
def test_a_null_among_arrow_keys_is_refused(keys: object) -> None:
    assert_refused(ColumnTypeError, keys, [1, 2], [1, 2])


@pytest.mark.parametrize(
    "times",
    [
        pa.array([1.0, None]),
        pa.array([1, None], type=pa.timestamp("us")),
        pa.chunked_array([[1.0], [None]]),
        pa.array([1, 2], type=pa.date32()),
        pa.array([1, 2], type=pa.duration("s")),
        pa.array([True, False]),
        np.array([True, False]),
        np.array(["1", "2"]),
        np.array([1j, 2]),
        np.array([1, 2], dtype="timedelta64[s]"),
    ],
)
def test_an_array_of_what_are_no_times_is_refused(times: object) -> None:
    assert_refused(ColumnTypeError, ["A", "D"], [1, 2], times)
    assert_refused(ColumnTypeError, pa.array(["A", "D"]), [1, 2], times)


def test_values_that_python_cannot_hold_are_refused() -> None:
    values = pa.array([1, 2], type=pa.timestamp("ns"))
    assert_refused(ColumnTypeError, ["A", "D"], values, [20, 20])
    assert_refused(ColumnTypeError, pa.array(["A", "D"]), values, [20, 20])


def test_a_value_that_cannot_be_encoded_is_refused() -> None:
    values = [b"x", "text", b"y"]
    assert_refused(ValueNotEncodableError, ["D", "A", "E"], values, None, has_pool=True, row=1)


def test_a_value_that_can_never_fit_the_pool_is_refused() -> None:
    values = [b"x", b"y" * 49, b"z"]
    assert_refused(ValueTooLargeError, ["D", "A", "E"], values, None, has_pool=True)


@pytest.mark.parametrize("make", [list, np.array, pa.array])
def test_a_key_whose_weight_is_negative_is_refused(make: ColumnOf) -> None:
    def weight(key: Key) -> float:
        return -1.0 if key == "D" else 1.0

    queues = [
        UpdateQueue(StalenessIndexScheduler(weight=weight), clock=ManualClock()) for _ in range(2)
    ]
    systems = [System(ManualClock(), queue.stream, [queue]) for queue in queues]
    for queue in queues:
        queue.enqueue_many(["A", "B"], [1, 2], [1, 1])
    with pytest.raises(WeightError):
        queues[0].enqueue_many(make(["B", "C", "D", "E"]), [3, 4, 5, 6], [2, 2, 2, 2])
    assert systems[0].state() == systems[1].state()
    assert queues[0].dequeue_many(9) == queues[1].dequeue_many(9)


def test_keys_that_no_row_has_are_neither_known_nor_asked_for_their_weight() -> None:
    asked: list[Key] = []

    def weight(key: Key) -> float:
        asked.append(key)
        return 1.0

    queue = UpdateQueue(StalenessIndexScheduler(weight=weight), clock=ManualClock())
    for keys in (["A", "B", "C"], ["A", "B", "C", None, "D", "E", "F"]):
        column = pa.DictionaryArray.from_arrays(pa.array([1, 1, 1]), pa.array(keys))
        queue.enqueue_many(column, [1, 2, 3])
    assert set(asked) == {"B"}
    assert len(queue) == len(queue.stream) == 1
