"""What a queue may ask of the stream that feeds it, and how the parts of a stream fit together.

A stream has an intake, which takes updates in; deadlines, for what falls due as time passes; an
order of its keys by last arrival and a log of every update, both only while a queue needs them; and
a way to forget keys. A queue holds the `Feed` of its stream and nothing else of it. What the stream
tells its queues is a `Listener`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import cast

from ...clock import Clock, again_of, ticks_of
from ...columns import check_key
from ...errors import UnknownKeyError
from ...keys import ArrivalOrder, KeyCell, KeyTable
from ...memory import Codec, Memory
from ...statistics import AnyKey, EstimatedRates, GivenRates, PerKey, Rates, UpdateRates
from ...updates import TOMBSTONE, Key, Update
from ..log.shared_log import LogEntry, LogReader, SharedLog
from .admission import Admission
from .batch_intake import BatchIntake
from .deadlines import Deadlines, DueSource, check_age
from .forgetting import Forgetting, QuietKeys
from .intake import Intake
from .kept_order import KeptOrder
from .listener import Listener
from .values import NewestValues


class Feed:
    """The inside of one stream."""

    __slots__ = (
        "_again",
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
        """Tells the time on the scale of arrivals, where only differences mean something."""
        self._again = again_of(self.ticks)
        self.values = NewestValues(memory, codec, retain=retain)
        self.rates: UpdateRates = (
            EstimatedRates(forgetting) if rates is None else GivenRates(cast(Rates, rates))
        )
        self.keys = KeyTable()
        self.listeners: list[Listener] = []
        self.deadlines = Deadlines()
        self._kept = KeptOrder(self.keys)
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
            self.watch(QuietKeys(self.forgetting, self._kept, forget_after))

    # Time.

    def catch_up(self) -> float:
        """Do what fell due, and return the time."""
        now = self.ticks()
        if now >= self.deadlines.due_at:
            self.deadlines.catch_up_to(now)
            self.keys.try_sweep()
        return now

    def watch(self, source: DueSource) -> None:
        """Let things fall due in `source`."""
        self.deadlines.watch(source, self._again())
        self.intake.choose_way()

    def stop_watching(self, source: DueSource) -> None:
        """Let nothing fall due in `source` any more."""
        self.deadlines.stop_watching(source)
        self.intake.choose_way()

    def reconsider(self, source: DueSource) -> None:
        """Note that something may fall due in `source` sooner than it said."""
        self.deadlines.reconsider(source, self._again())

    # Keys and their values.

    @property
    def is_used(self) -> bool:
        """Whether any update has arrived."""
        return self.intake.arrived > 0

    def find(self, key: Key) -> KeyCell | None:
        """Return the cell of a key, None if it is not known; KeyNotHashableError if it is no key."""
        try:
            return self.keys.find(key)
        except TypeError:
            check_key(key)
            raise

    def newest_cells(self, since: float = -math.inf) -> list[KeyCell]:
        """Return the keys with a value that arrived at or after `since`, by arrival. O(keys)."""
        order = self._kept.order
        keys = self.keys if order is None else order
        cells = [cell for cell in keys if cell.arrival >= since and self.values.has(cell)]
        return sorted(cells, key=attrgetter("arrival")) if order is None else cells

    def entry_of(self, cell: KeyCell) -> LogEntry:
        """Return the newest update of a key as the log would have it."""
        value = self.values.load(cell)
        return LogEntry(cell, value, time=cell.time, arrival=cell.arrival, version=cell.version)

    def forget(self, key: Key) -> None:
        """Forget a key, see `Stream.forget`."""
        now = self.catch_up()
        cell = self.find(key)
        if cell is None:
            raise UnknownKeyError(key)
        for listener in self.listeners:
            listener.settle()  # which may fail, so all of them do it before anything changes
        self.forgetting.forget(cell, now)
        self.keys.sweep()

    def forget_if_deleted(self, cell: KeyCell, now: float) -> None:
        """Forget a key whose newest update is its deletion, once every queue has delivered that."""
        self.forgetting.if_deleted(cell, now)
        self.keys.try_sweep()

    def tell_deletion(self, listener: Listener, deletion: Update) -> None:
        """Let one queue know that a key without a value was deleted."""
        now = self.ticks()
        cell = self.intake.tell_deletion(deletion.key, deletion.time, now)
        if cell.value is TOMBSTONE:
            listener.take_over(cell, now)
            self.forget_if_deleted(cell, now)  # if the queue has no room for it

    # What exists only while a queue needs it.

    def keep_order(self) -> ArrivalOrder:
        """Keep the keys by last arrival until as many calls of `release_order`."""
        order = self._kept.keep()
        self.intake.choose_way()
        return order

    def release_order(self) -> None:
        """Note that the order is needed once less."""
        self._kept.release()
        self.intake.choose_way()

    def open_log(self, reader: LogReader) -> SharedLog:
        """Let `reader` read every update from now on."""
        intake = self.intake
        if intake.log is None:
            intake.log = SharedLog()
        intake.log.open(reader)
        intake.choose_way()
        return intake.log

    def close_log(self, reader: LogReader) -> None:
        """Let `reader` read no more. The log ends with its last reader."""
        intake = self.intake
        assert intake.log is not None
        intake.log.close(reader)
        if not intake.log.has_readers:
            intake.log = None
        intake.choose_way()

    def ask_first(self, ask: Callable[[], None]) -> None:
        """Call `ask`, which may fail, before a key may start to wait."""
        self.intake.ask_first(ask)

    def ask_no_more(self, ask: Callable[[], None]) -> None:
        """Do not call `ask` any more."""
        self.intake.ask_no_more(ask)

    # The end.

    def detach(self, listener: Listener, now: float) -> None:
        """Tell a queue, which has left, no more, and forget the keys that only it held. O(keys)."""
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
        """Release all values and keys; no queue is left."""
        for cell in self.keys:
            self.values.release(cell, now)
        self.keys.clear()
        self._kept.close()

    def release(self) -> None:
        """Release what refers back to the feed, since nothing uses it any more. Cannot fail."""
        self.listeners.clear()
        self.deadlines.clear()
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
