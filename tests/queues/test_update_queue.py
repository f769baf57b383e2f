"""Update queues keep the newest update per key, whatever the scheduler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import pytest

from upstream import (
    SCHEDULERS,
    TOMBSTONE,
    AlreadyAttachedError,
    CostError,
    InPlaceScheduler,
    JsonCodec,
    ManualClock,
    Memory,
    NaiveMemory,
    OnDemandMemory,
    Outcome,
    PagePool,
    PagePoolFullError,
    ParameterError,
    RateError,
    Scheduler,
    StalenessIndexScheduler,
    Stream,
    StreamQueue,
    Update,
    UpdateQueue,
    ValueNotEncodableError,
    ValueTooLargeError,
    WeightError,
)

from .contract import QueueContract
from .contract_of_streams import DecodingError, FailingCodec
from .setting import Options, copy_of, next_of, values_of


class TestFifo(QueueContract):
    policy = "fifo"

    def make(self, **options: Unpack[Options]) -> StreamQueue:
        return UpdateQueue(SCHEDULERS[self.policy](), **options)


class TestInPlace(TestFifo):
    policy = "in-place"


class TestLinecutting(TestFifo):
    policy = "linecutting"


class TestStalenessIndex(TestFifo):
    policy = "index"


every_scheduler = pytest.mark.parametrize("make_scheduler", SCHEDULERS.values())
every_memory = pytest.mark.parametrize("make_memory", [OnDemandMemory, NaiveMemory])
MakeScheduler = Callable[[], Scheduler]
MakeMemory = Callable[[PagePool], Memory]


# The newest value per key.


@every_scheduler
def test_a_newer_update_supersedes_the_one_that_waits(make_scheduler: MakeScheduler) -> None:
    queue = UpdateQueue(make_scheduler(), clock=ManualClock())
    assert queue.enqueue("IBM", 24.0, time=0) is Outcome.WAITING
    assert queue.enqueue("IBM", 25.0, time=1) is Outcome.SUPERSEDED
    assert len(queue) == 1
    assert queue.statistics().superseded == 1
    assert queue.dequeue_many(9) == [Update("IBM", 25.0, 1.0)]


@every_scheduler
def test_an_older_update_is_late_even_after_the_newer_one_is_gone(
    make_scheduler: MakeScheduler,
) -> None:
    queue = UpdateQueue(make_scheduler(), clock=ManualClock())
    queue.enqueue("IBM", 25.0, time=1)
    assert queue.enqueue("IBM", 24.0, time=0) is Outcome.LATE
    queue.deliver(next_of(queue))
    assert queue.enqueue("IBM", 24.5, time=0.5) is Outcome.LATE
    assert queue.statistics().late == 2
    assert queue.dequeue() is None


@every_scheduler
def test_the_later_arrival_wins_among_updates_with_equal_times(
    make_scheduler: MakeScheduler,
) -> None:
    queue = UpdateQueue(make_scheduler(), clock=ManualClock())
    queue.enqueue("IBM", 24.0, time=1)
    assert queue.enqueue("IBM", 25.0, time=1) is Outcome.SUPERSEDED
    assert next_of(queue).value == 25.0


@every_scheduler
def test_a_returned_older_value_never_beats_a_newer_one(make_scheduler: MakeScheduler) -> None:
    queue = UpdateQueue(make_scheduler(), clock=ManualClock())
    queue.enqueue("IBM", 24.0, time=0)
    older = next_of(queue)
    queue.enqueue("IBM", 25.0, time=1)
    queue.give_back(older)
    assert queue.statistics().superseded == 1
    newer = next_of(queue)
    assert newer.value == 25.0
    queue.deliver(newer)
    assert queue.dequeue() is None
    queue._check()


@every_scheduler
def test_a_returned_older_value_waits_not_even_when_the_newer_one_is_in_process(
    make_scheduler: MakeScheduler,
) -> None:
    queue = UpdateQueue(make_scheduler(), clock=ManualClock())
    queue.enqueue("IBM", 24.0, time=0)
    older = next_of(queue)
    queue.enqueue("IBM", 25.0, time=1)
    newer = next_of(queue)
    queue.give_back(copy_of(older))
    assert len(queue) == 0
    queue.give_back(newer)
    assert queue.dequeue_many(9) == [newer]
    assert queue.statistics().is_balanced


# The capacity.


@every_scheduler
def test_a_full_queue_rejects_a_new_key_and_still_updates_the_known_ones(
    make_scheduler: MakeScheduler,
) -> None:
    queue = UpdateQueue(make_scheduler(), clock=ManualClock(), capacity=2)
    for key in "AB":
        assert queue.enqueue(key, 1) is Outcome.WAITING
    assert queue.enqueue("C", 1) is Outcome.REJECTED
    assert queue.enqueue("A", 2) is Outcome.SUPERSEDED
    assert queue.statistics().rejected == 1
    assert queue.read("C") is None
    assert {update.key: update.value for update in queue.dequeue_many(9)} == {"A": 2, "B": 1}
    assert queue.enqueue("C", 2) is Outcome.WAITING
    queue._check()


@every_scheduler
def test_a_batch_tells_which_rows_were_rejected(make_scheduler: MakeScheduler) -> None:
    queue = UpdateQueue(make_scheduler(), clock=ManualClock(), capacity=2)
    outcome = queue.enqueue_many(list("ABCADB"), list(range(6)))
    assert (outcome.waiting, outcome.superseded, outcome.rejected) == (2, 2, 2)
    assert outcome.rejected_rows == (2, 4)
    assert queue.statistics().rejected == 2
    queue._check()


def test_an_update_that_is_given_back_to_a_full_queue_waits(clock: ManualClock) -> None:
    queue = UpdateQueue(InPlaceScheduler(), clock=clock, capacity=1)
    queue.enqueue("A", 1)
    update = next_of(queue)
    clock.advance(1.0)
    queue.enqueue("B", 1)
    queue.give_back(update)
    assert len(queue) == 2
    assert queue.enqueue("C", 1) is Outcome.REJECTED
    assert [update.key for update in queue.dequeue_many(9)] == ["A", "B"]


# The page pool.


def small_queue(make_memory: MakeMemory, *, locations: int = 2) -> UpdateQueue:
    """Return a queue with a pool of locations of eight bytes."""
    pool = PagePool(8 * locations, page_bytes=8, location_bytes=8)
    return UpdateQueue(InPlaceScheduler(), memory=make_memory(pool), clock=ManualClock())


@every_memory
def test_a_full_pool_rejects_a_new_key_and_still_updates_the_known_ones(
    make_memory: MakeMemory,
) -> None:
    queue = small_queue(make_memory)
    queue.enqueue("A", b"a1")
    queue.enqueue("B", b"b1")
    with pytest.raises(PagePoolFullError) as raised:
        queue.enqueue("C", b"c1")
    assert raised.value.capacity == 16
    assert queue.enqueue("A", b"a2") is Outcome.SUPERSEDED
    statistics = queue.statistics()
    assert (statistics.arrived, statistics.rejected, statistics.keys) == (4, 1, 2)
    assert statistics.is_balanced
    assert values_of(queue.dequeue_many(9)) == [b"a2", b"b1"]
    queue._check()


@every_memory
def test_a_batch_into_a_full_pool_is_counted_and_not_an_error(make_memory: MakeMemory) -> None:
    queue = small_queue(make_memory)
    outcome = queue.enqueue_many(list("ABCAC"), [b"a1", b"b1", b"c1", b"a2", b"c2"])
    assert (outcome.waiting, outcome.superseded, outcome.rejected) == (2, 1, 2)
    assert outcome.rejected_rows == (2, 4)
    assert queue.statistics().rejected == 2
    assert queue.statistics().is_balanced


@every_memory
def test_a_longer_value_that_finds_no_room_leaves_the_old_one(make_memory: MakeMemory) -> None:
    queue = small_queue(make_memory)
    queue.enqueue("A", b"a1", time=0)
    queue.enqueue("B", b"b1", time=0)
    with pytest.raises(PagePoolFullError):
        queue.enqueue("A", b"longer than 8", time=1)
    assert queue.read("A") == Update("A", b"a1", 0.0)
    statistics = queue.statistics()
    assert (statistics.rejected, statistics.superseded, statistics.late) == (1, 0, 0)
    assert queue.enqueue("A", b"a2", time=0.5) is Outcome.SUPERSEDED, "the rejected one is unknown"
    queue._check()


@every_memory
def test_a_value_longer_than_the_pool_is_refused_and_nothing_changes(
    make_memory: MakeMemory,
) -> None:
    queue = small_queue(make_memory)
    queue.enqueue("A", b"a1")
    before = queue.statistics()
    for key in "AB":
        with pytest.raises(ValueTooLargeError) as raised:
            queue.enqueue(key, b"x" * 17)
        assert (raised.value.length, raised.value.capacity) == (17, 16)
        with pytest.raises(ValueTooLargeError):
            queue.enqueue_many(["A", key], [b"a2", b"x" * 17])
    assert queue.statistics() == before
    assert values_of(queue.snapshot()) == [b"a1"]


@every_memory
def test_a_value_that_the_codec_refuses_changes_nothing(make_memory: MakeMemory) -> None:
    queue = small_queue(make_memory)
    queue.enqueue("A", b"a1")
    before = queue.statistics()
    for key in "AB":
        with pytest.raises(ValueNotEncodableError) as raised:
            queue.enqueue(key, 24.0)
        assert raised.value.row is None
        with pytest.raises(ValueNotEncodableError, match="row 1: ") as raised:
            queue.enqueue_many(["A", key], [b"a2", 24.0])
        assert (raised.value.row, raised.value.value_type) == (1, "float")
    assert queue.statistics() == before
    assert values_of(queue.snapshot()) == [b"a1"]


def test_values_go_through_the_codec_that_is_passed_in() -> None:
    memory = OnDemandMemory(PagePool(4096))
    queue = UpdateQueue(InPlaceScheduler(), memory=memory, codec=JsonCodec(), clock=ManualClock())
    quote = {"bid": 24.0, "sizes": [1, 2]}
    queue.enqueue("IBM", quote)
    assert queue.read("IBM") == queue.peek() == Update("IBM", quote, 0.0)
    value = next_of(queue).value
    assert value == quote
    assert value is not quote


@pytest.mark.parametrize("policy", SCHEDULERS)
def test_a_value_that_cannot_be_decoded_waits_as_before(policy: str) -> None:
    codec = FailingCodec()
    clock = ManualClock()
    memory = OnDemandMemory(PagePool(4096))
    queue = UpdateQueue(SCHEDULERS[policy](), clock=clock, memory=memory, codec=codec)
    queue.enqueue("A", b"1")
    queue.enqueue("B", b"2")
    before = queue.statistics()
    codec.fails = True
    for _ in range(2):
        with pytest.raises(DecodingError):
            queue.dequeue()
    assert queue.statistics() == before
    codec.fails = False
    assert {update.value for update in queue.dequeue_many(9)} == {b"1", b"2"}
    queue._check()


def test_a_memory_keeps_the_values_of_one_stream() -> None:
    pool = PagePool(4096)
    memory = OnDemandMemory(pool)
    Stream(memory=memory)
    with pytest.raises(AlreadyAttachedError, match="make one for each stream"):
        UpdateQueue(InPlaceScheduler(), memory=memory)
    Stream(memory=OnDemandMemory(pool))


def test_a_deletion_that_the_only_queue_rejects_leaves_nothing_in_the_stream() -> None:
    stream = Stream(clock=ManualClock())
    queue = UpdateQueue(InPlaceScheduler(), capacity=1)
    stream.attach(queue)
    stream.enqueue("waits", 0)
    for key in range(50):
        stream.enqueue(key, key)
        stream.enqueue(key, TOMBSTONE)
        stream.enqueue_many([key, key], [key, TOMBSTONE])
    assert len(stream) == 1
    assert queue.statistics().rejected == 200


def test_a_codec_without_a_memory_is_an_error() -> None:
    with pytest.raises(ParameterError) as raised:
        UpdateQueue(InPlaceScheduler(), codec=JsonCodec())
    assert raised.value.name == "codec"


def test_an_update_without_room_when_it_is_given_back_stays_in_process() -> None:
    queue = small_queue(OnDemandMemory, locations=1)
    queue.enqueue("A", b"a1")
    update = next_of(queue)
    queue.enqueue("B", b"b1")
    before = queue.statistics()
    with pytest.raises(PagePoolFullError):
        queue.give_back(update)
    assert queue.statistics() == before
    queue.deliver(next_of(queue))
    queue.give_back(update)
    assert queue.dequeue() == update
    queue._check()


def test_an_own_memory_cannot_come_along_to_another_stream() -> None:
    queue = small_queue(OnDemandMemory)
    with pytest.raises(ParameterError, match=r"Stream\(memory="):
        Stream().attach(queue)
    queue.enqueue("A", b"a1")
    assert next_of(queue).value == b"a1"


def test_queues_with_different_times_to_live_free_the_pool_in_any_order() -> None:
    # Nobody looks before 10. B falls due in the first queue at 5.5, A in the second at 5.
    clock = ManualClock()
    pool = PagePool(4096)
    stream = Stream(clock=clock, retain=False, memory=OnDemandMemory(pool))
    first = UpdateQueue(InPlaceScheduler(), time_to_live=3.0)
    second = UpdateQueue(InPlaceScheduler(), time_to_live=5.0)
    stream.attach(first)
    stream.attach(second)
    stream.enqueue("A", b"a1")
    clock.advance(2.5)
    stream.enqueue("B", b"b1")
    second.give_back(second.dequeue_many(2)[0])
    clock.advance(7.5)
    assert len(first) == len(second) == 0
    assert pool.pages_in_use == 0


# The scheduler.


@every_scheduler
def test_a_scheduler_serves_one_queue(make_scheduler: MakeScheduler) -> None:
    scheduler = make_scheduler()
    queue = UpdateQueue(scheduler, clock=ManualClock())
    with pytest.raises(AlreadyAttachedError, match="already serves a queue"):
        UpdateQueue(scheduler, clock=ManualClock())
    queue.enqueue("IBM", 24.0)
    assert next_of(queue).value == 24.0
    queue._check()


@every_scheduler
def test_the_scheduler_of_a_closed_queue_can_be_used_again(make_scheduler: MakeScheduler) -> None:
    scheduler = make_scheduler()
    first = UpdateQueue(scheduler, clock=ManualClock())
    first.enqueue_many(["A", "B"], [1, 2])
    first.close()
    second = UpdateQueue(scheduler, clock=ManualClock())
    second.enqueue("C", 3)
    assert values_of(second.dequeue_many(9)) == [3]
    second._check()


BAD_NUMBERS = [-1.0, float("nan"), float("inf"), -float("inf"), "high"]


def index_by_weight(weights: object) -> StalenessIndexScheduler:
    return StalenessIndexScheduler(weight=weights)  # type: ignore[arg-type]


def index_by_cost(costs: object) -> StalenessIndexScheduler:
    return StalenessIndexScheduler(cost=costs)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", BAD_NUMBERS)
@pytest.mark.parametrize(
    ("make", "error"), [(index_by_weight, WeightError), (index_by_cost, CostError)]
)
def test_a_function_of_weights_or_costs_is_checked_before_a_key_is_taken(
    make: Callable[[object], Scheduler], error: type[ParameterError], number: object
) -> None:
    scheduler = make(lambda key: 1.0 if key == "IBM" else number)
    queue = UpdateQueue(scheduler, clock=ManualClock())
    queue.enqueue("IBM", 24.0)
    before = queue.statistics()
    with pytest.raises(error, match="'MSFT'"):
        queue.enqueue("MSFT", 50.0)
    with pytest.raises(error, match="'MSFT'"):
        queue.enqueue_many(["IBM", "MSFT"], [25.0, 50.0])
    assert queue.statistics() == before
    assert values_of(queue.dequeue_many(9)) == [24.0]
    queue._check()


def test_a_queue_whose_weights_refuse_a_key_of_the_stream_is_not_attached(stream: Stream) -> None:
    stream.enqueue("IBM", 24.0)
    queue = UpdateQueue(index_by_weight(lambda key: -1.0 if key == "IBM" else 1.0))
    with pytest.raises(WeightError):
        stream.attach(queue)
    assert not queue.is_attached
    assert stream.statistics().queues == 0
    stream.enqueue("MSFT", 50.0)
    stream._check()
    assert queue.enqueue("ORCL", 30.0) is Outcome.WAITING
    assert values_of(queue.dequeue_many(9)) == [30.0]


def test_a_rate_that_turns_bad_later_is_not_asked_for() -> None:
    rates = {"IBM": 1.0}
    queue = UpdateQueue(
        StalenessIndexScheduler(), clock=ManualClock(), rates=lambda key: rates[str(key)]
    )
    queue.enqueue("IBM", 24.0)
    queue.deliver(next_of(queue))
    rates["IBM"] = -1.0
    assert queue.enqueue("IBM", 25.0) is Outcome.WAITING
    assert queue.enqueue_many(["IBM"], [26.0]).superseded == 1
    assert next_of(queue).value == 26.0


def test_a_rate_is_asked_for_once_when_its_key_is_new() -> None:
    rates = iter([1.0])
    queue = UpdateQueue(
        StalenessIndexScheduler(), clock=ManualClock(), rates=lambda _: next(rates, -1.0)
    )
    queue.enqueue("IBM", 24.0)
    before = queue.statistics()
    with pytest.raises(RateError, match="'MSFT'"):
        queue.enqueue("MSFT", 50.0)
    assert queue.statistics() == before
    assert len(queue.stream) == 1
    queue._check()
