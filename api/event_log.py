"""The event log: what arrives at each queue, is dequeued and is delivered, in files.

It exists if the setting `event_log` names a folder. `upstream.events` defines the format, which
`python -m datasets summarize` reads. Each queue has a folder of its own, with `run.json` and
Parquet files that appear complete: one per `EVENTS_PER_FILE` events, or per `FLUSH_SECONDS` with
any events. So a service that is killed loses the events after its last files, and a service that
shuts down loses none.

Times are exactly those that the queues counted with. If there is a log, the service's clock
remembers the last time that it returned, and an event is noted right after the call that caused it.

Update queues are logged, and append queues that keep every update. Adaptive queues, windows, the
private queues of connections, and append queues that drop updates are not logged, because the
service cannot see which updates they drop. `run.json` says what else the events do not tell, such
as expired updates and forgotten keys.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final, NamedTuple

from upstream import (
    BatchOutcome,
    Clock,
    Key,
    Outcome,
    QueueStatistics,
    Stream,
    StreamQueue,
    Update,
)
from upstream.columns import Column, as_list, read_times
from upstream.events import EventKind, Integrated, RunDescription

from .definitions import IN_PROCESS_LIMIT
from .event_files import EventFiles, load_arrow

EVENTS_PER_FILE: Final = 1 << 16
FLUSH_SECONDS: Final = 20.0
SPARE_KEYS: Final = 1_000

_log = logging.getLogger("upstream.event_log")


class NotedClock:
    """A clock that remembers the last time that it returned: the time of the last operation."""

    __slots__ = ("_clock", "last")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.last = clock.now()

    def now(self) -> float:
        """Return the time in seconds."""
        self.last = self._clock.now()
        return self.last


class Handed(NamedTuple):
    """An update that was dequeued; the log keeps it, so that no other object has its identity."""

    update: Update
    number: int
    is_old: bool


class EventLog:
    """The logs of a service's queues."""

    __slots__ = ("_clock", "_failed", "_folder", "_queues", "_run")

    def __init__(self, folder: Path, *, run: str, clock: NotedClock) -> None:
        self._folder = folder / run
        self._run = run
        self._clock = clock
        self._queues: list[QueueLog] = []
        self._failed = 0
        self._folder.mkdir(parents=True, exist_ok=True)  # at the start, so that an error is seen
        load_arrow()  # likewise: the service would not answer for a second

    @property
    def failed(self) -> int:
        """How many queues have no log or an incomplete one, because it could not be written."""
        return self._failed + sum(log.has_failed for log in self._queues)

    def stream(self, stream: Stream) -> StreamLog:
        """Return the log of a new stream."""
        return StreamLog(stream, self._clock)

    def queue(
        self, folder: str, queue: StreamQueue, stream: StreamLog, described: RunDescription
    ) -> QueueLog | None:
        """Return the log of a queue that was attached just now, None if it cannot be written.

        Its `run.json` has the members of `described`.
        """
        attached_at = self._clock.last
        setting = {"service": self._run, "stream": described["stream"]}
        try:
            files = EventFiles(self._folder / folder, {**described, "setting": setting})
        except OSError:
            _log.exception("an event log cannot be written")
            self._failed += 1
            return None
        log = QueueLog(files, queue, stream, keeps_all=described["policy"] == "append")
        log.begin(attached_at)
        if log.is_finished:
            self._failed += log.has_failed
            return None
        self._queues.append(log)
        return log

    def drop(self, log: QueueLog) -> None:
        """End the log of a queue that is about to be removed, and forget the log."""
        log.finish()
        self._forget_finished()

    async def run(self) -> None:
        """Write the events that were not written yet, every `FLUSH_SECONDS`, until cancelled."""
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            for log in [*self._queues]:
                log.flush()
                await asyncio.sleep(0)  # other tasks run between two files
            self._forget_finished()

    def flush(self) -> None:
        """Write the events that were not written yet."""
        for log in self._queues:
            log.flush()
        self._forget_finished()

    def finish(self) -> None:
        """End all logs."""
        for log in self._queues:
            log.finish()
        self._forget_finished()

    def _forget_finished(self) -> None:
        self._failed = self.failed
        self._queues = [log for log in self._queues if not log.is_finished]


