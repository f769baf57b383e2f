"""The storage manager knows streams and queues by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream import (
    AlreadyAttachedError,
    AppendQueue,
    AppendWindowQueue,
    ClosedError,
    InPlaceScheduler,
    LazyWindowBuffer,
    ManualClock,
    NameTakenError,
    OnDemandMemory,
    PagePool,
    ParameterError,
    QueueStatistics,
    StorageManager,
    UnknownNameError,
    Update,
    UpdateQueue,
    WindowQueue,
    WindowQueueStatistics,
    WindowSpecification,
    WindowTuple,
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def storage(clock: ManualClock) -> StorageManager:
    """Return a manager with the stream `trades`, and a queue `dashboard` of it."""
    storage = StorageManager(clock=clock)
    storage.create_stream("trades")
    storage.add_queue("dashboard", UpdateQueue(InPlaceScheduler()), stream="trades")
    return storage


def test_sources_enqueue_into_streams_and_applications_dequeue_from_queues(
    storage: StorageManager,
) -> None:
    storage.add_queue("archive", AppendQueue(), stream="trades")
    storage.enqueue("trades", "IBM", 24.0, time=0)
    storage.enqueue("trades", "IBM", 25.0, time=1)
    assert storage.read("dashboard", "IBM") == Update("IBM", 25.0, 1.0)
    assert storage.read("dashboard", "MSFT") is None
    assert storage.dequeue("dashboard") == Update("IBM", 25.0, 1.0)
    assert storage.dequeue("dashboard") is None
    assert storage.dequeue("archive") == Update("IBM", 24.0, 0.0)
    assert storage.dequeue("archive") == Update("IBM", 25.0, 1.0)


def test_all_run_on_one_clock(storage: StorageManager, clock: ManualClock) -> None:
    clock.advance(5.0)
    storage.create_stream("quotes")
    storage.enqueue("quotes", "IBM", 24.0)
    storage.enqueue("trades", "IBM", 24.0)
    times = [storage.stream(name).snapshot()[0].time for name in ("quotes", "trades")]
    assert times == [5.0, 5.0]
    clock.advance(2.0)
    assert storage.queue("dashboard").queue_staleness("IBM") == pytest.approx(1.0)


def test_the_default_is_the_system_clock() -> None:
    storage = StorageManager()
    storage.create_stream("trades")
    storage.add_queue("dashboard", UpdateQueue(InPlaceScheduler()), stream="trades")
    storage.enqueue("trades", "IBM", 24.0)
    update = storage.dequeue("dashboard")
    assert isinstance(update, Update)
    assert update.time > 1_700_000_000.0


def test_names_are_listed_in_the_order_of_their_creation(storage: StorageManager) -> None:
    storage.create_stream("quotes")
    storage.add_queue("alerts", AppendQueue(), stream="quotes")
    assert storage.streams == ("trades", "quotes")
    assert storage.queues == ("dashboard", "alerts")
    assert storage.queue("alerts").stream is storage.stream("quotes")


def test_a_late_queue_may_begin_with_the_newest_values(
    storage: StorageManager,
) -> None:
    storage.enqueue("trades", "IBM", 24.0)
    storage.add_queue("late", AppendQueue(), stream="trades", snapshot=True)
    storage.add_queue("later", AppendQueue(), stream="trades")
    assert len(storage.queue("late")) == 1
    assert len(storage.queue("later")) == 0


def test_a_stream_can_keep_its_values_in_a_page_pool(storage: StorageManager) -> None:
    pool = PagePool(4096)
    stream = storage.create_stream("raw", memory=OnDemandMemory(pool))
    storage.enqueue("raw", "IBM", b"24.0")
    assert pool.pages_in_use == 1
    usage = stream.memory_usage()
    assert usage is not None
    assert usage.locations_live == 1
    assert storage.stream("trades").memory_usage() is None
    storage.drop_stream("raw")
    assert pool.pages_in_use == 0


@pytest.mark.parametrize("use", ["queue", "dequeue", "drop_queue"])
def test_an_unknown_queue_is_an_error(storage: StorageManager, use: str) -> None:
    with pytest.raises(UnknownNameError, match="no queue named 'trades'") as raised:
        getattr(storage, use)("trades")
    assert (raised.value.kind, raised.value.name) == ("queue", "trades")


@pytest.mark.parametrize(
    "use",
    [
        lambda storage: storage.stream("dashboard"),
        lambda storage: storage.drop_stream("dashboard"),
        lambda storage: storage.enqueue("dashboard", "IBM", 24.0),
        lambda storage: storage.add_queue("new", AppendQueue(), stream="dashboard"),
    ],
)
def test_an_unknown_stream_is_an_error(
    storage: StorageManager, use: Callable[[StorageManager], object]
) -> None:
    with pytest.raises(UnknownNameError, match="no stream named 'dashboard'") as raised:
        use(storage)
    assert (raised.value.kind, raised.value.name) == ("stream", "dashboard")
    assert storage.queues == ("dashboard",)


def test_reading_an_unknown_queue_is_an_error(storage: StorageManager) -> None:
    with pytest.raises(UnknownNameError):
        storage.read("alerts", "IBM")


def test_a_name_in_use_is_an_error_and_changes_nothing(storage: StorageManager) -> None:
    storage.enqueue("trades", "IBM", 24.0)
    with pytest.raises(NameTakenError) as raised:
        storage.create_stream("trades")
    assert (raised.value.kind, raised.value.name) == ("stream", "trades")
    queue = AppendQueue()
    with pytest.raises(NameTakenError) as raised:
        storage.add_queue("dashboard", queue, stream="trades")
    assert (raised.value.kind, raised.value.name) == ("queue", "dashboard")
    assert not queue.is_attached
    assert storage.dequeue("dashboard") == Update("IBM", 24.0, 0.0)


def test_a_stream_and_a_queue_may_have_one_name(storage: StorageManager) -> None:
    storage.add_queue("trades", AppendQueue(), stream="trades")
    storage.enqueue("trades", "IBM", 24.0)
    assert storage.dequeue("trades") == Update("IBM", 24.0, 0.0)


def test_a_failed_creation_leaves_its_name_free(storage: StorageManager) -> None:
    with pytest.raises(ParameterError):
        storage.create_stream("quotes", forget_after=-1.0)
    used = AppendQueue()
    used.enqueue("IBM", 24.0)
    with pytest.raises(AlreadyAttachedError):
        storage.add_queue("alerts", used, stream="trades")
    assert storage.streams == ("trades",)
    assert storage.queues == ("dashboard",)
    storage.create_stream("quotes")
    storage.add_queue("alerts", AppendQueue(), stream="quotes")


def test_dropping_a_queue_detaches_it_and_frees_its_name(storage: StorageManager) -> None:
    storage.enqueue("trades", "IBM", 24.0)
    queue = storage.queue("dashboard")
    final = storage.drop_queue("dashboard")
    assert isinstance(final, QueueStatistics)
    assert (final.arrived, final.waiting) == (1, 1)
    assert storage.queues == ()
    assert storage.stream("trades").statistics().queues == 0
    with pytest.raises(ClosedError):
        queue.dequeue()
    with pytest.raises(UnknownNameError):
        storage.dequeue("dashboard")
    storage.add_queue("dashboard", AppendQueue(), stream="trades")


def test_dropping_a_stream_drops_its_queues_and_no_others(storage: StorageManager) -> None:
    storage.create_stream("quotes")
    storage.add_queue("alerts", AppendQueue(), stream="quotes")
    storage.add_queue("archive", AppendQueue(), stream="trades")
    storage.enqueue("trades", "IBM", 24.0)
    stream = storage.stream("trades")
    final = storage.drop_stream("trades")
    arrived = {
        name: statistics.arrived
        for name, statistics in final.items()
        if isinstance(statistics, QueueStatistics)
    }
    assert arrived == {"dashboard": 1, "archive": 1}
    assert storage.streams == ("quotes",)
    assert storage.queues == ("alerts",)
    with pytest.raises(ClosedError):
        stream.enqueue("IBM", 24.0)


def test_a_queue_that_was_closed_by_itself_can_still_be_dropped(storage: StorageManager) -> None:
    final = storage.queue("dashboard").close()
    assert storage.drop_queue("dashboard") is final


def test_dropping_a_stream_frees_the_names_of_queues_that_were_closed_before(
    storage: StorageManager,
) -> None:
    storage.queue("dashboard").close()
    storage.drop_stream("trades")
    assert storage.queues == ()


# A stream that is closed, through the manager or by itself.


@pytest.mark.parametrize(
    "use",
    [
        lambda stream: stream.enqueue("IBM", 24.0),
        lambda stream: stream.enqueue_many(["IBM"], [24.0]),
        lambda stream: stream.read("IBM"),
        lambda stream: stream.snapshot(),
        lambda stream: stream.forget("IBM"),
        lambda stream: stream.attach(AppendQueue()),
        lambda stream: stream.detach(AppendQueue()),
    ],
)
def test_a_closed_stream_cannot_be_used(
    storage: StorageManager, use: Callable[[object], object]
) -> None:
    storage.enqueue("trades", "IBM", 24.0)
    stream = storage.stream("trades")
    storage.drop_stream("trades")
    with pytest.raises(ClosedError, match="stream is closed"):
        use(stream)
    stream.close()
    assert stream.statistics().arrived == 1
    assert stream.statistics().keys == stream.statistics().queues == 0


def test_queues_of_windows_are_fed_like_any_other(storage: StorageManager) -> None:
    windows = WindowSpecification(2, 2)
    lazy = WindowQueue(windows, LazyWindowBuffer, InPlaceScheduler())
    assert storage.add_queue("minutes", lazy, stream="trades") is lazy
    storage.add_queue("every minute", AppendWindowQueue(windows), stream="trades")
    for time in range(3):
        storage.enqueue("trades", "IBM", 24.0 + time, time=time)
    tuples = [Update("IBM", 24.0, 0.0), Update("IBM", 25.0, 1.0)]
    assert storage.read("minutes", "IBM") == tuples
    assert storage.read("every minute", "IBM") == [*tuples, Update("IBM", 26.0, 2.0)]
    assert storage.read("every minute", "MSFT") is None
    for queue in ("minutes", "every minute"):
        assert storage.dequeue(queue) == WindowTuple(Update("IBM", 24.0, 0.0), 2.0)
        final = storage.drop_queue(queue)
        assert isinstance(final, WindowQueueStatistics)
        assert final.tuples.used == 1
