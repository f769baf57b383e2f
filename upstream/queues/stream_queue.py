"""What all kinds of queues of updates share: deliveries, staleness, and their stream.

A queue is fed by a `Stream`. A queue that is not attached to one has a stream of its own, so
updates always arrive in the same way. The kinds of queues differ in what waits: see `Waiting`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial

from ..clock import steps_back_of
from ..columns import Column
from ..errors import AlreadyAttachedError, ClosedError, ParameterError
from ..keys import Place
from ..statistics import ProcessingCost, QueueStatistics, UpdateRates, check_count
from ..updates import BatchOutcome, Key, Outcome, Update
from . import staleness_methods
from .cycles import Cycles
from .in_process import InProcess
from .log.log_waiting import LogWaiting
from .places import QueuePlaces
from .serving import serve_many
from .stream.deadlines import check_age
from .stream.feed import Feed
from .stream.intake import Intake
from .stream.listener import Beginning, Listener
from .stream.stream import Stream
from .waiting import Waiting

MakeWaiting = Callable[[QueuePlaces, InProcess], Waiting]


class StreamQueue(ABC):
    """A queue of updates, fed by one stream.

    The kinds are `UpdateQueue`, `AppendQueue` and `AdaptiveQueue`; use one of them. They share
    these parameters:

    `clock` is where the queue reads the time. The default is a `SystemClock`.
    `rates` are the update rates of the keys, in updates per second, as a mapping or a function of
    the key. By default they are estimated.
    `forget_after` is the seconds after which a key without updates is forgotten. By default keys
    are not forgotten.
    `time_to_live` is the seconds after its arrival at which a waiting update expires. By default
    updates do not expire.
    `processing_cost` is the seconds that the consumer needs for one update: a number, or a function
    that returns the present cost or None. By default it is measured.
    `forgetting` is the weight of the newest value in whatever is estimated or measured.
    `in_process_limit` is the largest number of updates in process. Beyond it, the oldest is taken
    as delivered.

    `clock`, `rates` and `forget_after` belong to the queue's own stream. They no longer apply when
    the queue is attached to another stream.
    """

    _intake: Intake

    __slots__ = (
        "__weakref__",
        "_cost",
        "_cycles",
        "_deadlines",
        "_feed",
        "_final",
        "_in_process",
        "_intake",
        "_is_attached",
        "_places",
        "_reader",
        "_stream",
        "_ticks",
        "_waiting",
    )

    def __init__(
        self,
        own_stream: Stream,
        make_waiting: MakeWaiting,
        *,
        cost: ProcessingCost,
        in_process_limit: int,
    ) -> None:
        check_count("in_process_limit", in_process_limit, least=1)
        self._cost = cost
        self._places = QueuePlaces()
        self._in_process = InProcess(self._places, cost, limit=in_process_limit)
        self._waiting = make_waiting(self._places, self._in_process)
        self._reader = self._waiting if isinstance(self._waiting, LogWaiting) else None
        """The waiting updates, if they are read from the stream's log."""
        self._final: QueueStatistics | None = None
        self._is_attached = False
        feed = own_stream._feed
        self._cycles = Cycles()
        self._cycles.add(self._places.column)
        self._cycles.add((self._waiting, feed))
        self._listen(own_stream, feed, Beginning())
        own_stream._adopt(self, self._waiting, self._cycles)

    @abstractmethod
    def enqueue(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue one update and return its outcome; `time` defaults to the clock's time."""

    @abstractmethod
    def enqueue_many(
        self, keys: Column, values: Column, times: Column | None = None
    ) -> BatchOutcome:
        """Enqueue a batch of columns: all rows or, if one of them is invalid, none."""

    def dequeue(self) -> Update | None:
        """Return the update to process next, or None if no update waits.

        The update is in process until `deliver` or `give_back` is called for it.
        """
        now = self._ticks()
        if now >= self._deadlines.due_at:
            self._feed.catch_up()
        return self._waiting.serve_next(now)

    def dequeue_many(self, limit: int) -> list[Update]:
        """Return up to `limit` updates, like as many calls of `dequeue` at one instant."""
        check_count("limit", limit, least=0)
        now = self._feed.catch_up()
        return serve_many(partial(self._waiting.serve_next, now), limit)

    def deliver(self, update: Update) -> None:
        """Note that the application has the result of `update`, which was dequeued.

        A copy of the update is accepted too. Raises NotInProcessError if it is not in process.
        """
        now = self._ticks()
        if now >= self._deadlines.due_at:
            self._feed.catch_up()
        reader = self._reader
        if reader is not None:
            now = reader.catch_up()  # a newer update may have arrived
        self._in_process.deliver(update, now, self._waiting)
        if reader is not None:
            reader.advance(now)

    def deliver_many(self, updates: Iterable[Update]) -> None:
        """Deliver each of `updates`."""
        for update in list(updates):
            self.deliver(update)

    def give_back(self, update: Update) -> None:
        """Let a dequeued update wait again, with its original arrival.

        If a newer one was accepted since, the update counts as superseded instead. Raises
        NotInProcessError if it is not in process, and PagePoolFullError if the page pool has no
        room for its value. Then nothing has changed.
        """
        now = self._feed.catch_up()
        record = self._in_process.find(update)
        self._waiting.restore(record, now)
        self._in_process.give_back(record, now)

    def forget(self, key: Key) -> None:
        """Forget `key` in the queue's stream and all queues of that stream (`Stream.forget`)."""
        self._feed.forget(key)

    # Waiting updates.

    def peek(self) -> Update | None:
        """Return what `dequeue` would return now, or None; change nothing."""
        return self._waiting.peek(self._catch_up())

    def read(self, key: Key) -> Update | None:
        """Return the newest waiting update of `key`, or None; change nothing."""
        self._catch_up()
        return self._waiting.read(self._find(key))

    def snapshot(self) -> list[Update]:
        """Return all waiting updates; change nothing. O(waiting)."""
        self._catch_up()
        return self._waiting.snapshot()

    def waiting_since(self) -> float | None:
        """Return the earliest arrival of a waiting update that can be served, or None.

        Compare it with `Stream.now`. O(1) for most schedulers, O(waiting) in the worst case.
        """
        self._catch_up()
        return self._waiting.waiting_since()

    def __len__(self) -> int:
        """Return the number of waiting keys, or of waiting updates if a key may have several."""
        self._catch_up()
        return len(self._waiting)

    @property
    def capacity(self) -> int | None:
        """The largest number of keys or updates that may wait, or None for no limit."""
        return self._waiting.capacity

    @property
    def time_to_live(self) -> float | None:
        """The seconds after its arrival at which a waiting update expires, or None for never."""
        return self._waiting.time_to_live

    # Staleness and statistics.

    queue_staleness = staleness_methods.queue_staleness
    application_staleness = staleness_methods.application_staleness
    staleness_by_key = staleness_methods.staleness_by_key
    key_staleness = staleness_methods.key_staleness
    key_staleness_in_parts = staleness_methods.key_staleness_in_parts
    mean_staleness = staleness_methods.mean_staleness
    lower_bound = staleness_methods.lower_bound

    @property
    def key_count(self) -> int:
        """The number of keys that have arrived and are not forgotten, as last counted. O(1)."""
        return self._places.sums.counted

    @property
    def processing_cost(self) -> float | None:
        """The seconds that the consumer needs for one update, or None while unknown."""
        return self._cost.seconds()

    def statistics(self) -> QueueStatistics:
        """Return the exact counters; after `close`, the final ones. O(waiting)."""
        if self._final is not None:
            return self._final
        self._catch_up()
        return self._count()

    # The queue's life with its stream.

    @property
    def stream(self) -> Stream:
        """The stream that feeds the queue."""
        return self._stream

    @property
    def is_attached(self) -> bool:
        """Whether the queue was attached to a stream that is not its own."""
        return self._is_attached

    @property
    def is_closed(self) -> bool:
        """Whether the queue is closed, so that only its final statistics can be read."""
        return self._final is not None

    @property
    def clock_steps_back(self) -> int:
        """How many readings of the clock were earlier than a previous one."""
        return steps_back_of(self._ticks)

    def close(self, *, dropping: bool = False) -> QueueStatistics:
        """Detach from the stream, release everything, and return the final statistics.

        With `dropping`, waiting updates are dropped first and count as expired. Otherwise the final
        statistics count them as waiting.
        """
        if self._final is None:
            if dropping:
                now = self._feed.catch_up()
                for cell in list(self._feed.keys):
                    self._waiting.forget_cell(cell, now)
            self._stream.detach(self)
        assert self._final is not None
        return self._final

    def __repr__(self) -> str:
        name = type(self).__name__
        if self._final is not None:
            return (
                f"<closed {name}: {self._final.arrived} arrived, {self._final.dequeued} dequeued>"
            )
        staleness = self._places.describe(self._ticks())
        return f"<{name}{self._policy()}: {len(self._waiting)} waiting, {staleness}>"

    def _policy(self) -> str:
        """Return the policy of the queue as a part of its representation."""
        return ""

    # What the stream calls.

    def _prepare_to_join(self, stream: Stream) -> Listener:
        if self._final is not None:
            raise ClosedError("queue")
        if self._is_attached or self._feed.intake.arrived or self._stream is stream:
            raise AlreadyAttachedError(
                "this queue is already attached or has received updates; attach a new queue"
            )
        if self._feed.values.memory is not None:
            raise ParameterError(
                "memory", "that of the queue", "that of the stream: use Stream(memory=...)"
            )
        self._waiting.check_can_join(stream)
        return self._waiting

    def _join(self, stream: Stream, feed: Feed, beginning: Beginning) -> None:
        self._waiting.stop_listening(beginning.now)  # nothing waits
        self._stream._leave_unused()
        self._is_attached = True
        self._listen(stream, feed, beginning)

    def _leave(self) -> QueueStatistics:
        final = self._count()
        now = self._feed.ticks()  # not earlier, because counting also does what is due
        self._final = final
        self._waiting.stop_listening(now)
        self._places.close(now)
        self._in_process.clear()
        self._waiting.release()
        self._reader = None
        closed = Stream._closed("queue")
        self._connect(closed, closed._feed)
        return final

    # What is shared with the parts.

    def _listen(self, stream: Stream, feed: Feed, beginning: Beginning) -> None:
        self._connect(stream, feed)
        self._waiting.listen(feed, beginning)

    def _connect(self, stream: Stream, feed: Feed) -> None:
        self._stream = stream
        self._feed = self._in_process.feed = feed
        self._intake = feed.intake
        self._ticks = feed.ticks
        self._deadlines = feed.deadlines

    def _catch_up(self) -> float:
        """Read the arrivals, do what is due, and return the time."""
        return self._feed.catch_up() if self._reader is None else self._reader.catch_up()

    def _rates(self) -> UpdateRates:
        return self._feed.rates

    def _find(self, key: Key) -> Place | None:
        return self._in_process.find_place(key)

    def _count(self) -> QueueStatistics:
        waiting = len(self)  # first, because it reads arrivals that were not read yet
        counts = self._waiting.counts_so_far()
        in_process = self._in_process
        return QueueStatistics(
            arrived=counts.arrived,
            returned=in_process.returned,
            dequeued=in_process.dequeued,
            superseded=counts.superseded,
            late=counts.late,
            expired=counts.expired,
            shed=counts.shed,
            rejected=counts.rejected,
            waiting=waiting,
            delivered=in_process.delivered,
            taken_as_delivered=in_process.taken_as_delivered,
            in_process=len(in_process.records),
            keys=self.key_count,
            forgotten=self._places.forgotten,
            switches=counts.switches,
        )

    def _check(self) -> None:
        self._places._check()
        self._in_process._check()
        self._waiting._check()
        assert self.statistics().is_balanced, f"an update is not accounted for: {self._count()}"


def checked_limits(
    capacity: int | None, time_to_live: float | None
) -> tuple[int | None, float | None]:
    """Return the bounds of a queue, checked; an invalid one raises ParameterError."""
    check_count("capacity", capacity, least=1, or_none=True)
    return capacity, check_age("time_to_live", time_to_live)
