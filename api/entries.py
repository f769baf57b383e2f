"""What the service knows of each stream and each queue, beside what the library does."""

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
from upstream.push_limits import MOST_APPENDED
from upstream.queues.columns import Column

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
from .wake_list import Wake, WakeList
from .window_results import WindowResults

Serves = Literal["dequeue", "push"]


class StreamEntry:
    """A stream, who waits for its next update, and who is connected to it."""

    def __init__(
        self, name: str, stream: Stream, definition: StreamDefinition, *, run: str
    ) -> None:
        self.name = name
        self.identity = secrets.token_hex(6)
        """What tells it from others of its name, before it and after."""
        self.stream = stream
        self.definition = definition
        self.run = f"{run}.{self.identity}"
        """What tells this life of the stream from others: of its name, and of the service."""
        self.queues: dict[str, QueueEntry] = {}
        self.subscribers: set[Subscription] = set()
        self.deletions = Deletions(
            start=stream.now(), is_gone=lambda key: self.stream.read(key) is None
        )
        self.time_bound = TimeBound(definition.most_ahead, now=stream.clock.now)
        self.too_far_ahead = 0
        """How many updates were rejected since their times were too far ahead."""
        self.is_dropped = False
        self.log: StreamLog | None = None
        """What notes what arrives, if the service keeps an event log."""
        self._idle = WakeList()

    def take_in(self, keys: Column, values: Column, times: Column | None = None) -> BatchOutcome:
        """Enqueue a batch, and wake who waits for it."""
        outcome = self.stream.enqueue_many(keys, values, times)
        if self.log is not None:
            self.log.arrived(keys, times, outcome)
        self._idle.wake_all()
        return outcome

    def rows_ahead(self, times: Sequence[float] | None) -> list[int]:
        """Return the rows to reject, since their times are too far ahead, and count them. O(rows).

        Where a bound is found only now, keys whose times are beyond it are reset: what found none
        must not make late what follows.
        """
        bound = self.time_bound
        before = bound.seconds
        rows = bound.rows_ahead(times)
        if bound.seconds < before:
            limit = bound.limit
            for cell in [cell for cell in self.stream.cells() if cell.time > limit]:
                self.reset(cell.key)
        self.too_far_ahead += len(rows)
        return rows

    def reset(self, key: Key) -> bool:
        """Forget all that is known of a key at once, and return whether it was known.

        What waits of it counts as expired; what is in process can be delivered, and does not wait
        again. The next update is accepted whatever its time.
        """
        if self.stream.find(key) is None:
            return False
        self.stream.forget(key)
        if self.log is not None:
            self.log.forget(key)
        return True

    def misfits(self, values: Iterable[object]) -> list[int]:
        """Return which of these values are longer than the stream's whole page pool. O(values)."""
        rows = []
        for row, value in enumerate(values):
            try:
                self.stream.values.encode(value)
            except ValueTooLargeError:
                rows.append(row)
        return rows

    def take_in_one(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue one update, and wake who waits for it."""
        try:
            outcome = self.stream.enqueue(key, value, time)
        except PagePoolFullError:
            outcome = Outcome.REJECTED
        if self.log is not None:
            self.log.arrived_one(key, time, outcome)
        self._idle.wake_all()
        return outcome

    def delete(self, key: Key) -> Outcome:
        """Send the deletion of a key; UnknownKeyError if it is not known.

        Its time is that of the value which it deletes, on the scale of whoever sent that: what is
        newer than this value is newer than its deletion, too.
        """
        cell = self.stream.find(key)
        if cell is None or cell.value is TOMBSTONE:
            raise UnknownKeyError(key)
        time = cell.time
        outcome = self.take_in_one(key, TOMBSTONE, time)
        # Not before: who goes on from the deletion's arrival must be told of it.
        self.deletions.note(key, time=time, arrival=self.stream.now())
        return outcome

    def wake_on_update(self, wake: Wake) -> None:
        """Call `wake` once, after updates were taken in the next time, or the stream is dropped."""
        self._idle.add(wake)

    def wake_waiting(self) -> None:
        """Call everybody who waits, since the service ends."""
        self._idle.wake_all()

    def stop_waking(self, wake: Wake) -> None:
        """Do not call `wake`, if it was to be called."""
        self._idle.discard(wake)

    def drop(self) -> None:
        """Let those who wait find that there is nothing to wait for, and free everything.

        Answers that are kept for retries may hold on to this entry, but to no page pool.
        """
        self.is_dropped = True
        self.stream = Stream.closed("stream")
        self.deletions.close()
        self._idle.wake_all()


class QueueEntry:
    """A queue, the leases on what was handed out, and who waits for more.

    Push connections have private queues of its definition. A queue from which nothing was ever
    dequeued, and that connections were served from, is only their definition. It *rests*: its
    library queue is one that no stream feeds, so it holds nothing, and no deletion waits for it.
    The first dequeue attaches that queue, with the keys that have changed since it was defined.
    A queue does not rest if that would lose what waits in it (`_may_rest`).
    """

    def __init__(self, name: str, stream: StreamEntry, definition: QueueDefinition) -> None:
        self.name = name
        self.identity = secrets.token_hex(6)
        """What tells it from others of its name, before it and after."""
        self.stream = stream
        self.definition = definition
        self.pace = ConsumerPace()
        lease_seconds = definition.lease_seconds
        self.queue: AnyQueue = self._make_queue()
        self.serves: Serves = "dequeue"
        """Whether it is read by itself, or is only what the queues of connections are like."""
        self._is_dequeued = False
        self._defined_at = stream.stream.now()
        self._past: AnyStatistics | None = None
        """The final counters of the queue from before it rested."""
        self._event_log: EventLog | None = None
        self.leases: Leases | None = None
        if lease_seconds is not None:
            self.leases = Leases(
                lease_seconds, give_back=self._give_back_one, most=IN_PROCESS_LIMIT
            )
        self.is_dropped = False
        self.log: QueueLog | None = None
        """What notes what is handed out and delivered, if the queue's events are logged."""
        self.reports = QueueReports(self.source)
        self._idle = WakeList()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = math.inf

    def begin(self) -> None:
        """Let the stream feed the queue, from all newest values if the definition says so."""
        attach(self.stream.stream, self.queue, snapshot=self.definition.snapshot)

    @property
    def source(self) -> LibraryQueue:
        """The library's queue, whose counters and staleness are those of this one."""
        queue = self.queue
        return queue.queue if isinstance(queue, WindowResults) else queue

    def statistics(self) -> AnyStatistics:
        """Return the exact counters, since the queue was defined."""
        present = self.source.statistics()
        return present if self._past is None else sum_of(self._past, present)

    def serve_push(self) -> None:
        """Note that a connection is served: what nobody dequeues from rests from now on."""
        if self._is_dequeued or self.serves == "push" or not self._may_rest():
            return
        if self.log is not None and self._event_log is not None:
            self._event_log.drop(self.log)
            self.log = None
        self._past = self._close_empty()
        self.serves = "push"
        self._renew()

    def _may_rest(self) -> bool:
        """Tell whether the queue can do without what waits in it.

        An update queue can, as its stream has the newest values. Other kinds cannot get back what
        they drop, so looking at one with a push connection must not empty it.
        """
        if self.definition.keep_for_dequeue is not None:
            return not self.definition.keep_for_dequeue
        stream_has_all = self.definition.kind == "update" and self.stream.stream.values.retain
        return stream_has_all or len(self.queue) == 0

    def _close_empty(self) -> AnyStatistics:
        """Close the queue; what waits counts as expired, as that of forgotten keys does."""
        queue, stream = self.source, self.stream.stream
        now = stream.catch_up()
        for cell in list(stream.cells()):
            queue.forget_cell(cell, now)
        return queue.close()

    def _renew(self) -> None:
        self.queue = self._make_queue()
        self.reports.close()
        self.reports = QueueReports(self.source)

    def _serve_dequeue(self) -> None:
        """Note that something is dequeued, or would be: the queue does not rest, or no more.

        It begins with what a consumer may lack that knew the stream when the queue was defined.
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
            since=since if stream.values.retain else None,
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
        """Return the leases of updates that were taken, None if the queue has none."""
        if self.leases is None:
            return None
        names = self.leases.grant(updates, now=self.stream.stream.now(), expires=expires)
        self._set_timer()
        return names

    def let_expire(self, names: Iterable[str]) -> None:
        """Let leases run out that did not while a retry could come."""
        if self.leases is not None and not self.is_dropped:
            self.leases.let_expire(names, self.stream.stream.now())
            self.catch_up()
            self._set_timer()

    def take_back(self, updates: Iterable[Update], names: Iterable[str] | None) -> None:
        """Let updates wait again whose answer went nowhere, and end their leases."""
        if self.leases is not None:
            for name in names or ():
                self.leases.end(name)
        self.give_back(updates)

    def deliver(self, updates: Iterable[Update]) -> int:
        """Note that consumers have these updates; return how many were still theirs."""
        if self.is_dropped:
            return 0
        delivered = 0
        for update in updates:
            try:
                self.queue.deliver(update)
            except NotInProcessError:  # so many were handed out since that it was given up
                if self.log is not None:
                    self.log.given_up(update)
                continue
            delivered += 1
            if self.log is not None:
                self.log.delivered(update)
        return delivered

    def give_back(self, updates: Iterable[Update]) -> None:
        """Let updates wait again that no consumer got, in the order in which they were served."""
        for update in updates:
            self._give_back_one(update)
        self._idle.wake_all()

    def catch_up(self) -> None:
        """Give back what consumers have had for too long."""
        if self.leases is not None and self.leases.expire(self.stream.stream.now()):
            self._idle.wake_all()

    def keep_log(self, log: EventLog) -> None:
        """Note from now on what becomes of updates, where that can be told (see `event_log`).

        Called right after the queue was attached.
        """
        self._event_log = log
        definition, stream, queue = self.definition, self.stream.log, self.queue
        keeps_all = definition.kind == "append"
        drops = definition.capacity is not None or definition.time_to_live is not None
        is_told = definition.kind == "update" or (keeps_all and not drops)
        is_own = self.name.startswith("_")  # the service's, of which clients need not hear
        if stream is None or isinstance(queue, WindowResults) or not is_told or is_own:
            return
        described = {
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
        """Return a new queue like this one, fed by the same stream, for one connection.

        But that it drops nothing: whoever is behind, or wants a key seldom, gets the newest values,
        and misses no key. So it has no capacity, nothing expires, and one that keeps every update
        does so while its reader keeps up.
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

    def wake_on_update(self, wake: Wake) -> None:
        """Call `wake` once, when there may be something to dequeue."""
        self._idle.add(wake)
        self.stream.wake_on_update(wake)

    def wake_waiting(self) -> None:
        """Call everybody who waits, since the service ends."""
        self._idle.wake_all()

    def stop_waking(self, wake: Wake) -> None:
        """Do not call `wake`, if it was to be called."""
        self._idle.discard(wake)
        self.stream.stop_waking(wake)

    def close(self) -> AnyStatistics:
        """Detach the queue and free what it holds; return the final counters."""
        self.source.close()
        return self.statistics()

    def drop(self) -> None:
        """Let those who wait find that there is nothing to wait for."""
        self.is_dropped = True
        self.reports.close()
        if self.leases is not None:
            self.leases.clear()
            self.leases = None  # it refers to this entry
        if self._timer is not None:
            self._timer.cancel()
        self._idle.wake_all()

    def _make_queue(self) -> AnyQueue:
        told = self.pace.seconds if self.definition.lease_seconds is None else None
        return self.definition.make_queue(told_cost=told)

    def _give_back_one(self, update: Update) -> None:
        if self.is_dropped:
            return
        try:
            self.queue.give_back(update)
        except NotInProcessError:  # it was given up since, and counted as delivered
            note = None if self.log is None else self.log.given_up
        except PagePoolFullError:
            self.queue.deliver(update)  # nobody has room for it; it is counted as handed out
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
    """Let a stream feed a queue of any kind; see `Stream.attach`."""
    fed = queue.queue if isinstance(queue, WindowResults) else queue
    stream.attach(fed, snapshot=snapshot or since is not None, since=since, deletions=deletions)
