"""Ctrl-C during a batch comes right after the batch, whatever kind of queue takes it in."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping

import pytest

from upstream import (
    AdaptiveQueue,
    AppendQueue,
    AppendWindowQueue,
    Clock,
    FifoScheduler,
    InPlaceScheduler,
    LazyWindowBuffer,
    LinecuttingScheduler,
    ManualClock,
    OnDemandMemory,
    PacedScheduler,
    PagePool,
    StalenessIndexScheduler,
    StreamQueue,
    UpdateQueue,
    WindowQueue,
    WindowSpecification,
)
from upstream.held_interrupt import HeldInterrupt

WINDOWS = WindowSpecification(4, 2)
AnyQueue = StreamQueue | WindowQueue | AppendWindowQueue
NAMES = ["a", "b", "a", "new", "c", "a", "b", "new"]
VALUES = [b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8"]
TIMES = [5.0, 5.0, 5.0, 0.0, 1.0, 4.0, 5.0, 9.0]

KINDS: Mapping[str, Callable[[Clock], AnyQueue]] = {
    "fifo": lambda clock: UpdateQueue(FifoScheduler(), clock=clock, time_to_live=9.0),
    "in-place": lambda clock: UpdateQueue(InPlaceScheduler(), clock=clock),
    "capacity": lambda clock: UpdateQueue(InPlaceScheduler(), clock=clock, capacity=3),
    "memory": lambda clock: UpdateQueue(
        InPlaceScheduler(),
        clock=clock,
        memory=OnDemandMemory(PagePool(160, page_bytes=16, location_bytes=16)),
    ),
    "linecutting": lambda clock: UpdateQueue(
        LinecuttingScheduler(), clock=clock, processing_cost=lambda: 0.1
    ),
    "index": lambda clock: UpdateQueue(
        StalenessIndexScheduler(weight=lambda key: 1.0 + len(repr(key))), clock=clock
    ),
    "paced": lambda clock: UpdateQueue(
        PacedScheduler(StalenessIndexScheduler(), lambda key: float(repr(key) == "b")), clock=clock
    ),
    "append": lambda clock: AppendQueue(clock=clock, capacity=9),
    "adaptive": lambda clock: AdaptiveQueue(LinecuttingScheduler(), max_waiting=4, clock=clock),
    "windows": lambda clock: WindowQueue(
        WINDOWS, LazyWindowBuffer, InPlaceScheduler(), clock=clock
    ),
    "append windows": lambda clock: AppendWindowQueue(WINDOWS, clock=clock),
}


class Caller:
    """Counts calls, and sends SIGINT in the one of this number."""

    def __init__(self) -> None:
        self.calls = 0
        self.interrupted = 0

    def call(self) -> None:
        self.calls += 1
        if self.calls == self.interrupted:
            signal.raise_signal(signal.SIGINT)


class Key:
    """A key that lets a caller know whenever it is looked up."""

    def __init__(self, name: str, caller: Caller) -> None:
        self.name = name
        self.caller = caller

    def __hash__(self) -> int:
        self.caller.call()
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        self.caller.call()
        return isinstance(other, Key) and self.name == other.name

    def __repr__(self) -> str:
        return self.name


@pytest.fixture(autouse=True)
def raising_handler() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt, as it does unless a program changes it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


def make(kind: str, caller: Caller) -> tuple[ManualClock, AnyQueue]:
    clock = ManualClock()
    queue = KINDS[kind](clock)
    for time, name in enumerate("abcab"):
        queue.enqueue(Key(name, caller), b"0", float(time == 4))
        clock.advance(1.0)
    queue.dequeue()
    clock.advance(1.0)
    return clock, queue


def enqueue_all(queue: AnyQueue, caller: Caller) -> None:
    queue.enqueue_many([Key(name, caller) for name in NAMES], VALUES, TIMES)


def seen(clock: ManualClock, queue: AnyQueue) -> str:
    """Return all that is to be seen, and use the queue on."""
    clock.advance(2.0)
    found: list[object] = [queue.statistics(), queue.staleness_by_key("queue")]
    queue._check()
    keys = [Key("b", Caller()), Key("z", Caller())]
    found.append(queue.enqueue_many(keys, [b"8", b"9"], [9.5, 9.5]))
    found += [queue.dequeue() for _ in range(12)]
    found += [queue.statistics(), queue.staleness_by_key("application")]
    queue._check()
    return repr(found)


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_batch_is_applied_completely(kind: str) -> None:
    caller = Caller()
    untouched = seen(*make(kind, caller))
    clock, queue = make(kind, caller)
    before = caller.calls
    enqueue_all(queue, caller)
    calls = caller.calls - before
    whole = seen(clock, queue)
    assert whole != untouched
    assert calls >= len(NAMES)
    for number in range(1, calls + 1):
        caller = Caller()
        clock, queue = make(kind, caller)
        caller.interrupted = caller.calls + number
        with pytest.raises(KeyboardInterrupt):
            enqueue_all(queue, caller)
        assert seen(clock, queue) == whole, f"call {number}"


def test_held_interrupts_are_raised_once_at_the_end_of_the_block() -> None:
    done: list[str] = []

    def work() -> None:
        with HeldInterrupt():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            done.append("block")
        done.append("behind")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["block"]


def test_a_handler_of_the_user_is_called_with_the_same_arguments() -> None:
    calls: list[tuple[int, bool]] = []
    before = signal.signal(signal.SIGINT, lambda *call: calls.append((call[0], call[1] is None)))
    try:
        with HeldInterrupt(), HeldInterrupt():
            signal.raise_signal(signal.SIGINT)
            assert not calls
        assert calls == [(signal.SIGINT, False)]
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with HeldInterrupt():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_leave_the_handler_alone() -> None:
    seen_there: list[object] = []

    def enter() -> None:
        with HeldInterrupt():
            seen_there.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen_there == [signal.default_int_handler]


def test_it_can_be_used_again_after_an_interrupt_and_in_another_thread() -> None:
    hold = HeldInterrupt()

    def block(*, is_interrupted: bool) -> None:
        with hold:
            if is_interrupted:
                signal.raise_signal(signal.SIGINT)

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            block(is_interrupted=True)
        block(is_interrupted=False)
    failures: list[BaseException] = []

    def elsewhere() -> None:
        try:
            block(is_interrupted=False)
        except BaseException as error:  # noqa: BLE001  # whatever it is, the test has to see it
            failures.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert failures == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
