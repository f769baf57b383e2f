"""Systems of queues all of whose callables fail when they are told to, and what is done with them.

Whatever a user gives (rates, weights, costs, intervals, codecs, keys, times, a clock, a source of
random numbers) asks `Failures` each time that it is called, and so fails at the call that was
chosen. All else is as ever: values do not depend on how often anything was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TypedDict, Unpack

from upstream import (
    TOMBSTONE,
    AdaptiveQueue,
    AppendQueue,
    AppendWindowQueue,
    EagerWindowBuffer,
    FifoScheduler,
    InPlaceScheduler,
    LazyWindowBuffer,
    LinecuttingScheduler,
    OnDemandMemory,
    PacedScheduler,
    PagePool,
    PagePoolFullError,
    Scheduler,
    StalenessIndexScheduler,
    Stream,
    StreamQueue,
    Update,
    UpdateQueue,
    WindowQueue,
    WindowQueueStatistics,
    WindowResult,
    WindowSpecification,
)

from .failing_calls import (
    CallFailedError,
    FailingClock,
    FailingCodec,
    FailingColumn,
    FailingKey,
    FailingShedding,
    FailingWindowShedding,
    Failures,
)

WINDOWS = WindowSpecification(4, 2)
AnyQueue = StreamQueue | WindowQueue | AppendWindowQueue


class Given(TypedDict, total=False):
    """What some of the update queues are given as well."""

    capacity: int
    time_to_live: float
    forget_after: float
    in_process_limit: int
    memory: OnDemandMemory
    codec: FailingCodec


class System:
    """A stream, or a queue with one of its own, and what the queues have handed out."""

    def __init__(self, failures: Failures, kind: str) -> None:
        self.failures = failures
        self.clock = FailingClock(failures)
        self.stream: Stream | None = None
        self.queues: list[AnyQueue] = []
        KINDS[kind](self)
        self.handed: list[tuple[StreamQueue, Update]] = []
        self.served: list[object] = []
        """All that was handed out, in its order."""
        failures.is_armed = True

    # What users give.

    def number(self, name: str, *numbers: float) -> Callable[[object], float]:
        """Return a function of keys."""

        def number_of(key: object) -> float:
            self.failures.ask(name)
            assert isinstance(key, FailingKey)
            return numbers[ord(key.name[0]) % len(numbers)]

        return number_of

    def told(self) -> float:
        self.failures.ask("processing cost")
        return 0.5

    def memory(self) -> OnDemandMemory:
        return OnDemandMemory(PagePool(640, page_bytes=32, location_bytes=16))

    def index(self) -> StalenessIndexScheduler:
        return StalenessIndexScheduler(
            5.0, weight=self.number("weight", 1.0, 4.0), cost=self.number("cost", 1.0, 2.0, 9.0)
        )

    def paced(self, inner: Scheduler) -> PacedScheduler:
        return PacedScheduler(inner, self.number("interval", 0.0, 1.0, 3.0))

    def update_queue(self, scheduler: Scheduler, **options: Unpack[Given]) -> UpdateQueue:
        return UpdateQueue(
            scheduler,
            clock=self.clock,
            rates=self.number("rate", 0.1, 1.0, 10.0),
            processing_cost=self.told,
            **options,
        )

    def window_queue(self, scheduler: Scheduler, *, pooled: bool, eager: bool) -> WindowQueue:
        return WindowQueue(
            WINDOWS,
            EagerWindowBuffer if eager else LazyWindowBuffer,
            scheduler,
            clock=self.clock,
            rates=self.number("rate", 0.1, 1.0, 10.0),
            processing_cost=self.told,
            memory=self.memory() if pooled else None,
            codec=FailingCodec(Failures() if self.stream is not None else self.failures)
            if pooled
            else None,
        )

    # What is done.

    @property
    def entry(self) -> Stream | AnyQueue:
        return self.queues[0] if self.stream is None else self.stream

    def key(self, name: str) -> FailingKey:
        return FailingKey(name, self.failures)

    def arrived(self) -> int:
        """Return how many updates the system says have arrived, without asking anything."""
        self.failures.is_armed = False
        statistics = self.entry.statistics()
        self.failures.is_armed = True
        if isinstance(statistics, WindowQueueStatistics):
            return statistics.tuples.arrived
        return statistics.arrived

    def quietly(self, look: Callable[[], object]) -> object:
        """Look at something without any failure."""
        self.failures.is_armed = False
        try:
            return look()
        finally:
            self.failures.is_armed = True

    def attempt(
        self, do: Callable[[], object], progress: Callable[[], object], whole: object
    ) -> None:
        """Do something until it has happened: wholly, whether it says so or not, or not at all.

        `progress` tells how far it is, `whole` by how much that changes, None for any change.
        """
        if self.failures.failed:  # nothing fails any more
            with suppress(PagePoolFullError):
                do()
            return
        before = self.quietly(progress)
        while True:
            try:
                do()
            except PagePoolFullError:
                break
            except CallFailedError:
                self.check()
                after = self.quietly(progress)
                if after == before:
                    continue
                if whole is not None:
                    assert isinstance(after, int)
                    assert isinstance(before, int)
                    assert after - before == whole, "it has happened in part"
            break

    def put(self, name: str, value: object, time: float) -> None:
        self.attempt(
            lambda: self.entry.enqueue(self.key(name), value, time),
            self.arrived,
            1,
        )

    def put_many(self, names: str, values: list[object], time: float) -> None:
        self.attempt(
            lambda: self.entry.enqueue_many(
                [self.key(name) for name in names],
                FailingColumn(values, self.failures),
                [time] * len(names),
            ),
            self.arrived,
            len(names),
        )

    def serve(self, *, many: int = 0) -> None:
        for queue in self.queues:
            self.serve_one(queue, many)

    def serve_one(self, queue: AnyQueue, many: int) -> None:
        """Dequeue; what is handed out must be what the queue says it has handed out."""
        taken: list[object] = []

        def do() -> None:
            if many:
                taken.extend(queue.dequeue_many(many))
            else:
                taken.append(queue.dequeue())

        def served() -> int:
            # Of a queue of windows it is what is handed out that shows whether anything was lost.
            return queue.statistics().dequeued if isinstance(queue, StreamQueue) else 0

        has_failed = self.failures.failed
        before = 0 if has_failed else self.quietly(served)
        self.attempt(do, served, None)
        if many:
            # A failure behind the first update cuts the batch short, and is seen the next time.
            while len(taken) < many and (more := self.quietly(queue.dequeue)) is not None:
                taken.append(more)
        given = [one for one in taken if one is not None]
        if isinstance(queue, StreamQueue) and not has_failed:
            after = self.quietly(served)
            assert isinstance(after, int)
            assert isinstance(before, int)
            assert after - before == len(given), "an update was dequeued and not returned"
        self.served += map(repr, taken if not many else given)
        if isinstance(queue, StreamQueue):
            self.handed += [(queue, one) for one in given if isinstance(one, Update)]

    def finish(self, *, give_back: bool = False) -> None:
        """Deliver, or give back, all that was handed out."""
        handed, self.handed = self.handed, []
        for queue, update in handed:
            self.finish_one(queue, update, give_back=give_back)
        for each in self.queues:
            if not isinstance(each, StreamQueue):
                self.finish_windows(each)

    def finish_one(self, queue: StreamQueue, update: Update, *, give_back: bool) -> None:
        act = queue.give_back if give_back else queue.deliver
        copy = Update(self.key(str(update.key)), update.value, update.time)
        self.attempt(lambda: act(copy), lambda: queue.statistics().in_process, -1)

    def finish_windows(self, queue: WindowQueue | AppendWindowQueue) -> None:
        for window in list(queue._in_process):
            key = self.key(str(window.place.cell.key))
            result = WindowResult(key, window.end - 4, window.end, None)
            self.attempt(partial(queue.deliver, result), lambda: len(queue._in_process), -1)

    def forget(self, name: str) -> None:
        def known() -> int:
            entry = self.entry
            if isinstance(entry, Stream):
                return len(entry)
            return len(entry.stream) if isinstance(entry, StreamQueue) else entry.statistics().keys

        def forget() -> None:
            self.entry.forget(self.key(name))

        self.attempt(forget, known, -1)

    def look(self) -> None:
        """Ask everything that can be asked."""
        for queue in self.queues:
            self.attempt(queue.statistics, lambda: 0, 0)
            self.attempt(partial(queue.read, self.key("a")), lambda: 0, 0)
            self.attempt(queue.staleness_by_key, lambda: 0, 0)
            self.attempt(queue.lower_bound, lambda: 0, 0)
            if isinstance(queue, StreamQueue):
                self.attempt(queue.peek, lambda: 0, 0)
                self.attempt(queue.snapshot, lambda: 0, 0)

    def attach(self, queue: AnyQueue) -> None:
        stream = self.stream
        if stream is None:
            return
        self.attempt(
            lambda: stream.attach(queue, snapshot=stream.retain),
            lambda: stream.statistics().queues,
            1,
        )
        self.queues.append(queue)

    def detach(self) -> None:
        stream = self.stream
        if stream is not None and len(self.queues) > 1:
            queue = self.queues[-1]
            self.attempt(
                lambda: stream.detach(queue),
                lambda: stream.statistics().queues,
                -1,
            )
            self.queues.remove(queue)
            self.handed = [
                (holder, update) for holder, update in self.handed if holder is not queue
            ]
            self.served.append(repr(queue.statistics()))

    # What holds at every moment.

    def check(self) -> None:
        self.quietly(self._check)

    def _check(self) -> None:
        for queue in self.queues:
            queue._check()
            assert queue.statistics().is_balanced
        if self.stream is not None:
            self.stream._check()
        elif isinstance(self.queues[0], StreamQueue):
            self.queues[0].stream._check()

    def state(self) -> list[object]:
        """Return all that can be seen, as text."""
        return [
            [
                queue.statistics(),
                sorted(map(repr, queue.staleness_by_key("queue").items())),
                sorted(map(repr, queue.staleness_by_key("application").items())),
                list(map(repr, queue.snapshot())) if isinstance(queue, StreamQueue) else None,
            ]
            for queue in self.queues
        ]


def _own(make: Callable[[System], AnyQueue]) -> Callable[[System], None]:
    def build(system: System) -> None:
        system.queues.append(make(system))

    return build


def _shared(*, pooled: bool, forget_after: float | None) -> Callable[[System], None]:
    def build(system: System) -> None:
        system.stream = stream = Stream(
            clock=system.clock,
            retain=not pooled,
            memory=system.memory() if pooled else None,
            codec=FailingCodec(system.failures) if pooled else None,
            rates=system.number("rate", 0.1, 1.0, 10.0),
            forget_after=forget_after,
        )
        for queue in (
            UpdateQueue(InPlaceScheduler(), time_to_live=4.0),
            UpdateQueue(LinecuttingScheduler(), processing_cost=system.told),
            UpdateQueue(system.paced(system.index()), capacity=3),
            AppendQueue(capacity=5, shedding=FailingShedding(system.failures)),
            AdaptiveQueue(LinecuttingScheduler(), max_waiting=3, processing_cost=system.told),
            system.window_queue(system.index(), pooled=True, eager=False),
        ):
            stream.attach(queue)
            system.queues.append(queue)

    return build


KINDS: Mapping[str, Callable[[System], None]] = {
    "fifo": _own(lambda system: system.update_queue(FifoScheduler(), time_to_live=3.0)),
    "in-place": _own(lambda system: system.update_queue(InPlaceScheduler(), capacity=3)),
    "linecutting": _own(lambda system: system.update_queue(LinecuttingScheduler())),
    "linecutting, pooled": _own(
        lambda system: system.update_queue(
            LinecuttingScheduler(),
            memory=system.memory(),
            codec=FailingCodec(system.failures),
            in_process_limit=2,
        )
    ),
    "index": _own(lambda system: system.update_queue(system.index(), forget_after=5.0)),
    "index, pooled": _own(
        lambda system: system.update_queue(
            system.index(), memory=system.memory(), codec=FailingCodec(system.failures), capacity=3
        )
    ),
    "paced": _own(lambda system: system.update_queue(system.paced(LinecuttingScheduler()))),
    "append": _own(
        lambda system: AppendQueue(
            clock=system.clock,
            capacity=4,
            shedding=FailingShedding(system.failures),
            rates=system.number("rate", 1.0),
            processing_cost=system.told,
            forget_after=4.0,
        )
    ),
    "adaptive": _own(
        lambda system: AdaptiveQueue(
            LinecuttingScheduler(),
            max_waiting=2,
            clock=system.clock,
            rates=system.number("rate", 0.1, 1.0, 10.0),
            processing_cost=system.told,
        )
    ),
    "adaptive, index": _own(
        lambda system: AdaptiveQueue(
            system.index(), max_waiting=3, clock=system.clock, time_to_live=4.0
        )
    ),
    "lazy windows": _own(
        lambda system: system.window_queue(LinecuttingScheduler(), pooled=False, eager=False)
    ),
    "eager windows, pooled": _own(
        lambda system: system.window_queue(system.paced(system.index()), pooled=True, eager=True)
    ),
    "append windows": _own(
        lambda system: AppendWindowQueue(
            WINDOWS,
            clock=system.clock,
            shedding=FailingWindowShedding(system.failures),
            rates=system.number("rate", 1.0),
        )
    ),
    "a stream": _shared(pooled=False, forget_after=None),
    "a pooled stream that forgets": _shared(pooled=True, forget_after=4.0),
}


def drive(system: System) -> None:
    """Use a system in every way."""
    for number, name in enumerate("abca"):
        system.put(name, number, number)
    system.clock.time += 1.0
    system.put_many("adbea", [10, 11, 12, 13, 14], 4.0)
    system.serve()
    system.look()
    system.put("b", 15, 2.0)
    system.put("f", 16, 5.0)
    system.clock.time += 1.0
    system.finish(give_back=True)
    system.serve(many=3)
    system.put_many("abfg", [17, 18, TOMBSTONE, 19], 6.0)
    system.finish()
    system.put_many("fg", [20, TOMBSTONE], 7.0)
    system.forget("a")
    late = UpdateQueue(system.index(), processing_cost=system.told)
    system.attach(late)
    system.clock.time += 2.0
    system.put_many("aabc", [21, 22, 23, 24], 8.0)
    system.serve(many=2)
    system.put("c", TOMBSTONE, 9.0)
    system.finish()
    system.clock.time += 3.5
    system.look()
    system.put_many("hbi", [25, 26, 27], 10.0)
    system.serve()
    system.finish()
    system.detach()
    system.put("b", 28, 12.0)
    system.put("h", 29, 14.0)
    for _ in range(12):
        system.serve()
        system.finish()
        system.clock.time += 1.0
