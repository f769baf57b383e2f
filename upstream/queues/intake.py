"""How a stream takes updates in, one by one and in batches.

What an update touches: its key's cell, always; the places of queues in which the key does not
wait, which start to wait; and, where some queue asks for it, the stream's one list by last arrival
and its one log. None of this grows with the number of queues: an update queue in which the key
waits already is not visited.

Most updates under load supersede a value that waits in every queue. `enqueue` treats these in
place and leaves all else to `_take_in`. Batches do the same for their rows, and give what row by
row at one instant would give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import itemgetter

import numpy as np

from ..columns import (
    CodedKeys,
    Column,
    as_list,
    check_key,
    check_lengths,
    conflate,
    float_time,
    float_times,
    is_columnar,
    length_of,
    pick,
    read_keys,
    read_times,
)
from ..errors import PagePoolFullError
from ..held_interrupt import uninterrupted
from ..keys import CLOSED, ArrivalOrder, KeyCell, KeyTable, Place
from ..statistics import UpdateRates
from ..updates import TOMBSTONE, Key, Outcome, Tombstone
from .admission import Admission
from .attached import AttachedQueue, Starter
from .batch_outcome import BatchOutcome, count_outcomes
from .shared_log import LogEntry, SharedLog
from .values import NewestValues

NEVER = math.inf
AT_ONCE = -math.inf

_WAITING = Outcome.WAITING
_SUPERSEDED = Outcome.SUPERSEDED
_LATE = Outcome.LATE
_REJECTED = Outcome.REJECTED


class Intake:
    """The part of a stream that updates pass; `Stream` is the whole."""

    __slots__ = (
        "__weakref__",
        "_admission",
        "_arrived",
        "_asks",
        "_cells",
        "_is_bare",
        "_keys",
        "_late",
        "_log",
        "_order",
        "_origin",
        "_plain_before",
        "_queues",
        "_rejected",
        "_replace",
        "_shortest_age",
        "_starters",
        "due_at",
        "rates",
        "ticks",
        "values",
    )

    def __init__(
        self,
        *,
        ticks: Callable[[], float],
        origin: float,
        values: NewestValues,
        rates: UpdateRates,
    ) -> None:
        self.ticks = ticks
        self._origin = origin
        self.values = values
        self._replace = values.replace
        self.rates = rates
        self._keys = KeyTable()
        self._cells = self._keys.cells
        self._queues: list[AttachedQueue[object]] = []
        self._admission = Admission(self._keys, rates, self._queues)
        self._starters: list[Starter] = []
        self._asks: list[Callable[[], None]] = []
        """What asks for the numbers that are needed as keys start to wait, and may fail."""
        self._log: SharedLog | None = None
        self._order: ArrivalOrder | None = None
        self._arrived = self._late = self._rejected = 0
        self.due_at = self._shortest_age = NEVER
        self._plain_before = AT_ONCE
        """Times before this are of updates that `enqueue` may treat in place: all, or none."""
        self._is_bare = False
        """Whether replacing a value is replacing a reference, and all there is to do."""

    def enqueue(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue an update of `key`; `time` defaults to the clock's. O(queues that start).

        Raises PagePoolFullError if the page pool has no room for it, after counting it.
        """
        now = self.ticks()
        if time is None:
            time = now + self._origin
        elif time.__class__ is not float:
            time = float_time(time)
        try:
            cell = self._cells[key]
        except (KeyError, TypeError):
            pass
        else:
            if cell.time <= time < self._plain_before:
                if not self._is_bare:
                    return self._enqueue_stored(cell, value, time, now)
                place = cell.idle
                if place is None:
                    self._arrived += 1
                    cell.version += 1
                    cell.value = value
                    cell.time = time
                    cell.arrival = now
                    return _SUPERSEDED
                outcome = self._start(cell, place, now, 1)
                self._arrived += 1
                if outcome is not _REJECTED or self.values.retain:
                    cell.version += 1
                    cell.value = value
                    cell.time = time
                    cell.arrival = now
                    if outcome is _REJECTED:
                        self._bury_if_unheard(cell, now)
                return outcome
        return self._enqueue_checked(key, value, time, now)

    def _enqueue_stored(self, cell: KeyCell, value: object, time: float, now: float) -> Outcome:
        """Enqueue an update of a known key in place, where its value is more than a reference."""
        try:
            if cell.idle is None:
                self._replace(cell, value, now)
                cell.version += 1
                cell.time = time
                cell.arrival = now
                if self._order is not None:
                    self._order.move_to_newest(cell)
                outcome = _SUPERSEDED
            else:
                outcome = self._accept(cell, self.values.encode(value), time, now)
        except PagePoolFullError:
            self._note_pool_full()
            raise
        self._arrived += 1
        if outcome is _REJECTED:
            self._bury_if_unheard(cell, now)
        return outcome

    def _enqueue_checked(self, key: Key, value: object, time: float, now: float) -> Outcome:
        """Enqueue an update of which nothing is known."""
        self._catch_up_to(now)
        float_time(time)
        check_key(key)
        stored = self.values.encode(value)
        if self._asks:
            self._ask()
        cell = self._cells.get(key)
        is_new = cell is None or cell.index == CLOSED
        if cell is None or is_new:
            cell = self._admission.reserve(key)
        try:
            outcome = self._take_in(cell, value, stored, time, now)
        except PagePoolFullError:
            self._note_pool_full()
            raise
        finally:
            if is_new:
                self._admission.end_call()
        if self._log is not None and self._log.failure is not None:
            self._log.raise_failure()
        return outcome

    @uninterrupted
    def enqueue_many(
        self, keys: Column, values: Column, times: Column | None = None
    ) -> BatchOutcome:
        """Enqueue the rows of three equally long columns; `times` defaults to the clock's.

        What comes of it is what enqueueing row by row at one instant would give. If a row is bad
        nothing is applied; what load does to a row is counted, and never raised.
        """
        now = self.ticks()
        self._catch_up_to(now)
        self._keys.sweep()
        rows = length_of("keys", keys)
        check_lengths(
            keys=rows,
            values=length_of("values", values),
            times=rows if times is None else length_of("times", times),
        )
        if is_columnar(keys) and self._is_bare and not self._can_refuse():
            coded = read_keys(keys)
            if isinstance(coded, CodedKeys):
                try:
                    return self._enqueue_coded(coded, values, times, now)
                finally:
                    self._end_call()
            keys = coded
        return self._enqueue_rows(as_list("keys", keys), as_list("values", values), times, now)

    def _note_pool_full(self) -> None:
        self._arrived += 1
        self._rejected += 1

    def _catch_up_to(self, now: float) -> None:
        """Do what fell due before `now`."""
        raise NotImplementedError

    def _bury_if_unheard(self, cell: KeyCell, now: float) -> None:
        """Forget a key if it is deleted and no queue has to deliver its deletion."""
        raise NotImplementedError

    def _ask(self) -> None:
        """Ask what queues will need to know if a key starts to wait."""
        for ask in self._asks:
            ask()

    def ask_first(self, ask: Callable[[], None]) -> None:
        """Call `ask`, which may fail, before a key may start to wait."""
        self._asks.append(ask)
        self._note_plainness()

    def ask_no_more(self, ask: Callable[[], None]) -> None:
        """Call `ask` no more."""
        self._asks.remove(ask)
        self._note_plainness()

    def _note_plainness(self) -> None:
        """Find out which updates `enqueue` may treat in place."""
        raise NotImplementedError

    def _end_call(self) -> None:
        """Forget what was asked of keys that did not come in, and raise what a reader raised."""
        self._admission.end_call()
        if self._log is not None:
            self._log.raise_failure()

    def _can_refuse(self) -> bool:
        return any(starter.capacity is not None for starter in self._starters)

    # One update.

    def _take_in(
        self, cell: KeyCell, value: object, stored: object, time: float, now: float
    ) -> Outcome:
        """Take in one update of which all was asked; PagePoolFullError without counting it.

        The cell may be closed, as that of a key that is not known.
        """
        if time < cell.time < NEVER:
            self._arrived += 1
            self._late += 1
            if self._log is None:
                return _LATE
            self._log.append(LogEntry(cell, value, time=time, arrival=now, version=0))
            self.due_at = min(self.due_at, now + self._shortest_age)
            return _LATE if self._starters else _WAITING
        outcome = self._accept(cell, stored, time, now)
        self._arrived += 1
        if self._log is not None:
            self._log.append(LogEntry(cell, value, time=time, arrival=now, version=cell.version))
            outcome = outcome if self._starters else _WAITING
        if cell.index != CLOSED and (outcome is _REJECTED or not self._queues):
            self._bury_if_unheard(cell, now)
        return outcome

    def _accept(
        self, cell: KeyCell, stored: object, time: float, now: float, rows: int = 1
    ) -> Outcome:
        """Take in `rows` updates of a key, of which the last is given and the newest.

        The others differ from it in nothing that anybody could still see.
        """
        if cell.index != CLOSED:
            self.values.put(cell, stored, now)
        else:
            if self._is_refused_by_all():
                for starter in self._starters:
                    starter.refuse(rows)
                return _REJECTED
            self.values.put(cell, stored, now)
            self._admission.open(cell, time, now)
            if self._order is not None:
                self._order.append(cell)
        outcome = self._start(cell, cell.idle, now, rows)
        if outcome is not _REJECTED or self.values.retain or self._log is not None:
            cell.version += rows
            cell.time = time
            cell.arrival = now
            if self._order is not None:
                self._order.move_to_newest(cell)
                self.due_at = min(self.due_at, now + self._shortest_age)
        elif stored is TOMBSTONE:
            self.values.drop(cell, now)  # it was refused, and leaves no trace
        if cell.waiting == 0:
            self.values.nobody_waits(cell, now)
        return outcome

    def _is_refused_by_all(self) -> bool:
        if self.values.retain or self._log is not None or not self._starters:
            return False
        return all(starter.is_full for starter in self._starters)

    def _start(self, cell: KeyCell, place: Place | None, now: float, rows: int) -> Outcome:
        """Let the key wait where it does not, `place` first; `cell` is still as before."""
        version = cell.version + 1
        waited = cell.waiting
        if place is None:
            return _WAITING if version == 1 and not waited else _SUPERSEDED
        cell.idle = None
        following = place.next
        if following is place and not waited:  # mostly; what follows would do the same
            if place.owner.start(place, version, now, rows):
                cell.waiting = 1
                return _WAITING
            cell.add_idle(place)
            return _REJECTED
        if place.owner.start(place, version, now, rows):
            cell.waiting = waited + 1
        else:
            cell.add_idle(place)
        while following is not place:
            place = following
            following = place.next
            if place.owner.start(place, version, now, rows):
                cell.waiting += 1
            else:
                cell.add_idle(place)
        if cell.waiting > waited:
            return _WAITING
        return _SUPERSEDED if waited else _REJECTED

    # A batch of updates.

    def _enqueue_rows(
        self, keys: list[Key], values: list[object], times: Column | None, now: float
    ) -> BatchOutcome:
        moments = self._moments(times, len(keys), now)
        stored = values
        if not self.values.is_plain:
            stored = [self.values.encode(value, row) for row, value in enumerate(values)]
        try:
            cells = self._find_known(keys) or self._find_all(keys)
            self._ask()
            if self._is_bare and not self._can_refuse():
                return self._enqueue_plain_rows(cells, values, moments, now)
            self._keys.is_kept = True
            if self._may_forget(values):
                self._admission.ask_again(cells)
            outcomes = []
            for cell, value, encoded, time in zip(cells, values, stored, moments, strict=True):
                try:
                    outcomes.append(self._take_in(cell, value, encoded, time, now))
                except PagePoolFullError:
                    self._note_pool_full()
                    outcomes.append(_REJECTED)
        finally:
            self._end_call()
        return count_outcomes(outcomes)

    def _moments(self, times: Column | None, rows: int, now: float) -> Sequence[float]:
        if times is None:
            return [now + self._origin] * rows
        if isinstance(times, list):
            return float_times(times)
        moments: list[float] = read_times(times).tolist()
        return moments

    def _find_known(self, keys: list[Key]) -> Sequence[KeyCell] | None:
        """Return the cells of `keys`, None unless all of them are known."""
        try:
            # All in one call, which only works if there are two or more.
            return itemgetter(*keys)(self._cells) if len(keys) > 1 else [self._cells[keys[0]]]
        except (KeyError, IndexError, TypeError):
            return None

    def _find_all(self, keys: list[Key]) -> Sequence[KeyCell]:
        """Return the cells of `keys`; those of new keys are closed, and each of them is checked."""
        try:
            cells = list(map(self._cells.get, keys))
        except TypeError:
            for row, key in enumerate(keys):
                check_key(key, row)
            raise
        new = {keys[row]: row for row, cell in enumerate(cells) if cell is None}
        reserved = self._reserve_checked(new)
        return [
            reserved[key] if cell is None else cell for key, cell in zip(keys, cells, strict=True)
        ]

    def _reserve_checked(self, rows: dict[Key, int]) -> dict[Key, KeyCell]:
        """Return closed cells for all new keys of a batch, each with a row for the message."""
        for key, row in rows.items():
            check_key(key, row)
        return self._admission.reserve_all(rows) if rows else {}

    def _may_forget(self, values: list[object]) -> bool:
        """Tell whether a known key may be forgotten with one row, and come again with another."""
        is_heard = self._queues and self.values.is_plain and not self._can_refuse()
        return self._closes_keys or (not is_heard and Tombstone in set(map(type, values)))

    @property
    def _closes_keys(self) -> bool:
        """Whether known keys may be forgotten as a log is read."""
        raise NotImplementedError

    def _enqueue_plain_rows(
        self,
        cells: Sequence[KeyCell],
        values: list[object],
        times: Sequence[float],
        now: float,
    ) -> BatchOutcome:
        """Enqueue rows of which none can be rejected: the library's hottest loop."""
        self._admission.open_all(now)
        waiting = late = 0
        for cell, value, time in zip(cells, values, times, strict=True):
            if cell.time <= time:
                if cell.idle is not None and self._start(cell, cell.idle, now, 1) is _WAITING:
                    waiting += 1
                cell.version += 1
                cell.value = value
                cell.time = time
                cell.arrival = now
            else:
                late += 1
        self._arrived += len(cells)
        self._late += late
        return BatchOutcome(
            waiting=waiting, superseded=len(cells) - waiting - late, late=late, rejected=0
        )

    def _enqueue_coded(
        self, coded: CodedKeys, values: Column, times: Column | None, now: float
    ) -> BatchOutcome:
        """Enqueue rows of which none can be rejected, conflated before any work per key."""
        rows = len(coded)
        keys = coded.keys
        if times is None:
            moments = np.broadcast_to(np.float64(now + self._origin), rows)
        else:
            moments = read_times(times)
        cells = list(map(self._cells.get, keys))
        newest = np.array([-math.inf if cell is None else cell.time for cell in cells])
        conflated = conflate(coded.codes, moments, newest)
        last_rows = conflated.last_rows
        codes = conflated.codes.tolist()
        # Only keys that have rows; a dictionary may hold more.
        new = [code for code in codes if cells[code] is None]
        picked = pick("values", values, last_rows)
        times_picked = moments[last_rows].tolist()
        counts = conflated.counts.tolist()
        if new:
            last_row = dict(zip(codes, last_rows.tolist(), strict=True))
            reserved = self._reserve_checked({keys[code]: last_row[code] for code in new})
            for code, cell in zip(new, reserved.values(), strict=True):
                cells[code] = cell
        self._ask()
        self._admission.open_all(now)
        waiting = 0
        for code, count, value, time in zip(codes, counts, picked, times_picked, strict=True):
            cell = cells[code]
            idle = cell.idle
            if idle is not None and self._start(cell, idle, now, count) is _WAITING:
                waiting += 1
            cell.version += count
            cell.value = value
            cell.time = time
            cell.arrival = now
        self._arrived += rows
        self._late += conflated.late
        return BatchOutcome(
            waiting=waiting,
            superseded=rows - waiting - conflated.late,
            late=conflated.late,
            rejected=0,
        )
