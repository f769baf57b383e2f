"""A stream: each key's newest value once, and any number of queues that it feeds.

What comes in is `Intake`'s; here is what is read, which queues are attached, what they ask of the
stream, and how keys go again. Whatever needs the keys by last arrival (FIFO, expiry, retirement)
shares one list of them, and whatever needs every update shares one log; both exist only while
somebody needs them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter, itemgetter
from typing import cast

from ..clock import Clock, SystemClock, steps_back_of, ticks_of
from ..columns import check_key
from ..errors import (
    AlreadyAttachedError,
    ClosedError,
    NotAttachedError,
    ParameterError,
    UnknownKeyError,
)
from ..keys import CLOSED, ArrivalOrder, KeyCell
from ..memory import Codec, Memory, MemoryUsage
from ..statistics import (
    DEFAULT_FORGETTING,
    AnyKey,
    EstimatedRates,
    GivenRates,
    PerKey,
    Rates,
    StreamStatistics,
)
from ..updates import TOMBSTONE, Key, Update
from .ages import AgeCursor, DueSource, check_age
from .attached import AttachedQueue, Final_co, Starter
from .beginning import Beginning, newest_entries, oldest_to_take_over
from .intake import AT_ONCE, NEVER, Intake
from .own_queue import OwnQueue
from .shared_log import LogReader, SharedLog
from .values import NewestValues


class Stream(Intake):
    """The newest value of each key, for many queues.

    With `retain` the newest values are kept for ever, so that they can be read, and queues that
    attach late can start from them; else only while their keys wait in some queue. `memory` keeps
    values in a page pool, as the bytes that `codec` makes of them. `rates` gives the keys' update
    rates, which are else estimated and forget the past at the rate `forgetting`. `forget_after`
    forgets keys that have not updated for so many seconds and wait nowhere.

    >>> from upstream import InPlaceScheduler, UpdateQueue
    >>> stream = Stream()
    >>> queue = UpdateQueue(InPlaceScheduler())
    >>> stream.attach(queue)
    >>> stream.enqueue("IBM", 24.0)
    <Outcome.WAITING: 'waiting'>
    >>> queue.dequeue().value, stream.read("IBM").value
    (24.0, 24.0)
    """

    __slots__ = ("_closed", "_due_sources", "_order_readers", "_own", "clock", "forget_after")

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
        forget_after = check_age("forget_after", forget_after)
        self.clock: Clock = SystemClock() if clock is None else clock
        """What arrivals are told by."""
        ticks, origin = ticks_of(self.clock)
        super().__init__(
            ticks=ticks,
            origin=origin,
            values=NewestValues(memory, codec, retain=retain),
            rates=EstimatedRates(forgetting) if rates is None else GivenRates(cast(Rates, rates)),
        )
        self._order_readers = 0
        self._due_sources: list[DueSource] = []
        self._closed: str | None = None
        self._own: OwnQueue[object] | None = None
        self.forget_after = forget_after
        if forget_after is not None:
            self.watch_age(forget_after, self._retire_if_idle)
        self._note_plainness()

    # What the application calls.

    def read(self, key: Key) -> Update | None:
        """Return the newest update of `key`, None if it is not known, deleted or not retained."""
        self.catch_up()
        cell = self.find(key)
        if cell is None or not self._has_value(cell):
            return None
        return self.values.update_of(cell)

    def snapshot(self) -> list[Update]:
        """Return the newest update of every key that has a value. O(keys)."""
        self.catch_up()
        return [self.values.update_of(cell) for cell in self.newest_cells()]

    def forget(self, key: Key) -> None:
        """Forget `key`, here and in every queue; UnknownKeyError if it is not known.

        Its staleness keeps counting in the queues' averages. An update of it that waits counts as
        expired, and one that is in process can still be delivered.
        """
        now = self.catch_up()
        cell = self.find(key)
        if cell is None:
            raise UnknownKeyError(key)
        for queue in self._queues:
            queue.settle()  # which may fail, and must have been done in all of them before
        self._forget_if_known(cell, now)
        self._keys.sweep()

    def attach(
        self,
        queue: AttachedQueue[object],
        *,
        snapshot: bool = False,
        since: float | None = None,
        deletions: Iterable[Update] = (),
    ) -> None:
        """Feed `queue`, which was not used yet; with `snapshot` it starts with all newest values.

        With `since` as well, a moment as `now` tells it, only with those that arrived then or
        later. `deletions` of keys that have no value reach this queue only, whose consumer may have
        known them. O(keys). The queue's clock, and rates, are the stream's from now on.
        """
        self.catch_up()
        if self._own is not None:
            raise AlreadyAttachedError(
                "this stream is a queue's own; make a Stream and attach both queues to it"
            )
        if snapshot and not self.values.retain:
            raise ParameterError("snapshot", True, "False for a stream that retains no values")
        oldest = oldest_to_take_over(since, snapshot=snapshot)
        queue.check_is_free(self)
        is_read = self.has_memory or queue.copies_values
        entries = newest_entries(self, oldest) if oldest is not None and is_read else []
        beginning = Beginning(
            now=self.ticks(),
            since=oldest,
            terms={cell: queue.admit(cell.key) for cell in self._keys},
            entries=entries if queue.copies_values else (),
        )
        queue.join(self, beginning)
        self._queues.append(queue)
        self.note_deadline()
        self._note_plainness()
        for deletion in deletions:
            self._tell_deletion(queue, deletion)

    def _tell_deletion(self, queue: AttachedQueue[object], deletion: Update) -> None:
        now = self.ticks()
        cell = self.find(deletion.key)
        if cell is None:
            cell = self._admission.reserve(deletion.key)
            cell.value = TOMBSTONE
            self._admission.open(cell, deletion.time, now)
            self._admission.end_call()
            cell.version = 1
            if self._order is not None:
                self._order.append(cell)
        if not self._has_value(cell):
            queue.take_over(cell, now)
            self.bury(cell, now)  # if the queue has no room for it

    def detach(self, queue: AttachedQueue[Final_co]) -> Final_co:
        """Feed `queue` no more, free all that it holds, return its final statistics. O(keys)."""
        self.catch_up()
        if queue not in self._queues:
            raise NotAttachedError
        now = self.ticks()
        final = queue.leave()  # it still hears of what falls due while it counts
        self._queues.remove(queue)
        for cell in list(self._keys):
            self._bury_if_unheard(cell, now)  # it may have been the last to hold it
            self.consider(cell, now)
        self._keys.try_sweep()
        self._note_plainness()
        return final

    def close(self) -> None:
        """Detach all queues and free everything; further use is an error."""
        if self._own is not None and self._own.is_gone:
            self._queues.clear()
        for queue in list(self._queues):
            self.detach(queue)
        now = self.ticks()
        for cell in self._keys:
            self.values.drop(cell, now)
        if self.forget_after is not None:
            self.stop_watching_age(self._retire_if_idle)
        self._keys.clear()
        self._shut("stream")

    def statistics(self) -> StreamStatistics:
        """Return the exact counters."""
        if self._closed is None:
            self.catch_up()
        return StreamStatistics(
            arrived=self._arrived,
            late=self._late,
            rejected=self._rejected,
            keys=len(self._keys),
            queues=len(self._queues),
            clock_steps_back=steps_back_of(self.ticks),
        )

    def memory_usage(self) -> MemoryUsage | None:
        """Return what the values take of the page pool, None if they are not kept there."""
        if self._closed is None:
            self.catch_up()
        memory = self.values.memory
        return None if memory is None else memory.usage(self.ticks())

    def __len__(self) -> int:
        """Return how many keys are known."""
        if self._closed is None:
            self.catch_up()
        return len(self._keys)

    # What queues call.

    @classmethod
    def closed(cls, what: str) -> Stream:
        """Return a stream that raises ClosedError whatever is asked of it."""
        stream = cls()
        stream._shut(what)
        return stream

    def close_unused(self) -> None:
        """Close the own stream of a queue that is attached to another one now."""
        self._queues.clear()
        self._shut("stream: its queue was attached to another one")

    def adopt(self, queue: OwnQueue[object]) -> None:
        """Feed a queue that is being made, as its own stream."""
        self._queues.append(queue)
        self._own = queue

    def close_orphaned(self) -> None:
        """Close the own stream of a queue that is gone; called at any moment."""
        if self._closed is None:
            self._shut("stream of a queue that was dropped")

    @property
    def is_used(self) -> bool:
        """Whether any update has arrived."""
        return self._arrived > 0

    @property
    def has_memory(self) -> bool:
        """Whether values are kept in a page pool."""
        return self.values.memory is not None

    def now(self) -> float:
        """Return the time on the scale of arrivals, on which only differences mean anything."""
        return self.ticks()

    def catch_up(self) -> float:
        """Do what fell due, and return `now`."""
        now = self.ticks()
        if now >= self.due_at:
            self._catch_up_to(now)
        return now

    def find(self, key: Key) -> KeyCell | None:
        """Return the key's cell if it is known; KeyNotHashableError if it cannot be a key."""
        try:
            return self._keys.find(key)
        except TypeError:
            check_key(key)
            raise

    def cells(self) -> Iterator[KeyCell]:
        """Iterate over the known keys."""
        return iter(self._keys)

    @property
    def key_numbers(self) -> int:
        """How many rows a column needs that has one for each known key."""
        return self._keys.size

    def newest_cells(self, since: float = -math.inf) -> list[KeyCell]:
        """Return the keys with a value that arrived at or after `since`, the last at the end.

        O(keys).
        """
        keys = self._keys if self._order is None else self._order
        cells = [cell for cell in keys if cell.arrival >= since and self._has_value(cell)]
        return sorted(cells, key=attrgetter("arrival")) if self._order is None else cells

    def counters(self) -> tuple[int, int, int]:
        """Return how many updates arrived, were late, and found the page pool full."""
        return self._arrived, self._late, self._rejected

    def _has_value(self, cell: KeyCell) -> bool:
        return (self.values.retain or cell.waiting > 0) and cell.value is not TOMBSTONE

    def update_of(self, cell: KeyCell) -> Update:
        """Return the newest update of a key that has a value."""
        return self.values.update_of(cell)

    def nobody_waits(self, cell: KeyCell, now: float) -> None:
        """Let go of a value that no queue needs, unless values are retained."""
        self.values.nobody_waits(cell, now)

    def store_again(self, cell: KeyCell, value: object, now: float) -> None:
        """Store a value that was given back, if it is gone; PagePoolFullError without room."""
        if not self.values.retain:
            self.values.put(cell, self.values.encode(value), now)

    def listen(self, starter: Starter) -> None:
        """Let an update queue hear of keys that start to wait."""
        self._starters.append(starter)
        self._note_plainness()

    def stop_listening(self, starter: Starter) -> None:
        """Let an update queue hear of no more keys."""
        self._starters.remove(starter)
        self._note_plainness()

    def open_log(self, reader: LogReader) -> SharedLog:
        """Let a queue read every update from now on."""
        if self._log is None:
            self._log = SharedLog()
        self._log.open(reader)
        self._note_plainness()
        return self._log

    def close_log(self, reader: LogReader) -> None:
        """Let a queue read no more; the log goes with its last reader."""
        assert self._log is not None
        self._log.close(reader)
        if not self._log.has_readers:
            self._log = None
        self._note_plainness()

    def keep_order(self) -> ArrivalOrder:
        """Keep the keys by last arrival until as many calls of `drop_order`."""
        if self._order is None:
            self._order = ArrivalOrder()
            for cell in sorted(self._keys, key=attrgetter("arrival")):
                self._order.append(cell)
        self._order_readers += 1
        self._note_plainness()
        return self._order

    def drop_order(self) -> None:
        """Need the order no more."""
        self._order_readers -= 1
        if self._order_readers == 0:
            assert self._order is not None
            self._order.close()
            self._order = None
        self._note_plainness()

    def watch_age(self, age: float, action: Callable[[KeyCell, float], None]) -> None:
        """Call `action` with each key, and the due time, `age` seconds after its last arrival."""
        cursor = self._cursor_of(lambda cursor: cursor.age == age)
        if cursor is None:
            cursor = AgeCursor(self.keep_order(), age)
            self.watch(cursor)
        cursor.add(action)

    def stop_watching_age(self, action: Callable[[KeyCell, float], None]) -> None:
        """Call `action` no more."""
        cursor = self._cursor_of(lambda cursor: cursor.calls(action))
        assert cursor is not None, "an action that nobody watches for"
        cursor.remove(action)
        if cursor.is_idle:
            self.stop_watching(cursor)
            cursor.close()
            self.drop_order()

    def _cursor_of(self, is_meant: Callable[[AgeCursor], bool]) -> AgeCursor | None:
        cursors = (source for source in self._due_sources if isinstance(source, AgeCursor))
        return next(filter(is_meant, cursors), None)

    def watch(self, source: DueSource) -> None:
        """Let things fall due there."""
        self._due_sources.append(source)
        self._due_sources.sort(key=lambda source: source.age)
        self.note_deadline()
        self._note_plainness()

    def stop_watching(self, source: DueSource) -> None:
        """Let nothing fall due there any more, if anything did."""
        if source in self._due_sources:
            self._due_sources.remove(source)
        self.note_deadline()
        self._note_plainness()

    def note_deadline(self) -> None:
        """Find out when something falls due next, since it may be sooner than was known."""
        if self._closed is not None:
            return
        sources = self._due_sources
        self._shortest_age = min((source.age for source in sources), default=NEVER)
        self.due_at = min((source.next_due() for source in sources), default=NEVER)

    def consider(self, cell: KeyCell, now: float) -> None:
        """Forget a key that has just become idle, if it should have been forgotten before."""
        if self.forget_after is not None and cell.arrival + self.forget_after <= now:
            self._retire_if_idle(cell, now)

    def bury(self, cell: KeyCell, now: float) -> None:
        """Forget a key whose newest update is its deletion, once every queue has delivered that."""
        self._bury_if_unheard(cell, now)
        self._keys.try_sweep()

    def _bury_if_unheard(self, cell: KeyCell, now: float) -> None:
        if cell.value is not TOMBSTONE:
            return
        # `holds` first: it takes in what was not read yet, which may be what counts.
        if not any(queue.holds(cell) or queue.counts(cell) for queue in self._queues):
            self._forget_if_known(cell, now)

    @property
    def _closes_keys(self) -> bool:
        return self._log is not None and self.forget_after is not None

    # How keys go.

    def _forget_cell(self, cell: KeyCell, now: float) -> None:
        if cell.value is TOMBSTONE:
            cell.value = None  # a queue that reads the deletion only now must not forget it, too
        for queue in self._queues:
            queue.forget_cell(cell, now)
        assert cell.idle is None and cell.waiting == 0, "a queue that did not let go of a key"
        self.values.drop(cell, now)
        if self._order is not None:
            self._order.remove(cell)
        self._keys.close(cell)

    def _retire_if_idle(self, cell: KeyCell, now: float) -> None:
        if not any(queue.holds(cell) for queue in self._queues):
            self._forget_if_known(cell, now)

    def _forget_if_known(self, cell: KeyCell, now: float) -> None:
        """Forget a key, unless a queue that was asked about it read the log and let go of it."""
        if cell.index != CLOSED:
            self._forget_cell(cell, now)

    def _catch_up_to(self, now: float) -> None:
        if now < self.due_at:
            return
        if self._closed is not None:
            raise ClosedError(self._closed)
        while self._due_sources:  # in the order in which things fall due, wherever they do
            dues = [(each.next_due(), each) for each in self._due_sources]
            due, source = min(dues, key=itemgetter(0))
            if due > now:
                break
            source.fall_due(due)
        self._keys.try_sweep()
        self.note_deadline()

    # How the ways are switched.

    def _note_plainness(self) -> None:
        """Let `enqueue` treat updates in place only where it does all that is to be done."""
        is_open = self._closed is None and bool(self._starters)
        is_plain = is_open and self._log is None and not self._due_sources and not self._asks
        self._plain_before = NEVER if is_plain else AT_ONCE
        self._is_bare = is_plain and self.values.is_plain and self._order is None

    def _shut(self, what: str) -> None:
        self._closed = what
        self.due_at = AT_ONCE
        self._note_plainness()

    def _check(self) -> None:
        self._keys._check()
        if self._order is not None:
            self._order._check()
            assert sorted(cell.index for cell in self._order) == sorted(
                cell.index for cell in self._keys
            )
        if self._log is not None:
            self._log._check()
        for cell in self._keys:
            assert cell.waiting + len(cell.idle_places()) == len(self._starters)
