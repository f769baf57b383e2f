"""Streams and queues of the service: what it keeps beside the library's objects."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Iterable, Sequence
from typing import Literal

from upstream import (
    TOMBSTONE,
    BatchOutcome,
    ClosedError,
    Key,
    NotInProcessError,
    Outcome,
    PagePoolFullError,
    Stream,
    UnknownKeyError,
    Update,
    ValueTooLargeError,
)
from upstream.columns import Column
from upstream.events import RunDescription
from upstream.push_limits import MOST_APPENDED

from .bodies import stored_length
from .consumer_pace import ConsumerPace
from .counters import AnyStatistics, sum_of
from .definitions import (
    IN_PROCESS_LIMIT,
    AnyQueue,
    QueueDefinition,
    StreamDefinition,
    Wrap,
)
from .deletions import Deletions
from .event_log import EventLog, QueueLog, StreamLog
from .leases import Leases
from .push.subscription import Subscription
from .queue_reports import QueueReports
from .staleness_report import LibraryQueue
from .time_bound import TimeBound
from .wake_list import WakeList
from .window_results import WindowResults

Serves = Literal["dequeue", "push"]


class StreamEntry:
    """A stream, with its connections and the requests that wait for its next update."""

    def __init__(
        self, name: str, stream: Stream, definition: StreamDefinition, *, run: str
    ) -> None:
        self.name = name
        self.identity = secrets.token_hex(6)
        """Distinguishes it from earlier and later streams of its name."""
        self.stream = stream
        self.definition = definition
        self.run = f"{run}.{self.identity}"
        """Distinguishes this stream from others of its name, also in other runs of the service."""
        self.queues: dict[str, QueueEntry] = {}
        self.subscribers: set[Subscription] = set()
        self.deletions = Deletions(
            start=stream.now(), is_gone=lambda key: self.stream.read(key) is None
        )
        self.time_bound = TimeBound(definition.most_ahead, now=stream.clock.now)
        self.too_far_ahead = 0
        """How many updates were rejected because their times were too far ahead."""
        self.is_dropped = False
        self.log: StreamLog | None = None
        """Logs what arrives, if the service keeps an event log."""
        self.idle = WakeList()
        """The connections and requests that wait for the next update."""

    def take_in(self, keys: Column, values: Column, times: Column | None = None) -> BatchOutcome:
        """Enqueue a batch, and wake what waits for it."""
        outcome = self.stream.enqueue_many(keys, values, times)
        if self.log is not None:
            self.log.arrived(keys, times, outcome)
        self.idle.wake_all()
        return outcome

    def rows_ahead(self, times: Sequence[float] | None) -> list[int]:
        """Return the rows whose times are too far ahead, and count them as rejected. O(rows).

        If a bound applies for the first time, keys with times beyond it are reset: they were
        accepted without a bound, and must not make later updates late.
        """
        bound = self.time_bound
        before = bound.seconds
        rows = bound.rows_ahead(times)
        if bound.seconds < before:
            limit = bound.limit
            for key, time in self.stream.newest_times().items():
                if time > limit:
                    self.reset(key)
        self.too_far_ahead += len(rows)
        return rows

    def reset(self, key: Key) -> bool:
        """Forget a key at once, and return whether it was known.

        Its waiting updates count as expired. Updates in process can be delivered, but do not wait
        again. The next update is accepted whatever its time.
        """
        if key not in self.stream:
            return False
        self.stream.forget(key)
        if self.log is not None:
            self.log.forget(key)
        return True

    def misfits(self, values: Iterable[object]) -> list[int]:
        """Return the rows whose values do not fit into the stream's page pool. O(values)."""
        rows = []
        for row, value in enumerate(values):
            try:
                self.stream.has_room_for([value])
            except ValueTooLargeError:
                rows.append(row)
        return rows

    def take_in_one(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue one update, and wake what waits for it."""
        try:
            outcome = self.stream.enqueue(key, value, time)
        except PagePoolFullError:
            outcome = Outcome.REJECTED
        if self.log is not None:
            self.log.arrived_one(key, time, outcome)
        self.idle.wake_all()
        return outcome

    def delete(self, key: Key) -> Outcome:
        """Send the deletion of a key; raises UnknownKeyError if the key is not known.

        The deletion has the time of the value that it deletes. So an update that is newer than the
        value is newer than its deletion, too.
        """
        time = self.stream.newest_time(key)
        if time is None:
            raise UnknownKeyError(key)
        outcome = self.take_in_one(key, TOMBSTONE, time)
        # Not before: a client that resumes from the deletion's arrival must get it.
        self.deletions.note(key, time=time, arrival=self.stream.now())
        return outcome

    def drop(self) -> None:
        """Close the stream: wake what waits, and release everything.

        Answers that are kept for retries may refer to this entry, but not to its page pool.
        """
        self.is_dropped = True
        self.stream = Stream()
        self.stream.close()
        self.deletions.close()
        self.idle.wake_all()


class QueueEntry:
    """A queue, the leases on its updates, and the requests that wait for more.

    Every push connection has a private queue with this queue's definition. If connections have
    followed a queue and nothing was dequeued from it, the queue *rests*: its library queue is
    attached to no stream, so it holds nothing, and no deletion waits for it. The first dequeue
    attaches that queue, with the keys that have changed since it was defined. A queue does not rest
    if updates that wait in it would be lost (`_may_rest`).
    """

    def __init__(self, name: str, stream: StreamEntry, definition: QueueDefinition) -> None:
        self.name = name
        self.identity = secrets.token_hex(6)
        """Distinguishes it from earlier and later queues of its name."""
        self.stream = stream
        self.definition = definition
        self.pace = ConsumerPace()
        self.queue: AnyQueue = self._make_queue()
        self.serves: Serves = "dequeue"
        """Whether updates are dequeued from it, or only push connections use its definition."""
        self._is_dequeued = False
        self._defined_at = stream.stream.now()
        self._past: AnyStatistics | None = None
        """The final counters of the queue from before it rested."""
        self._event_log: EventLog | None = None
        self.leases: Leases | None = None
        if definition.lease_seconds is not None:
            self.leases = Leases(
                definition.lease_seconds, give_back=self._give_back_one, most=IN_PROCESS_LIMIT
            )
        self.is_dropped = False
        self.log: QueueLog | None = None
        """Logs what is dequeued and delivered, if the service keeps an event log."""
        self.reports = QueueReports(self.source)
        self.idle = WakeList()
        """The requests that wait for updates to come back. `stream.idle` has them, too."""
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = math.inf

    def begin(self) -> None:
        """Attach the queue to its stream, with a snapshot if the definition asks for it."""
        attach(self.stream.stream, self.queue, snapshot=self.definition.snapshot)

    @property
    def source(self) -> LibraryQueue:
        """The library's queue, with the counters and the staleness."""
        queue = self.queue
        return queue.queue if isinstance(queue, WindowResults) else queue

    def statistics(self) -> AnyStatistics:
        """Return the exact counters since the queue was defined."""
        present = self.source.statistics()
        return present if self._past is None else sum_of(self._past, present)

    def serve_push(self) -> None:
        """Note that a connection follows the queue: it rests from now on if nothing is dequeued."""
        if self._is_dequeued or self.serves == "push" or not self._may_rest():
            return
        if self.log is not None and self._event_log is not None:
            self._event_log.drop(self.log)
            self.log = None
        # What waits counts as expired, as that of forgotten keys does.
        self._past = self.source.close(dropping=True)
        self.serves = "push"
        self.queue = self._make_queue()
        self.reports.close()
        self.reports = QueueReports(self.source)

    def _may_rest(self) -> bool:
        """Tell whether the queue can rest without losing updates that wait in it.

        An update queue can, since its stream has the newest values. Other kinds cannot restore what
        they drop, so a push connection must not empty them.
        """
        if self.definition.keep_for_dequeue is not None:
            return not self.definition.keep_for_dequeue
        stream_has_all = self.definition.kind == "update" and self.stream.stream.retain
        return stream_has_all or len(self.queue) == 0

    def _serve_dequeue(self) -> None:
        """Note a dequeue: a queue that rests is attached now.

        It begins with what may be new to a consumer that knew the stream when the queue was
        defined.
        """
        if self.serves == "dequeue":
            self._is_dequeued = True
            return
        if self.is_dropped:
            raise ClosedError("queue")
        stream, since = self.stream.stream, self._defined_at
        if self.definition.snapshot:
            since = -math.inf
        attach(
            stream,
            self.queue,
            since=since if stream.retain else None,
            deletions=self.stream.deletions.remembered(self._defined_at),
        )
        self.serves = "dequeue"
        self._is_dequeued = True
        if self._event_log is not None:
            self.keep_log(self._event_log)

    def take(self, limit: int, most_bytes: int) -> list[Update]:
        """Dequeue up to `limit` updates, fewer if their values are large."""
        self._serve_dequeue()
        self.catch_up()
        dequeue = self.queue.dequeue if self.log is None else self.log.dequeue
        updates: list[Update] = []
        while len(updates) < limit and most_bytes > 0 and (update := dequeue()) is not None:
            updates.append(update)
            most_bytes -= stored_length(update.key) + stored_length(update.value)
        if self.leases is None and updates:
            more_waits = len(updates) == limit and len(self.queue) > 0
            self.pace.answered(len(updates), more_waits=more_waits, now=self.stream.stream.now())
        return updates

    def lease(self, updates: Iterable[Update], *, expires: bool) -> list[str] | None:
        """Return leases for dequeued updates, or None if the queue has no leases."""
        if self.leases is None:
            return None
        names = self.leases.grant(updates, now=self.stream.stream.now(), expires=expires)
        self._set_timer()
        return names

    def let_expire(self, names: Iterable[str]) -> None:
        """Let leases run out that lasted while a retry was possible."""
        if self.leases is not None and not self.is_dropped:
            self.leases.let_expire(names, self.stream.stream.now())
            self.catch_up()
            self._set_timer()

    def take_back(self, updates: Iterable[Update], names: Iterable[str] | None) -> None:
        """Give back updates whose answer did not arrive, and end their leases."""
        if self.leases is not None:
            for name in names or ():
                self.leases.end(name)
        self.give_back(updates)

    def deliver(self, updates: Iterable[Update]) -> int:
        """Deliver updates; return how many of them were still in process."""
        if self.is_dropped:
            return 0
        delivered = 0
        for update in updates:
            try:
                self.queue.deliver(update)
            except NotInProcessError:  # too many were in process, so it counts as delivered already
                if self.log is not None:
                    self.log.forget_handed(update)
                continue
            delivered += 1
            if self.log is not None:
                self.log.delivered(update)
        return delivered

    def give_back(self, updates: Iterable[Update]) -> None:
        """Give back updates that did not reach a consumer, in the order of service."""
        for update in updates:
            self._give_back_one(update)
        self.idle.wake_all()

    def catch_up(self) -> None:
        """Give back updates whose leases have run out."""
        if self.leases is not None and self.leases.expire(self.stream.stream.now()):
            self.idle.wake_all()

    def keep_log(self, log: EventLog) -> None:
        """Log the queue's events from now on, if its kind allows it (see `event_log`).

        Called right after the queue was attached.
        """
        self._event_log = log
        definition, stream, queue = self.definition, self.stream.log, self.queue
        keeps_all = definition.kind == "append"
        drops = definition.capacity is not None or definition.time_to_live is not None
        is_told = definition.kind == "update" or (keeps_all and not drops)
        is_own = self.name.startswith("_")  # a queue of the service's own
        if stream is None or isinstance(queue, WindowResults) or not is_told or is_own:
            return
        described: RunDescription = {
            "name": self.name,
            "policy": "append" if keeps_all else definition.scheduler,
            "waiting_per_key": "many" if keeps_all else "one",
            "stream": definition.stream,
            "definition": definition.model_dump(mode="json"),
        }
        folder = f"{self.name}-{self.identity}"
        if self._past is not None:
            folder += "-again"
        self.log = log.queue(folder, queue, stream, described)

    def attach_private(
        self, wrap: Wrap | None = None, *, snapshot: bool = False, since: float | None = None
    ) -> AnyQueue:
        """Return a new queue like this one, attached to the same stream, for one connection.

        It drops nothing: a client that is behind, or wants a key rarely, gets the newest value of
        every key. So it has no capacity and no time to live. If this queue is an append queue, the
        new one keeps every update while the client keeps up, and conflates beyond.
        """
        definition = self.definition
        changes: dict[str, object] = {"shedding": False, "time_to_live": None}
        if definition.kind == "append":
            changes |= {"kind": "adaptive", "capacity": MOST_APPENDED}
        elif definition.kind != "adaptive":
            changes["capacity"] = None
        definition = definition.model_copy(update=changes)
        queue = definition.make_queue(wrap=wrap)
        attach(self.stream.stream, queue, snapshot=snapshot, since=since)
        return queue

    def close(self) -> AnyStatistics:
        """Detach the queue, release what it holds, and return the final counters."""
        self.source.close()
        return self.statistics()

    def drop(self) -> None:
        """Close the entry: wake what waits, and end all leases."""
        self.is_dropped = True
        self.reports.close()
        if self.leases is not None:
            self.leases.clear()
            self.leases = None  # it refers to this entry
        if self._timer is not None:
            self._timer.cancel()
        self.idle.wake_all()

    def _make_queue(self) -> AnyQueue:
        told = self.pace.seconds if self.definition.lease_seconds is None else None
        return self.definition.make_queue(told_cost=told)

    def _give_back_one(self, update: Update) -> None:
        if self.is_dropped:
            return
        try:
            self.queue.give_back(update)
        except NotInProcessError:  # it counts as delivered already
            note = None if self.log is None else self.log.forget_handed
        except PagePoolFullError:
            self.queue.deliver(update)  # there is no room for it, so it counts as delivered
            note = None if self.log is None else self.log.delivered
        else:
            note = None if self.log is None else self.log.returned
        if note is not None:
            note(update)

    def _set_timer(self) -> None:
        """Wake up when the next lease runs out."""
        assert self.leases is not None
        due = self.leases.next_due()
        if due >= self._timer_due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = due
        delay = max(due - self.stream.stream.now(), 0.0)
        self._timer = asyncio.get_running_loop().call_later(delay, self._lease_ran_out)

    def _lease_ran_out(self) -> None:
        self._timer = None
        self._timer_due = math.inf
        if not self.is_dropped:
            self.catch_up()
            self._set_timer()


def attach(
    stream: Stream,
    queue: AnyQueue,
    *,
    snapshot: bool = False,
    since: float | None = None,
    deletions: Iterable[Update] = (),
) -> None:
    """Attach a queue of any kind to a stream; see `Stream.attach`."""
    fed = queue.queue if isinstance(queue, WindowResults) else queue
    stream.attach(fed, snapshot=snapshot or since is not None, since=since, deletions=deletions)
