"""A bucket means what an update queue means: both are fed the same, and have to agree on all."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import TOMBSTONE, ManualClock, UpdateQueue, make_scheduler
from upstream.spark.conflation.block_store import DictBlockStore
from upstream.spark.conflation.bucket_queue import (
    MOST_OUT_OF_DATE,
    POLICIES,
    BucketQueue,
    ConflatedRow,
    Served,
)
from upstream.spark.conflation.key_pages import KEYS_PER_PAGE
from upstream.spark.conflation.metrics import ConflationMetrics
from upstream.spark.conflation.waiting_lines import SEGMENT

TICK = 125
"""Milliseconds between triggers: an eighth of a second, which floats have exactly."""


@dataclass(frozen=True)
class Arrival:
    key: str
    time: float
    is_deletion: bool = False


@dataclass(frozen=True)
class Trigger:
    arrivals: Sequence[Arrival]
    budget: int | None
    ticks: int = 1
    parts: int = 1


def conflated(arrivals: Sequence[Arrival], parts: int, first_number: int) -> list[ConflatedRow]:
    """Conflate the parts of a micro-batch each for itself, as Python reads: row by row."""
    rows: list[ConflatedRow] = []
    for part in range(parts):
        start, stop = (len(arrivals) * edge // parts for edge in (part, part + 1))
        newest: dict[str, ConflatedRow] = {}
        for position, arrival in enumerate(arrivals[start:stop]):
            payload = (arrival.key, arrival.time, first_number + start + position)
            row = newest.get(arrival.key)
            if row is not None and arrival.time < row.times[-1]:
                newest[arrival.key] = row._replace(late=row.late + 1)
                continue
            newest[arrival.key] = ConflatedRow(
                key_hash=stable_hash(arrival.key),
                key=arrival.key,
                payload=payload,
                times=[*(row.times if row else []), arrival.time],
                positions=[*(row.positions if row else []), position],
                partition=part,
                late=row.late if row else 0,
                is_deletion=arrival.is_deletion,
            )
        rows += newest.values()
    return rows


def stable_hash(key: str) -> int:
    return int(key) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFF


@dataclass
class Bucket:
    """A bucket that is made anew from its store for each trigger, as Spark does."""

    policy: str
    store: DictBlockStore = field(default_factory=DictBlockStore)
    state: bytes | None = None

    def trigger(
        self, rows: Sequence[ConflatedRow], budget: int | None, now: int
    ) -> tuple[list[Served], ConflationMetrics]:
        queue = BucketQueue(self.store, policy=self.policy, state=self.state)
        queue.take_in(rows, now=now)
        served = list(queue.serve(budget, now=now))
        self.state = queue.save()
        return served, queue.counts(now)


def compare(policy: str, triggers: Sequence[Trigger]) -> None:
    """Feed a bucket and a queue of the library the same, and compare all that can be seen."""
    clock = ManualClock()
    queue = UpdateQueue(make_scheduler(policy), clock=clock)
    bucket = Bucket(policy)
    now = 0
    number = 0
    for trigger in triggers:
        now += trigger.ticks * TICK
        clock.advance(trigger.ticks * TICK / 1000)
        rows = conflated(trigger.arrivals, trigger.parts, number)
        served, counts = bucket.trigger(rows, trigger.budget, now)
        for arrival in trigger.arrivals:
            value = TOMBSTONE if arrival.is_deletion else number
            queue.enqueue(arrival.key, value, time=arrival.time)
            number += 1
        most = len(queue) if trigger.budget is None else min(trigger.budget, len(queue))
        assert len(served) == most
        for ours in served:
            update = queue.dequeue()
            assert update is not None
            key, time, its_number = ours.payload
            assert (key, time) == (update.key, update.time)
            assert update.value in {TOMBSTONE, its_number}
            mean = queue.queue_staleness(str(key))
            assert ours.mean_staleness_seconds == pytest.approx(mean, rel=1e-12)
            queue.deliver(update)
        statistics = queue.statistics()
        for name in ("arrived", "dequeued", "superseded", "late", "waiting", "keys", "forgotten"):
            assert getattr(counts, name) == getattr(statistics, name), name


keys = st.integers(0, 30).map(str)
arrivals = st.builds(
    Arrival, keys, st.integers(0, 40).map(float), st.sampled_from([False] * 9 + [True])
)
triggers = st.lists(
    st.builds(
        Trigger,
        st.lists(arrivals, max_size=40),
        st.one_of(st.none(), st.integers(0, 12)),
        st.integers(1, 20),
        st.integers(1, 3),
    ),
    max_size=25,
)


@pytest.mark.parametrize("policy", POLICIES)
@given(triggers=triggers)
def test_a_bucket_behaves_like_an_update_queue(policy: str, triggers: list[Trigger]) -> None:
    compare(policy, triggers)


def skewed_triggers(*, keys: int, updates: int, budget: int, count: int) -> list[Trigger]:
    """Return triggers with a tenth of the updates out of order, and keys of unequal rates."""
    random = Random(5)
    shares = [1 / (rank + 1) for rank in range(keys)]
    found = []
    for number in range(count):
        drawn = random.choices(range(keys), shares, k=updates)
        times = [number + random.choice([0.0] * 9 + [-3.0]) for _ in drawn]
        rows = [Arrival(str(key), time) for key, time in zip(drawn, times, strict=True)]
        found.append(Trigger(rows, budget, random.randint(1, 9), parts=3))
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_a_bucket_of_many_pages_and_segments_behaves_like_an_update_queue(policy: str) -> None:
    keys = 12 * SEGMENT // 4
    assert keys > 20 * KEYS_PER_PAGE
    found = skewed_triggers(keys=keys, updates=900, budget=70, count=40)
    compare(policy, [*found, Trigger([], None)])


def test_outdated_entries_of_a_line_are_removed() -> None:
    bucket = Bucket("fifo")
    cold = [ConflatedRow.of(str(key), key, time=0.0, position=key) for key in range(600)]
    bucket.trigger(cold, 1, TICK)
    for number in range(2, 40):
        hot = [
            ConflatedRow.of(str(key), number, time=float(number), position=key)
            for key in range(600, 700)
        ]
        bucket.trigger(hot, 1, number * TICK)
    segments = [block for (line, _), block in bucket.store.blocks.items() if line]
    entries = sum(len(pickle.loads(block)) for block in segments)  # noqa: S301 - made above
    assert entries <= 2 * 700 + MOST_OUT_OF_DATE + 100
    served, counts = bucket.trigger([], None, 40 * TICK)
    assert [update.payload[0] for update in served[-100:]] == [39] * 100
    assert counts.waiting == 0


@pytest.mark.parametrize("keys", [1_000, 20_000])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_cost_of_a_trigger_depends_on_the_changed_keys_only(policy: str, keys: int) -> None:
    changed, budget, triggers = 10, 10, 10
    bucket = Bucket(policy)
    bucket.trigger([single(key, 0.0) for key in range(keys)], budget, TICK)
    bucket.store.calls = 0
    for number in range(2, 2 + triggers):
        rows = [single(key * 100, number) for key in range(changed)]
        bucket.trigger(rows, budget, number * TICK)
    a_page_read_and_written_for_each = 2 * (changed + budget)
    segments = 6
    assert bucket.store.calls <= triggers * (a_page_read_and_written_for_each + segments)


def single(key: int, time: float) -> ConflatedRow:
    return ConflatedRow(stable_hash(str(key)), str(key), (key,), (time,), (key,))


def test_of_equal_times_the_later_arrival_is_the_newest() -> None:
    bucket = Bucket("in-place")
    first = ConflatedRow.of("IBM", "first", time=1.0)
    later = ConflatedRow.of("IBM", "later", time=1.0)
    served, counts = bucket.trigger([first, later], None, TICK)
    assert [update.payload for update in served] == [("later",)]
    assert counts.superseded == 1


def test_rejected_rows_are_only_counted() -> None:
    bucket = Bucket("index")
    row = ConflatedRow(0, None, (), (), (), rejected=7)
    served, counts = bucket.trigger([row], None, TICK)
    assert served == []
    assert (counts.arrived, counts.rejected, counts.keys) == (7, 7, 0)


def test_a_row_of_a_single_update_has_one_time_and_one_position() -> None:
    row = ConflatedRow.of("IBM", 24.0, "N", time=3.0, position=7)
    assert (row.key, row.payload, row.times, row.positions) == ("IBM", (24.0, "N"), (3.0,), (7,))
    assert (row.late, row.rejected, row.is_deletion) == (0, 0, False)
