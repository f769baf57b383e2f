"""How updates enter a stream, one by one and in batches.

An update changes the cell of its key, and the places of the queues in which the key does not wait
yet. If a queue needs them, it also changes the list of keys by last arrival and the log. The cost
does not grow with the number of queues, because an update queue in which the key already waits is
not visited.

Under load, most updates supersede a value that waits in every queue. `enqueue` processes these in
place, and passes all others to `Intake.take_in`. Batches do the same for their rows. The result is
the same as enqueueing row by row at one instant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from ...columns import (
    Column,
    check_key,
    float_time,
)
from ...errors import PagePoolFullError
from ...keys import CLOSED, KeyCell, KeyTable, Place
from ...schedulers import Scheduler
from ...statistics import ProcessingCost, UpdateRates
from ...updates import TOMBSTONE, BatchOutcome, Key, Outcome
from ..log.shared_log import LogEntry, SharedLog
from .admission import Admission
from .deadlines import AT_ONCE, NEVER, Deadlines
from .forgetting import Forgetting
from .kept_order import KeptOrder
from .listener import Listener
from .values import NewestValues

if TYPE_CHECKING:
    from ..waiting_keys import WaitingKeys
    from .feed import Feed

_WAITING = Outcome.WAITING
_SUPERSEDED = Outcome.SUPERSEDED
_LATE = Outcome.LATE
_REJECTED = Outcome.REJECTED


class TakesUpdates(Protocol):
    """A stream or a queue into which updates are enqueued."""

    _intake: Intake
    _feed: Feed


def enqueue(self: TakesUpdates, key: Key, value: object, time: float | None = None) -> Outcome:
    """Enqueue one update and return its outcome. O(queues in which the key starts to wait).

    `key` is any hashable object that equals itself. `value` is any object; with a page pool, one
    that the codec can encode. `time` is when the source made the update, in seconds; it defaults to
    the clock's time. An update that is older than the newest of its key is late: it is dropped and
    counted.

    Raises PagePoolFullError if the page pool has no room for it. The update counts as rejected.
    """
    # This is a method of streams and of update queues. It uses the intake directly, because another
    # call would make it a quarter slower (DECISIONS.md).
    intake = self._intake
    now = intake.ticks()
    if time is None:
        time = now + intake.origin
    elif time.__class__ is not float:
        time = float_time(time)
    try:
        cell = intake.cells[key]
    except (KeyError, TypeError):
        pass
    else:
        if cell.time <= time < intake.in_place_before:
            if not intake.is_by_reference:
                return intake.replace_in_place(cell, value, time, now)
            place = cell.idle
            if place is None:
                intake.arrived += 1
                cell.version += 1
                cell.value = value
                cell.time = time
                cell.arrival = now
                return _SUPERSEDED
            outcome = intake.start(cell, place, now, 1)
            intake.arrived += 1
            if outcome is not _REJECTED or intake.values.retain:
                cell.version += 1
                cell.value = value
                cell.time = time
                cell.arrival = now
                if outcome is _REJECTED:
                    intake.forgetting.if_deleted(cell, now)
            return outcome
    return intake.take_one(key, value, time, now)


def enqueue_many(
    self: TakesUpdates, keys: Column, values: Column, times: Column | None = None
) -> BatchOutcome:
    """Enqueue the rows of three columns of equal length, and return the outcomes.

    The columns are sequences, NumPy arrays or Arrow arrays. `times` defaults to the clock's time.
    The result is the same as enqueueing row by row at one instant. If a row is invalid, an error
    names it and no row is applied. Rows that are dropped because of load are counted and raise no
    error.
    """
    return self._feed.batches.take(keys, values, times)


class Intake:
    """The part of one stream through which updates enter."""

    __slots__ = (
        "_admission",
        "_costs",
        "_kept",
        "_keys",
        "_listeners",
        "_replace",
        "_waiting_keys",
        "arrived",
        "cells",
        "deadlines",
        "forgetting",
        "in_place_before",
        "is_by_reference",
        "late",
        "log",
        "origin",
        "rates",
        "rejected",
        "ticks",
        "values",
    )

    def __init__(
        self,
        *,
        ticks: Callable[[], float],
        origin: float,
        keys: KeyTable,
        listeners: Sequence[Listener],
        admission: Admission,
        values: NewestValues,
        rates: UpdateRates,
        kept: KeptOrder,
        deadlines: Deadlines,
        forgetting: Forgetting,
    ) -> None:
        self.ticks = ticks
        self.origin = origin
        """The offset from `ticks` to the time of the clock."""
        self.cells = keys.cells
        self.values = values
        self.rates = rates
        self.deadlines = deadlines
        self._keys = keys
        self._listeners = listeners
        self._replace = values.replace
        self._kept = kept
        self.forgetting = forgetting
        self._admission = admission
        self._waiting_keys: list[WaitingKeys] = []
        self._costs: list[ProcessingCost] = []
        """The costs to ask for before keys may start to wait, because that may fail."""
        self.log: SharedLog | None = None
        self.arrived = self.late = self.rejected = 0
        self.in_place_before = AT_ONCE
        """`enqueue` may process updates with times before this in place. It allows all or none."""
        self.is_by_reference = False
        """Whether replacing a value only replaces a reference."""

    # Choosing the way.

    def choose_way(self) -> None:
        """Let `enqueue` process updates in place only if no more is to be done."""
        in_place = bool(self._waiting_keys) and self.deadlines.is_idle
        in_place = in_place and self.log is None and not self._costs
        self.in_place_before = NEVER if in_place else AT_ONCE
        by_reference = self.values.are_references and self._kept.order is None
        self.is_by_reference = in_place and by_reference

    def listen(self, waiting_keys: WaitingKeys) -> None:
        """Start to tell an update queue of keys that start to wait."""
        self._waiting_keys.append(waiting_keys)
        self.choose_way()

    def stop_listening(self, waiting_keys: WaitingKeys) -> None:
        """Stop telling an update queue of keys."""
        self._waiting_keys.remove(waiting_keys)
        self.choose_way()

    def ask_first(self, scheduler: Scheduler, cost: ProcessingCost) -> None:
        """Ask for the cost, which may fail, before a key may start to wait, if that is needed."""
        if scheduler.asks_cost and cost.is_told:
            self._costs.append(cost)
            self.choose_way()

    def ask_no_more(self, cost: ProcessingCost) -> None:
        """Stop asking for the cost."""
        if cost in self._costs:
            self._costs.remove(cost)
            self.choose_way()

    @property
    def listening(self) -> int:
        """The number of update queues that are told of keys that start to wait."""
        return len(self._waiting_keys)

    @property
    def has_listeners(self) -> bool:
        """Whether the stream has queues."""
        return bool(self._listeners)

    def release(self) -> None:
        """Release the references that lead back to the intake."""
        self._waiting_keys.clear()
        self._costs.clear()
        self.log = None

    # One update.

    def replace_in_place(self, cell: KeyCell, value: object, time: float, now: float) -> Outcome:
        """Process an update of a known key whose value is more than a reference."""
        try:
            if cell.idle is None:
                self._replace(cell, value, now)
                cell.version += 1
                cell.time = time
                cell.arrival = now
                if self._kept.order is not None:
                    self._kept.order.move_to_newest(cell)
                outcome = _SUPERSEDED
            else:
                outcome = self._accept(cell, self.values.encode(value), time, now)
        except PagePoolFullError:
            self.note_pool_full()
            raise
        self.arrived += 1
        if outcome is _REJECTED:
            self.forgetting.if_deleted(cell, now)
            self._keys.try_sweep()
        return outcome

    def take_one(self, key: Key, value: object, time: float, now: float) -> Outcome:
        """Process an update that has not been checked yet."""
        if now >= self.deadlines.due_at:
            self.deadlines.catch_up_to(now)
            self._keys.try_sweep()
        float_time(time)
        check_key(key)
        stored = self.values.encode(value)
        self.ask()
        cell = self.cells.get(key)
        is_new = cell is None or cell.index == CLOSED
        if cell is None or is_new:
            cell = self._admission.reserve(key)
        try:
            outcome = self.take_in(cell, value, stored, time, now)
        except PagePoolFullError:
            self.note_pool_full()
            raise
        finally:
            if is_new:
                self._admission.end_call()
        if self.log is not None and self.log.failure is not None:
            self.log.raise_failure()
        return outcome

    def tell_deletion(self, key: Key, time: float, now: float) -> KeyCell:
        """Return the cell of a key that one queue must delete; a new key is added as deleted."""
        cell = self._keys.find(key)
        if cell is None:
            cell = self._admission.reserve(key)
            cell.value = TOMBSTONE
            self._admission.open(cell, time, now)
            self._admission.end_call()
            cell.version = 1
            if self._kept.order is not None:
                self._kept.order.append(cell)
        return cell

    def note_pool_full(self) -> None:
        """Count an update for which the page pool had no room."""
        self.arrived += 1
        self.rejected += 1

    def ask(self) -> None:
        """Ask for what queues need to know when a key starts to wait."""
        for cost in self._costs:
            cost.ask()

    @property
    def can_refuse(self) -> bool:
        """Whether a queue may have no room for a key."""
        return any(waiting.capacity is not None for waiting in self._waiting_keys)

    def take_in(
        self, cell: KeyCell, value: object, stored: object, time: float, now: float
    ) -> Outcome:
        """Process one update after all checks. Raises PagePoolFullError without counting it.

        The cell may be the closed one of an unknown key.
        """
        if time < cell.time < NEVER:
            self.arrived += 1
            self.late += 1
            if self.log is None:
                return _LATE
            self.log.append(LogEntry(cell, value, time=time, arrival=now, version=0))
            return _LATE if self._waiting_keys else _WAITING
        outcome = self._accept(cell, stored, time, now)
        self.arrived += 1
        if self.log is not None:
            self.log.append(LogEntry(cell, value, time=time, arrival=now, version=cell.version))
            outcome = outcome if self._waiting_keys else _WAITING
        if cell.index != CLOSED and (outcome is _REJECTED or not self._listeners):
            self.forgetting.if_deleted(cell, now)
        return outcome

    def _accept(
        self, cell: KeyCell, stored: object, time: float, now: float, rows: int = 1
    ) -> Outcome:
        """Process `rows` updates of a key. The last of them is given and is the newest.

        No visible result depends on the others.
        """
        if cell.index != CLOSED:
            self.values.put(cell, stored, now)
        else:
            if self._is_refused_by_all():
                for waiting_keys in self._waiting_keys:
                    waiting_keys.refuse(rows)
                return _REJECTED
            self.values.put(cell, stored, now)
            self._admission.open(cell, time, now)
            if self._kept.order is not None:
                self._kept.order.append(cell)
        outcome = self.start(cell, cell.idle, now, rows)
        if outcome is not _REJECTED or self.values.retain or self.log is not None:
            cell.version += rows
            cell.time = time
            cell.arrival = now
            if self._kept.order is not None:
                self._kept.order.move_to_newest(cell)
        elif stored is TOMBSTONE:
            self.values.release(cell, now)  # it was rejected and must leave no trace
        if cell.waiting == 0:
            self.values.release_unneeded(cell, now)
        return outcome

    def _is_refused_by_all(self) -> bool:
        if self.values.retain or self.log is not None or not self._waiting_keys:
            return False
        return all(waiting_keys.is_full for waiting_keys in self._waiting_keys)

    def start(self, cell: KeyCell, place: Place | None, now: float, rows: int) -> Outcome:
        """Let the key wait where it does not wait yet, first in `place`. `cell` is unchanged."""
        version = cell.version + 1
        waited = cell.waiting
        if place is None:
            return _WAITING if version == 1 and not waited else _SUPERSEDED
        cell.idle = None
        following = place.next
        if following is place and not waited:  # the usual case; the code below has the same result
            if place.owner.start_to_wait(place, version, now, rows):
                cell.waiting = 1
                return _WAITING
            cell.add_idle(place)
            return _REJECTED
        if place.owner.start_to_wait(place, version, now, rows):
            cell.waiting = waited + 1
        else:
            cell.add_idle(place)
        while following is not place:
            place = following
            following = place.next
            if place.owner.start_to_wait(place, version, now, rows):
                cell.waiting += 1
            else:
                cell.add_idle(place)
        if cell.waiting > waited:
            return _WAITING
        return _SUPERSEDED if waited else _REJECTED
