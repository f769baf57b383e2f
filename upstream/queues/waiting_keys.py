"""The keys that wait in an update queue, each with its newest update (report, section 4.1).

The stream has the values. The queue has a `Place` for each key, and is told of a key only when the
key starts to wait. Values that are superseded while the key waits are counted when the wait ends,
from the versions that have passed.
"""

from __future__ import annotations

import math
from contextlib import suppress

from ..keys import KeyCell, Place
from ..schedulers import Scheduler, Surroundings, Terms
from ..statistics import ProcessingCost
from ..updates import TOMBSTONE, Key, Update
from .in_process import InProcess, Record
from .places import QueuePlaces
from .stream.feed import Feed
from .stream.listener import Beginning
from .stream.stream import Stream
from .stream.values import NewestValues
from .waiting import Counts

_new_tuple = tuple.__new__


class WaitingKeys:
    """The keys that wait for `scheduler`, at most `capacity` at once."""

    __slots__ = (
        "_arrived_before",
        "_cost",
        "_expired",
        "_feed",
        "_in_process",
        "_late_before",
        "_places",
        "_queue_area",
        "_records",
        "_rejected",
        "_releases",
        "_schedule",
        "_scheduler",
        "_sums",
        "_superseded",
        "_take",
        "_taken_over",
        "_taken_over_at",
        "_values",
        "_values_are_references",
        "_without_room_before",
        "capacity",
        "time_to_live",
    )

    _feed: Feed
    _values: NewestValues

    def __init__(
        self,
        scheduler: Scheduler,
        places: QueuePlaces,
        in_process: InProcess,
        cost: ProcessingCost,
        *,
        capacity: int | None,
        time_to_live: float | None,
    ) -> None:
        self._scheduler = scheduler
        # A stored method is called faster than one that is looked up.
        self._schedule = scheduler.schedule
        self._take = scheduler.take
        self._places = places
        self._sums = places.sums
        self._in_process = in_process
        self._records = in_process.records
        self._cost = cost
        self.capacity = capacity
        """The largest number of waiting keys."""
        self.time_to_live = time_to_live
        self._superseded = self._expired = self._rejected = self._taken_over = 0
        self._arrived_before = self._late_before = self._without_room_before = 0
        self._taken_over_at = -math.inf

    # Joining and leaving a stream.

    copies_values = False

    def check_can_join(self, stream: Stream) -> None:
        """Ask for the processing cost if it is needed; this may fail."""
        if self._scheduler.asks_cost:
            self._cost.ask()

    def listen(self, feed: Feed, beginning: Beginning) -> None:
        """Start to receive the updates of a stream."""
        self._feed = feed
        self._values = feed.values
        self._values_are_references = feed.values.are_references
        self._releases = not feed.values.retain
        self._places.reserve(feed.keys.size)
        self._queue_area = self._sums.queue
        order = feed.keep_order() if self._scheduler.needs_arrival_order else None
        if self.time_to_live is not None:
            feed.watch_age(self.time_to_live, self._expire)
        self._scheduler.bind(
            Surroundings(
                rates=feed.rates,
                cost=self._cost,
                place_of=self._places.find,
                order=order,
                from_oldest=beginning.since is not None,
            )
        )
        intake = feed.intake
        self._arrived_before = intake.arrived
        self._late_before = intake.late
        self._without_room_before = intake.rejected
        intake.listen(self)
        intake.ask_first(self._scheduler, self._cost)
        for cell, terms in beginning.terms.items():
            self.welcome(cell, terms)
        if beginning.since is not None:
            self._take_over_all(beginning.since, beginning.now)

    def stop_listening(self, now: float) -> None:
        """Stop receiving updates, and release the waiting ones, which were counted before."""
        for place in list(self._scheduler):
            self._scheduler.remove(place)
            self._end_wait(place, now)
        for idle in self._places.column:
            if idle is not None:
                idle.cell.remove_idle(idle)
        feed = self._feed
        feed.intake.stop_listening(self)
        feed.intake.ask_no_more(self._cost)
        self._scheduler.unbind()
        if self.time_to_live is not None:
            feed.stop_watching_age(self.time_to_live, self._expire)
        if self._scheduler.needs_arrival_order:
            feed.release_order()

    def release(self) -> None:
        """Release the references that lead back to the queue's parts, which are no longer used."""
        with suppress(AttributeError):  # of a queue that could not be made
            del self._feed, self._values

    # Calls of the stream.

    def terms_for(self, key: Key) -> Terms:
        """Return the scheduler's options for a new key; raise if they are invalid."""
        return self._scheduler.terms_for(key)

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Make a place for a key of the stream, where it does not wait yet."""
        self._scheduler.welcome(cell, terms)
        place = Place(cell, self)
        self._places.put(cell, place)
        cell.add_idle(place)

    def start_to_wait(self, place: Place, version: int, now: float, rows: int = 1) -> bool:
        """Let a key wait; if the queue is full, count its `rows` updates as rejected."""
        if self.capacity is not None and len(self._scheduler) >= self.capacity:
            self._rejected += rows
            return False
        if place.delivered_version < 0:
            self._sums.begin(place, version, now)
        if place.stale_since is None:
            place.stale_since = now
        elif place.in_process:
            self._sums.accepted(place, version, now)
        place.waiting_since = now
        place.version_before = place.cell.version
        self._schedule(place)
        return True

    @property
    def is_full(self) -> bool:
        """Whether no further key may wait."""
        return self.capacity is not None and len(self._scheduler) >= self.capacity

    def refuse(self, rows: int) -> None:
        """Count updates for which no queue of the stream had room as rejected."""
        self._rejected += rows

    def settle(self) -> None:
        """Do nothing, because the queue reads no log."""

    def has_arrived(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived here, is not forgotten, and is not barred."""
        return self._places.has_arrived(cell) and not self._is_barred(cell)

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits or is in process, and the key is not barred."""
        return self._places.holds(cell) and not self._is_barred(cell)

    def _is_barred(self, cell: KeyCell) -> bool:
        """Tell whether the key will never be served, so that the stream may forget it."""
        place = self._places.find(cell)
        return place is not None and self._scheduler.bars(place)

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Let a key wait with its newest update, as if it had arrived now."""
        place = self._places.find(cell)
        assert place is not None
        self._taken_over += 1
        cell.remove_idle(place)
        if self.start_to_wait(place, cell.version, now):
            place.version_before = place.delivered_version
            cell.waiting += 1
        else:
            cell.add_idle(place)

    def _take_over_all(self, since: float, now: float) -> None:
        self._taken_over_at = now
        for cell in self._feed.newest_cells(since):
            if self.time_to_live is None or cell.arrival + self.time_to_live > now:
                self.take_over(cell, now)

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Forget what the queue knows of the key. A waiting update counts as expired."""
        place = self._places.find(cell)
        if place is None:
            return
        self.drop_waiting(place, now)
        self._places.forget(place, now)
        self._in_process.orphans += place.in_process
        cell.remove_idle(place)
        place.close()

    # Serving.

    def serve_next(self, now: float) -> Update | None:
        """Dequeue one update. All steps are written out, because calls would double the cost."""
        if self._values_are_references:
            place = self._take(now)
            if place is None:
                return None
            cell = place.cell
            value = cell.value
        else:
            place = self._scheduler.next(now)
            if place is None:
                return None
            cell = place.cell
            value = self._values.load(cell)  # this may fail, and then nothing may change
            self._scheduler.serve(place, now)
        # Not Update(...): its generated constructor takes three times as long.
        update = _new_tuple(Update, (cell.key, value, cell.time))
        version = cell.version
        # This is `InProcess.add`.
        in_process = self._in_process
        self._records[id(update)] = (update, place, version, cell.arrival, now, 0)
        place.in_process += 1
        in_process.dequeued += 1
        # This is `_end_wait`.
        waited = now - place.waiting_since  # type: ignore[operator]  # it waits; hot path
        self._queue_area[cell.index] += 0.5 * waited * waited
        self._superseded += version - place.version_before - 1
        place.waiting_since = None
        if cell.idle is None:
            place.previous = place.next = cell.idle = place
        else:
            cell.add_idle(place)
        still_waiting = cell.waiting - 1
        cell.waiting = still_waiting
        if still_waiting == 0 and self._releases:
            if self._values_are_references and value is not TOMBSTONE:
                cell.value = None
            else:
                self._values.release_unneeded(cell, now)
        if len(self._records) > in_process.limit:
            in_process.take_oldest_as_delivered(now, self)
        return update

    def _end_wait(self, place: Place, now: float) -> None:
        """End the wait of a key that its scheduler has already removed."""
        cell = place.cell
        self._sums.wait_ends(place, now)
        self._superseded += cell.version - place.version_before - 1
        place.waiting_since = None
        cell.add_idle(place)
        cell.waiting -= 1
        if cell.waiting == 0:
            self._values.release_unneeded(cell, now)

    def drop_waiting(self, place: Place, now: float) -> None:
        """Drop the waiting update of a key, if any, and count it as expired."""
        if place.waiting_since is not None:
            self._scheduler.remove(place)
            self._end_wait(place, now)
            self._expired += 1

    def _expire(self, cell: KeyCell, due: float) -> None:
        """Drop the waiting update of a key, whose `time_to_live` ended at `due`."""
        place = self._places.find(cell)
        if place is not None and place.waiting_since is not None:
            self.drop_waiting(place, due)
            self._feed.forgetting.if_quiet(cell, due)

    def restore(self, record: Record, now: float) -> None:
        """Let an update that was given back wait again, or count why it does not."""
        update, place, version, arrival, _, _ = record
        if place.version_before >= version or place.cell.version > version:
            self._superseded += 1
        elif self.time_to_live is not None and arrival + self.time_to_live <= now:
            self._expired += 1
        else:
            cell = place.cell
            if cell.waiting == 0:
                self._values.store_again(cell, update.value, now)
            cell.remove_idle(place)
            cell.waiting += 1
            place.version_before = cell.version - 1
            self._sums.wait_resumes(place, self._sums.start_of_wait(place, arrival), now)
            self._scheduler.restore(place)

    # Looking at what waits.

    def peek(self, now: float) -> Update | None:
        """Return the update that would be served now, or None; change nothing."""
        place = self._scheduler.next(now)
        return None if place is None else self._values.update_of(place.cell)

    def read(self, place: Place | None) -> Update | None:
        """Return the waiting update of a key, or None."""
        if place is None or place.waiting_since is None:
            return None
        return self._values.update_of(place.cell)

    def snapshot(self) -> list[Update]:
        """Return the waiting updates."""
        return [self._values.update_of(place.cell) for place in self._scheduler]

    def waiting_since(self) -> float | None:
        """Return the earliest arrival of a waiting update that can be served, or None.

        It costs what `Scheduler.waiting_since` costs, or O(waiting) while a key from a snapshot
        waits.
        """
        scheduler = self._scheduler
        since = scheduler.waiting_since()
        if since is None or since > self._taken_over_at:
            return since
        # A key from a snapshot waits since then, but its update arrived earlier.
        arrivals = (place.cell.arrival for place in scheduler if not scheduler.bars(place))
        return min(since, *arrivals)

    def __len__(self) -> int:
        return len(self._scheduler)

    def counts_so_far(self) -> Counts:
        """Return the counters so far. O(waiting)."""
        intake = self._feed.intake
        still = (place.cell.version - place.version_before - 1 for place in self._scheduler)
        return Counts(
            arrived=self._taken_over + intake.arrived - self._arrived_before,
            late=intake.late - self._late_before,
            rejected=self._rejected + intake.rejected - self._without_room_before,
            superseded=self._superseded + sum(still),
            expired=self._expired,
        )

    def _check(self) -> None:
        self._scheduler._check()
        for place in self._scheduler:
            assert place.waiting_since is not None and self._places.find(place.cell) is place
        column = self._places.column
        waiting = sum(1 for place in column if place and place.waiting_since is not None)
        assert waiting == len(self._scheduler)
