"""What a queue may use of the stream that feeds it, and how the parts of a stream fit together.

A stream has an intake, through which updates enter; deadlines, for what becomes due as time passes;
and a part that forgets keys. While a queue needs them, it also has an order of its keys by last
arrival, and a log of every update. A queue holds the `Feed` of its stream and no other part. The
stream calls its queues through a `Listener`.
"""

from __future__ import annotations

import math
from operator import attrgetter

from ...clock import Clock, again_of, ticks_of
from ...columns import check_key
from ...errors import UnknownKeyError
from ...keys import ArrivalOrder, KeyCell, KeyTable
from ...memory import Codec, Memory
from ...statistics import AnyKey, PerKey, rates_from
from ...updates import TOMBSTONE, Key, Update
from ..log.shared_log import LogEntry, LogReader, SharedLog
from .admission import Admission
from .age_cursors import Action, AgeCursors
from .batch_intake import BatchIntake
from .deadlines import Deadlines, DueSource, check_age
from .forgetting import Forgetting
from .intake import Intake
from .kept_order import KeptOrder
from .listener import Listener
from .values import NewestValues


class Feed:
    """The internals of one stream."""

    __slots__ = (
        "_again",
        "_age_cursors",
        "_kept",
        "batches",
        "deadlines",
        "forgetting",
        "intake",
        "keys",
        "listeners",
        "rates",
        "ticks",
        "values",
    )

    def __init__(
        self,
        clock: Clock,
        *,
        retain: bool,
        memory: Memory | None,
        codec: Codec | None,
        rates: PerKey[AnyKey] | None,
        forgetting: float,
        forget_after: float | None,
    ) -> None:
        forget_after = check_age("forget_after", forget_after)
        self.ticks, origin = ticks_of(clock)
        """Returns the time in which arrivals are noted; only differences are meaningful."""
        self._again = again_of(self.ticks)
        self.values = NewestValues(memory, codec, retain=retain)
        self.rates = rates_from(rates, forgetting)
        self.keys = KeyTable()
        self.listeners: list[Listener] = []
        self.deadlines = Deadlines()
        self._kept = KeptOrder(self.keys)
        self._age_cursors = AgeCursors(self._kept)
        self.forgetting = Forgetting(
            self.keys, self.listeners, self.values, self._kept, after=forget_after
        )
        admission = Admission(self.keys, self.rates, self.listeners)
        self.intake = Intake(
            ticks=self.ticks,
            origin=origin,
            keys=self.keys,
            listeners=self.listeners,
            admission=admission,
            values=self.values,
            rates=self.rates,
            kept=self._kept,
            deadlines=self.deadlines,
            forgetting=self.forgetting,
        )
        self.batches = BatchIntake(self.intake, self.keys, admission)
        if forget_after is not None:
            self.watch_age(forget_after, self.forgetting.if_idle)

    # Time.

    def catch_up(self) -> float:
        """Do everything that is due, and return the time."""
        now = self.ticks()
        if now >= self.deadlines.due_at:
            self.deadlines.catch_up_to(now)
            self.keys.try_sweep()
        return now

    def watch(self, source: DueSource) -> None:
        """Start to watch when `source` is due."""
        self.deadlines.watch(source, self._again())
        self.intake.choose_way()

    def stop_watching(self, source: DueSource) -> None:
        """Stop watching `source`."""
        self.deadlines.stop_watching(source)
        self.intake.choose_way()

    def reconsider(self, source: DueSource) -> None:
        """Note that `source` may be due sooner than it said."""
        self.deadlines.reconsider(source, self._again())

    def watch_age(self, age: float, action: Action) -> None:
        """Call `action` with each key and the due time, `age` seconds after its last arrival."""
        cursor = self._age_cursors.add(age, action)
        if cursor is not None:
            self.watch(cursor)

    def stop_watching_age(self, age: float, action: Action) -> None:
        """Stop calling `action`."""
        cursor = self._age_cursors.remove(age, action)
        if cursor is not None:
            self.stop_watching(cursor)

    # Keys and their values.

    def find(self, key: Key) -> KeyCell | None:
        """Return the cell of a key, or None; an invalid key raises KeyNotHashableError."""
        try:
            return self.keys.find(key)
        except TypeError:
            check_key(key)
            raise

    def newest_cells(self, since: float = -math.inf) -> list[KeyCell]:
        """Return the keys with a value that arrived at `since` or later, by arrival. O(keys)."""
        order = self._kept.order
        keys = self.keys if order is None else order
        cells = [cell for cell in keys if cell.arrival >= since and self.values.has(cell)]
        return sorted(cells, key=attrgetter("arrival")) if order is None else cells

    def entry_of(self, cell: KeyCell) -> LogEntry:
        """Return the newest update of a key as an entry of the log."""
        value = self.values.load(cell)
        return LogEntry(cell, value, time=cell.time, arrival=cell.arrival, version=cell.version)

    def forget(self, key: Key) -> None:
        """Forget a key (`Stream.forget`)."""
        now = self.catch_up()
        cell = self.find(key)
        if cell is None:
            raise UnknownKeyError(key)
        for listener in self.listeners:
            listener.settle()  # this may fail, so all queues do it before anything changes
        self.forgetting.forget(cell, now)
        self.keys.sweep()

    def forget_if_deleted(self, cell: KeyCell, now: float) -> None:
        """Forget a key whose newest update is a deletion, once every queue has delivered it."""
        self.forgetting.if_deleted(cell, now)
        self.keys.try_sweep()

    def tell_deletion(self, listener: Listener, deletion: Update) -> None:
        """Tell one queue that a key without a value was deleted."""
        now = self.ticks()
        cell = self.intake.tell_deletion(deletion.key, deletion.time, now)
        if cell.value is TOMBSTONE:
            listener.take_over(cell, now)
            self.forget_if_deleted(cell, now)  # the queue may have no room for it

    # Parts that exist only while a queue needs them.

    def keep_order(self) -> ArrivalOrder:
        """Keep the keys by last arrival until `release_order` was called equally often."""
        order = self._kept.keep()
        self.intake.choose_way()
        return order

    def release_order(self) -> None:
        """Note that one caller of `keep_order` no longer needs the order."""
        self._kept.release()
        self.intake.choose_way()

    def open_log(self, reader: LogReader) -> SharedLog:
        """Add a reader of every update from now on."""
        intake = self.intake
        if intake.log is None:
            intake.log = SharedLog()
        intake.log.open(reader)
        intake.choose_way()
        return intake.log

    def close_log(self, reader: LogReader) -> None:
        """Remove a reader. The log ends with its last reader."""
        intake = self.intake
        assert intake.log is not None
        intake.log.close(reader)
        if not intake.log.has_readers:
            intake.log = None
        intake.choose_way()

    # The end.

    def detach(self, listener: Listener, now: float) -> None:
        """Stop telling a queue that has left, and forget keys that only it held. O(keys)."""
        self.listeners.remove(listener)
        for cell in list(self.keys):
            self.forgetting.if_deleted(cell, now)
            self.forgetting.if_quiet(cell, now)
        self.keys.try_sweep()
        self.intake.choose_way()

    def close(self, what: str) -> None:
        """Raise ClosedError(`what`) at every further use."""
        self.deadlines.close(what)
        self.intake.choose_way()

    def clear(self, now: float) -> None:
        """Release all values and keys, after the last queue has left."""
        for cell in self.keys:
            self.values.release(cell, now)
        self.keys.clear()
        self._age_cursors.clear()
        self._kept.close()

    def release(self) -> None:
        """Release the references that lead back to the feed, which is no longer used."""
        self.listeners.clear()
        self.deadlines.clear()
        self._age_cursors.clear()
        self.intake.release()

    def _check(self) -> None:
        self.keys._check()
        self.deadlines._check()
        self._kept._check()
        if self.intake.log is not None:
            self.intake.log._check()
        listening = self.intake.listening
        for cell in self.keys:
            assert cell.waiting + len(cell.idle_places()) == listening