class StreamLog:
    """The part of the log that a stream's queues share: update numbers, and the newest by key.

    Nothing is noted while no queue is logged. The first logged queue starts from the keys that the
    stream has at that moment: one update per key, numbered in no particular order.
    """

    __slots__ = ("_newest", "_next", "_stream", "clock", "queues")

    def __init__(self, stream: Stream, clock: NotedClock) -> None:
        self._stream = stream
        self.clock = clock
        self.queues: list[QueueLog] = []
        self._newest: dict[Key, tuple[float, int]] = {}
        self._next = 0

    def newest(self, key: Key) -> int:
        """Return the number of the newest update that was accepted of a key."""
        return self._newest[key][1]

    def add(self, queue: QueueLog) -> None:
        """Note what arrives from now on for a queue. O(keys) if it is the only one."""
        if not self.queues:
            for key, time in self._stream.newest_times().items():
                self._newest[key] = (time, self._next)
                self._next += 1
        self.queues.append(queue)

    def remove(self, queue: QueueLog) -> None:
        """Note nothing more for a queue."""
        if queue in self.queues:
            self.queues.remove(queue)
        if not self.queues:
            self._newest = {}
            self._next = 0

    def arrived_one(self, key: Key, time: float | None, outcome: Outcome) -> None:
        """Note one update, and what became of it."""
        if not self.queues:
            return
        now = self.clock.last
        self._arrived(key, now if time is None else time, now, outcome is Outcome.REJECTED)
        self._flush_full()

    def arrived(self, keys: Column, times: Column | None, outcome: BatchOutcome) -> None:
        """Note a batch, and what became of it."""
        if not self.queues:
            return
        now = self.clock.last
        names = as_list("keys", keys)
        moments = [now] * len(names) if times is None else read_times(times).tolist()
        rejected = frozenset(outcome.rejected_rows)
        for row, (key, time) in enumerate(zip(names, moments, strict=True)):
            self._arrived(key, time, now, row in rejected)
        self._flush_full()

    def forget(self, key: Key) -> None:
        """Note that the stream has forgotten a key, which no longer waits anywhere."""
        self._newest.pop(key, None)
        for queue in self.queues:
            queue.forget(key)

    def tidy(self) -> None:
        """Forget the keys that the stream has forgotten, once these may be half of all."""
        if len(self._newest) > 2 * len(self._stream) + SPARE_KEYS:
            stream = self._stream
            self._newest = {key: newest for key, newest in self._newest.items() if key in stream}

    def _arrived(self, key: Key, time: float, now: float, is_rejected: bool) -> None:
        number = self._next
        self._next += 1
        known = self._newest.get(key)
        is_late = known is not None and time < known[0]
        if not (is_late or is_rejected):
            self._newest[key] = (time, number)
        for queue in self.queues:
            queue.arrived(key, number, now, is_late=is_late, is_rejected=is_rejected)

    def _flush_full(self) -> None:
        """Write full files: after a whole batch, because the queues have counted all of it."""
        for queue in [*self.queues]:  # a log that cannot be written removes itself
            queue.flush_full()


