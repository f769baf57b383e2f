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

from ..errors import PagePoolFullError
from ..keys import ArrivalOrder, KeyCell, KeyTable, Place
from ..statistics import UpdateRates
from ..updates import TOMBSTONE, Key, Outcome
from .attached import AttachedQueue, Starter
from .batch_outcome import BatchOutcome, count_outcomes
from .columns import (
    CodedKeys,
    Column,
    as_list,
    check_key,
    check_lengths,
    float_time,
    float_times,
    is_columnar,
    length_of,
    pick,
    read_keys,
    read_times,
)
from .conflation import conflate
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
        "_arrived",
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
        self._starters: list[Starter] = []
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
                        self._bury_if_unheard(cell)
                return outcome
        except (KeyError, TypeError):
            pass
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
                outcome = self._accept(cell, cell.key, self.values.encode(value), time, now)
        except PagePoolFullError:
            self._note_pool_full()
            raise
        self._arrived += 1
        if outcome is _REJECTED:
            self._bury_if_unheard(cell)
        return outcome

    def _enqueue_checked(self, key: Key, value: object, time: float, now: float) -> Outcome:
        """Enqueue an update of which nothing is known."""
        self._catch_up_to(now)
        float_time(time)
        check_key(key)
        stored = self.values.encode(value)
        if key not in self._cells:
            self._admit(key)
        try:
            return self._take_in(key, value, stored, time, now)
        except PagePoolFullError:
            self._note_pool_full()
            raise

    def enqueue_many(
        self, keys: Column, values: Column, times: Column | None = None
    ) -> BatchOutcome:
        """Enqueue the rows of three equally long columns; `times` defaults to the clock's.

        What comes of it is what enqueueing row by row at one instant would give. If a row is bad
        nothing is applied; what load does to a row is counted, and never raised.
        """
        now = self.ticks()
        self._catch_up_to(now)
        rows = length_of("keys", keys)
        check_lengths(
            keys=rows,
            values=length_of("values", values),
            times=rows if times is None else length_of("times", times),
        )
        if is_columnar(keys) and self._is_bare and not self._can_refuse():
            coded = read_keys(keys)
            if isinstance(coded, CodedKeys):
                return self._enqueue_coded(coded, values, times, now)
            keys = coded
        return self._enqueue_rows(as_list("keys", keys), as_list("values", values), times, now)

    def _note_pool_full(self) -> None:
        self._arrived += 1
        self._rejected += 1

    def _catch_up_to(self, now: float) -> None:
        """Do what fell due before `now`."""
        raise NotImplementedError

    def _bury_if_unheard(self, cell: KeyCell | None) -> None:
        """Forget a key if it is deleted and no queue has to deliver its deletion."""
        raise NotImplementedError

    def _admit(self, key: Key) -> None:
        """Raise if what was given for a new key, such as a weight, makes no sense."""
        try:
            self.rates.admit(key)
            for queue in self._queues:
                queue.admit(key)
        except Exception:
            self._dismiss(key)
            raise

    def _dismiss(self, key: Key) -> None:
        """Forget what was noted of a new key that did not come in."""
        for queue in self._queues:
            queue.dismiss(key)

    def _can_refuse(self) -> bool:
        return any(starter.capacity is not None for starter in self._starters)

    # One update.

    def _take_in(self, key: Key, value: object, stored: object, time: float, now: float) -> Outcome:
        """Take in one update that was checked; PagePoolFullError without counting it."""
        cell = self._cells.get(key)
        if cell is not None and time < cell.time:
            self._arrived += 1
            self._late += 1
            if self._log is None:
                return _LATE
            self._log.append(LogEntry(cell, value, time=time, arrival=now, version=0))
            self.due_at = min(self.due_at, now + self._shortest_age)
            return _LATE if self._starters else _WAITING
        outcome = self._accept(cell, key, stored, time, now)
        self._arrived += 1
        if self._log is not None:
            cell = self._cells[key]
            self._log.append(LogEntry(cell, value, time=time, arrival=now, version=cell.version))
            outcome = outcome if self._starters else _WAITING
        if outcome is _REJECTED or not self._queues:
            self._bury_if_unheard(self._cells.get(key))
        return outcome

    def _accept(  # noqa: PLR0917  # keywords cost a fifth of a batch's work per key
        self, cell: KeyCell | None, key: Key, stored: object, time: float, now: float, rows: int = 1
    ) -> Outcome:
        """Take in `rows` updates of a key, of which the last is given and the newest.

        The others differ from it in nothing that anybody could still see.
        """
        if cell is None:
            if self._is_refused_by_all():
                for starter in self._starters:
                    starter.refuse(rows)
                self._dismiss(key)
                return _REJECTED
            cell = self._welcome(key, stored, time, now)
        else:
            self.values.put(cell, stored, now)
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

    def _welcome(self, key: Key, stored: object, time: float, now: float) -> KeyCell:
        """Make a cell for a new key, with a place in each queue."""
        cell = self._keys.add(key, time=time, arrival=now)
        try:
            self.rates.begin(cell)
            self.values.put(cell, stored, now)
        except Exception:
            self._keys.remove(cell)
            self._dismiss(key)
            raise
        for starter in self._starters:
            starter.open_place(cell)
        if self._order is not None:
            self._order.append(cell)
        return cell

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
        known = self._find_known(keys)
        cells = self._find_all(keys) if known is None else known
        if self._is_bare and not self._can_refuse():
            if known is not None:
                return self._enqueue_known_rows(known, values, moments, now)
            return self._enqueue_plain_rows(cells, keys, values, moments, now)
        outcomes = []
        for key, value, encoded, time in zip(keys, values, stored, moments, strict=True):
            try:
                outcomes.append(self._take_in(key, value, encoded, time, now))
            except PagePoolFullError:
                self._note_pool_full()
                outcomes.append(_REJECTED)
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

    def _find_all(self, keys: list[Key]) -> Sequence[KeyCell | None]:
        """Return the cells of `keys`, None for new keys, of which each is checked."""
        try:
            cells = list(map(self._cells.get, keys))
        except TypeError:
            for row, key in enumerate(keys):
                check_key(key, row)
            raise
        if None in cells:
            self._admit_all({keys[row]: row for row, cell in enumerate(cells) if cell is None})
        return cells

    def _admit_all(self, rows: dict[Key, int]) -> None:
        """Check and admit all new keys of a batch, each with a row for the message, or none."""
        admitted = []
        try:
            for key, row in rows.items():
                check_key(key, row)
                self._admit(key)
                admitted.append(key)
        except Exception:
            for key in admitted:
                self._dismiss(key)
            raise

    def _enqueue_known_rows(
        self, cells: Sequence[KeyCell], values: list[object], times: Sequence[float], now: float
    ) -> BatchOutcome:
        """Enqueue rows of known keys of which none can be rejected: the library's hottest loop."""
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

    def _enqueue_plain_rows(
        self,
        cells: Sequence[KeyCell | None],
        keys: list[Key],
        values: list[object],
        times: Sequence[float],
        now: float,
    ) -> BatchOutcome:
        """Enqueue rows of which none can be rejected; those of new keys among them."""
        waiting = late = 0
        for cell, key, value, time in zip(cells, keys, values, times, strict=True):
            if cell is None:
                # A new key may have come in with an earlier row of this batch.
                cell = self._cells.get(key)
            if cell is None:
                if self._accept(cell, key, value, time, now) is _WAITING:
                    waiting += 1
            elif cell.time <= time:
                idle = cell.idle
                if idle is not None and self._start(cell, idle, now, 1) is _WAITING:
                    waiting += 1
                cell.version += 1
                cell.value = value
                cell.time = time
                cell.arrival = now
            else:
                late += 1
        self._arrived += len(keys)
        self._late += late
        return BatchOutcome(
            waiting=waiting, superseded=len(keys) - waiting - late, late=late, rejected=0
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
        last_row = dict(zip(codes, last_rows.tolist(), strict=True)) if new else {}
        picked = pick("values", values, last_rows)
        self._admit_all({keys[code]: last_row[code] for code in new})
        waiting = 0
        for code, count, value, time in zip(
            codes,
            conflated.counts.tolist(),
            picked,
            moments[last_rows].tolist(),
            strict=True,
        ):
            cell = cells[code]
            if cell is None:
                if self._accept(cell, keys[code], value, time, now, count) is _WAITING:
                    waiting += 1
            else:
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
