"""The stream: the newest value of each key, stored once for any number of queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from weakref import ref

from ...clock import Clock, SystemClock, steps_back_of
from ...columns import check_key
from ...errors import AlreadyAttachedError, NotAttachedError, ParameterError
from ...held_interrupt import HeldInterrupt
from ...memory import Codec, Memory, MemoryUsage
from ...statistics import DEFAULT_FORGETTING, AnyKey, GivenRates, PerKey, StreamStatistics
from ...updates import TOMBSTONE, Key, Update
from . import intake
from .feed import Feed
from .intake import Intake
from .listener import Attachable, Beginning, Final_co, Listener, oldest_to_take_over

if TYPE_CHECKING:
    from ..cycles import Cycles


class Stream:
    """The newest value of each key, for any number of queues.

    `clock` is where the stream reads the time of arrivals. The default is a `SystemClock`.
    `retain` says whether the newest values are kept until their keys are forgotten. Then they can
    be read, and queues that are attached later can start with them. Otherwise a value is kept only
    while its key waits in some queue.
    `memory` stores the values in a page pool. By default they are Python references.
    `codec` turns values into the bytes that `memory` stores. The default is `BytesCodec`.
    `rates` are the update rates of the keys, in updates per second, as a mapping or a function of
    the key. By default they are estimated.
    `forgetting` is the weight of the newest interval in the estimated rates.
    `forget_after` is the seconds after which a key is forgotten that has no updates and waits in no
    queue. By default keys are not forgotten.

    >>> from upstream import InPlaceScheduler, UpdateQueue
    >>> stream = Stream()
    >>> queue = UpdateQueue(InPlaceScheduler())
    >>> stream.attach(queue)
    >>> stream.enqueue("IBM", 24.0)
    <Outcome.WAITING: 'waiting'>
    >>> queue.dequeue().value, stream.read("IBM").value
    (24.0, 24.0)
    """

    __slots__ = (
        "__weakref__",
        "_clock",
        "_cycles",
        "_feed",
        "_intake",
        "_own_queue",
        "_queues",
    )

    _intake: Intake

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        retain: bool = True,
        memory: Memory | None = None,
        codec: Codec | None = None,
        rates: PerKey[AnyKey] | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        forget_after: float | None = None,
    ) -> None:
        self._clock: Clock = SystemClock() if clock is None else clock
        self._feed = Feed(
            self._clock,
            retain=retain,
            memory=memory,
            codec=codec,
            rates=rates,
            forgetting=forgetting,
            forget_after=forget_after,
        )
        self._intake = self._feed.intake
        self._queues: list[tuple[Attachable[object], Listener]] = []
        self._own_queue: ref[Attachable[object]] | None = None
        """The queue that owns this stream. The queue holds the stream, and not the reverse."""
        self._cycles: Cycles | None = None

    enqueue = intake.enqueue
    enqueue_many = intake.enqueue_many

    @property
    def clock(self) -> Clock:
        """The clock of the arrivals."""
        return self._clock

    @property
    def rates_are_given(self) -> bool:
        """Whether the update rates of keys are given and not estimated."""
        return isinstance(self._feed.rates, GivenRates)

    @property
    def retain(self) -> bool:
        """Whether the newest values are kept until their keys are forgotten."""
        return self._feed.values.retain

    @property
    def forget_after(self) -> float | None:
        """The seconds after which a quiet key is forgotten, or None for never."""
        return self._feed.forgetting.after

    def now(self) -> float:
        """Return the time in which arrivals are noted; only differences are meaningful."""
        return self._feed.ticks()

    def read(self, key: Key) -> Update | None:
        """Return the newest update of `key`, or None if it is unknown, deleted or not retained."""
        self._feed.catch_up()
        cell = self._feed.find(key)
        if cell is None or not self._feed.values.has(cell):
            return None
        return self._feed.values.update_of(cell)

    def snapshot(self) -> list[Update]:
        """Return the newest update of each key with a value, by arrival. O(keys)."""
        self._feed.catch_up()
        return [self._feed.values.update_of(cell) for cell in self._feed.newest_cells()]

    def newest_time(self, key: Key) -> float | None:
        """Return the time of the newest update of `key`, or None if it is unknown or deleted."""
        self._feed.catch_up()
        cell = self._feed.find(key)
        return None if cell is None or cell.value is TOMBSTONE else cell.time

    def newest_times(self) -> dict[Key, float]:
        """Return the time of the newest update of each known key. O(keys)."""
        self._feed.catch_up()
        return {cell.key: cell.time for cell in self._feed.keys}

    def has_room_for(self, values: Iterable[object]) -> bool:
        """Tell whether all of `values` could be stored now as new values. O(values).

        Raises ValueTooLargeError or ValueNotEncodableError if one of them can never be stored.
        """
        return self._feed.values.has_room_for(values)

    def forget(self, key: Key) -> None:
        """Forget `key` here and in every queue. An unknown key raises UnknownKeyError.

        Its staleness still counts in the queues' averages. A waiting update of it counts as
        expired. An update in process can still be delivered.
        """
        self._feed.forget(key)

    def attach(
        self,
        queue: Attachable[object],
        *,
        snapshot: bool = False,
        since: float | None = None,
        deletions: Iterable[Update] = (),
    ) -> None:
        """Feed `queue` from now on. O(keys).

        `queue` must be new: not attached, and without updates of its own. From now on it has the
        clock and the rates of the stream.
        `snapshot` makes the queue start with the newest values of the stream.
        `since`, a time of `now`, restricts the snapshot to values that arrived then or later.
        `deletions` are tombstones of keys without a value. Only this queue gets them, for a
        consumer that may have known the keys.
        """
        feed = self._feed
        feed.catch_up()
        if self._own_queue is not None:
            raise AlreadyAttachedError(
                "this stream belongs to a queue; make a Stream and attach both queues to it"
            )
        if snapshot and not feed.values.retain:
            raise ParameterError("snapshot", True, "False if the stream retains no values")
        oldest = oldest_to_take_over(since, snapshot=snapshot)
        told = list(deletions)
        for deletion in told:
            check_key(deletion.key)
        listener = queue._prepare_to_join(self)
        is_read = feed.values.memory is not None or listener.copies_values
        cells = feed.newest_cells(oldest) if oldest is not None and is_read else []
        entries = [feed.entry_of(cell) for cell in cells]
        beginning = Beginning(
            now=feed.ticks(),
            since=oldest,
            terms={cell: listener.terms_for(cell.key) for cell in feed.keys},
            entries=entries if listener.copies_values else (),
        )
        with HeldInterrupt():
            queue._join(self, feed, beginning)
            self._queues.append((queue, listener))
            feed.listeners.append(listener)
            feed.intake.choose_way()
            for deletion in told:
                feed.tell_deletion(listener, deletion)

    def detach(self, queue: Attachable[Final_co]) -> Final_co:
        """Stop feeding `queue`, release what it holds, and return its final statistics. O(keys).

        Raises NotAttachedError if the queue is not attached to this stream.
        """
        feed = self._feed
        feed.catch_up()
        now = feed.ticks()
        listener = self._listener_of(queue)
        with HeldInterrupt():
            final = queue._leave()  # while it counts, it still does what becomes due
            self._queues = [attached for attached in self._queues if attached[0] is not queue]
            feed.detach(listener, now)
        return final

    def _listener_of(self, queue: object) -> Listener:
        if self._own_queue is not None and self._own_queue() is queue and self._feed.listeners:
            return self._feed.listeners[0]
        for attached, listener in self._queues:
            if attached is queue:
                return listener
        raise NotAttachedError

    def close(self) -> None:
        """Detach all queues and release everything; further use is an error."""
        queues = [queue for queue, _ in self._queues]
        own = None if self._own_queue is None else self._own_queue()
        if own is not None and self._feed.listeners:
            queues.append(own)
        for queue in queues:
            self.detach(queue)
        now = self._feed.ticks()
        self._feed.listeners.clear()  # of a queue that owned the stream and was dropped
        self._feed.clear(now)
        self._feed.close("stream")

    def statistics(self) -> StreamStatistics:
        """Return the exact counters. They can also be read after `close`."""
        feed = self._feed
        if not feed.deadlines.is_closed:
            feed.catch_up()
        return StreamStatistics(
            arrived=feed.intake.arrived,
            late=feed.intake.late,
            rejected=feed.intake.rejected,
            keys=len(feed.keys),
            queues=len(feed.listeners),
            clock_steps_back=steps_back_of(feed.ticks),
        )

    def memory_usage(self) -> MemoryUsage | None:
        """Return the values' use of the page pool, or None if they are not stored in one."""
        feed = self._feed
        if not feed.deadlines.is_closed:
            feed.catch_up()
        memory = feed.values.memory
        return None if memory is None else memory.usage(feed.ticks())

    def __len__(self) -> int:
        """Return the number of known keys."""
        if not self._feed.deadlines.is_closed:
            self._feed.catch_up()
        return len(self._feed.keys)

    def __contains__(self, key: Key) -> bool:
        """Tell whether `key` is known: it has arrived and is not forgotten."""
        self._feed.catch_up()
        return self._feed.find(key) is not None

    def __iter__(self) -> Iterator[Key]:
        """Iterate over the keys that are known now, in no particular order."""
        self._feed.catch_up()
        return iter([cell.key for cell in self._feed.keys])

    def __repr__(self) -> str:
        kind = "closed Stream" if self._feed.deadlines.is_closed else "Stream"
        return f"<{kind}: {len(self._feed.keys)} keys, {len(self._feed.listeners)} queues>"

    # Called by the library's queues at their beginning and end.

    def _adopt(self, queue: Attachable[object], listener: Listener, cycles: Cycles) -> None:
        """Feed a new queue as its own stream."""
        feed = self._feed

        def close_feed(_: object) -> None:
            if not feed.deadlines.is_closed:
                feed.close("stream of a queue that no longer exists")

        feed.listeners.append(listener)
        self._own_queue = ref(queue, close_feed)
        self._cycles = cycles

    def _leave_unused(self) -> None:
        """End as the own stream of a queue that is now attached to another one."""
        self._feed.listeners.clear()
        self._feed.close("stream (its queue was attached to another one)")
        self._cycles = None

    @classmethod
    def _closed(cls, what: str) -> Stream:
        """Return a stream that raises ClosedError at every use."""
        stream = cls()
        stream._feed.close(what)
        return stream

    def _check(self) -> None:
        self._feed._check()