class QueueLog:
    """The log of one queue."""

    __slots__ = (
        *("_dequeue", "_files", "_handed", "_keeps_all", "_queue", "_rejected", "_stream"),
        *("_waiting", "has_failed", "is_finished"),
    )

    def __init__(
        self, files: EventFiles, queue: StreamQueue, stream: StreamLog, *, keeps_all: bool
    ) -> None:
        self._files = files
        self._queue = queue
        self._stream = stream
        self._keeps_all = keeps_all
        self._dequeue: Callable[[], Update | None] = queue.dequeue
        self._handed: OrderedDict[int, Handed] = OrderedDict()
        self._waiting: dict[Key, deque[tuple[int, bool]]] = {}
        """Only of a queue that keeps every update: by key, what waits, and whether it is old."""
        self._rejected = 0
        self.is_finished = False
        self.has_failed = False
        """Whether it ended because it could not be written."""

    def begin(self, now: float) -> None:
        """Note the keys that the queue took over from its stream as arrived now, then go on."""
        self._stream.add(self)
        for update in self._queue.snapshot():
            number = self._stream.newest(update.key)
            self.arrived(update.key, number, now, is_late=False, is_rejected=False)
        with self._ended_on_failure():
            self._files.describe({"start": now, "is_finished": False})
        self.flush_full()

    def arrived(
        self, key: Key, number: int, now: float, *, is_late: bool, is_rejected: bool
    ) -> None:
        """Note an update that reached the queue; write nothing yet."""
        kind = EventKind.ARRIVAL
        if is_rejected:
            kind = EventKind.REJECTED
            self._rejected += 1
        elif is_late:
            kind = EventKind.OLD if self._keeps_all else EventKind.LATE
        if self._keeps_all and not is_rejected:
            self._waiting.setdefault(key, deque()).append((number, is_late))
        self._note(now, kind, key, number)

    def dequeue(self) -> Update | None:
        """Dequeue an update, and note that."""
        update = self._dequeue()
        if update is None or self.is_finished:
            return update
        number, is_old = self._stream.newest(update.key), False
        if self._keeps_all:
            waiting = self._waiting[update.key]
            number, is_old = waiting.popleft()
            if not waiting:
                del self._waiting[update.key]
        self._handed[id(update)] = Handed(update, number, is_old)
        if len(self._handed) > IN_PROCESS_LIMIT:  # the queue took it as delivered, too
            self._handed.popitem(last=False)
        self._note(self._stream.clock.last, EventKind.DEQUEUE, update.key, number)
        self.flush_full()
        return update

    def delivered(self, update: Update) -> None:
        """Note that an update was delivered just now."""
        handed = self._handed.pop(id(update), None)
        if handed is not None:
            kind = EventKind.OLD_DELIVERY if handed.is_old else EventKind.DELIVERY
            self._note(self._stream.clock.last, kind, update.key, handed.number)
            self.flush_full()

    def forget_handed(self, update: Update) -> None:
        """Forget an update that the queue has forgotten."""
        self._handed.pop(id(update), None)

    def returned(self, update: Update) -> None:
        """Note that an update was given back just now."""
        handed = self._handed.pop(id(update), None)
        if handed is not None:
            if self._keeps_all:
                waiting = self._waiting.setdefault(update.key, deque())
                waiting.appendleft((handed.number, handed.is_old))
            self._note(self._stream.clock.last, EventKind.RETURN, update.key, handed.number)
            self.flush_full()

    def forget(self, key: Key) -> None:
        """Note that nothing of a key waits any more."""
        self._waiting.pop(key, None)

    def flush_full(self) -> None:
        """Write the events that were not written yet, if they fill a file."""
        if len(self._files.events) >= EVENTS_PER_FILE:
            self.flush()

    def flush(self) -> None:
        """Write the events that were not written yet, and describe the run."""
        if self.is_finished or not len(self._files.events):
            return
        with self._ended_on_failure():
            statistics = self._queue.statistics()
            self._files.flush()
            self._describe(statistics, {"is_finished": False, "integrated": None})
            self._stream.tidy()

    def finish(self) -> None:
        """Write the remaining events and what the queue itself measured; note nothing more.

        O(keys).
        """
        if self.is_finished:
            return
        with self._ended_on_failure():
            statistics = self._queue.statistics()
            means = self._queue.mean_staleness(self._queue.key_staleness())
            integrated = Integrated(
                queue_staleness=means[0],
                application_staleness=means[1],
                keys=statistics.keys + statistics.forgotten,
                counters=asdict(statistics),
            )
            self._files.flush()
            self._describe(statistics, {"is_finished": True, "integrated": integrated})
        self._end()

    def _end(self) -> None:
        """Note nothing more, and release the memory."""
        self.is_finished = True
        self._stream.remove(self)
        self._handed.clear()
        self._waiting.clear()
        self._files.events.drop()

    def _note(self, now: float, kind: EventKind, key: Key, number: int) -> None:
        if not self.is_finished:
            self._files.events.note(now, kind, key, number)

    def _describe(self, statistics: QueueStatistics, rest: RunDescription) -> None:
        self._files.describe(
            {
                "end": self._stream.clock.last,
                "events": self._files.events.written,
                "processing_cost": self._queue.processing_cost,
                "not_told": self._not_told(statistics),
                **rest,
            }
        )

    def _not_told(self, counted: QueueStatistics) -> dict[str, list[str]]:
        """Return why each kind of staleness cannot be recomputed from the events."""
        both = {
            "keys were forgotten": counted.forgotten,
            "updates were taken as delivered": counted.taken_as_delivered,
            "updates were rejected here that others took": counted.rejected - self._rejected,
        }
        reasons = [f"{count:,} {what}" for what, count in both.items() if count]
        expired = [f"{counted.expired:,} updates expired"] if counted.expired else []
        return {"queue": reasons + expired, "application": reasons}

    @contextmanager
    def _ended_on_failure(self) -> Iterator[None]:
        """End this log, and not the service, if it cannot be written."""
        try:
            yield
        except Exception:  # noqa: BLE001 - a fault of the log is no fault of a request
            _log.exception("an event log cannot be written, and ends here")
            self.has_failed = True
            self._end()
