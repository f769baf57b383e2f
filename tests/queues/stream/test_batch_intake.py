"""A batch gives what its rows would give one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream import (
    TOMBSTONE,
    InPlaceScheduler,
    ManualClock,
    OnDemandMemory,
    PagePool,
    StalenessIndexScheduler,
    UpdateQueue,
)
from upstream.columns import Column
from upstream.queues import BatchOutcome

from ..batches import BYTES_VALUES, INTEGER_KEYS, STRING_KEYS, TIMES, VALUES, ColumnOf
from ..systems import SCHEDULERS, Setup, System

# What happens to a system.


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
    lambda setup: replace(setup, is_shared=False)
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


def test_a_key_that_finds_the_pool_full_keeps_its_weight_for_the_rows_that_follow() -> None:
    clock = ManualClock()
    queue = UpdateQueue(
        StalenessIndexScheduler(weight={"A": 1.0, "B": 9.0}),
        clock=clock,
        memory=OnDemandMemory(PagePool(8, page_bytes=8, location_bytes=8)),
    )
    outcome = queue.enqueue_many(["A", "B", "B"], [b"full", b"no room", TOMBSTONE], [1, 2, 3])
    assert outcome == BatchOutcome(2, 0, 0, 1, rejected_rows=(1,))
    clock.advance(1.0)
    assert [update.key for update in queue.dequeue_many(2)] == ["B", "A"]


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
