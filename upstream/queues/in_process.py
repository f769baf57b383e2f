"""Updates that were dequeued and not delivered yet, so that they can be given back.

A dequeued update is in process until it is delivered or given back. A consumer that does neither
must not make the queue grow. So the number is bounded: beyond it, the oldest update is taken as
delivered.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from ..errors import NotInProcessError
from ..keys import Place
from ..statistics import ProcessingCost
from ..updates import TOMBSTONE, Key, Update
from .places import QueuePlaces
from .stream.feed import Feed

if TYPE_CHECKING:
    from .waiting import Waiting

DEFAULT_IN_PROCESS_LIMIT = 10_000

Record = tuple[Update, Place, int, float, float, int]
"""An update in process: the update, its key's place, its version (0 if it was late), its arrival,
the time of its dequeue, and its number in the order of arrival if that matters. It is a tuple
without names because one is made for each dequeue, and names would multiply its cost.
"""


class InProcess:
    """The updates in process of one queue, at most `limit`, and the counts of those that left."""

    __slots__ = (
        "_cost",
        "_places",
        "delivered",
        "dequeued",
        "feed",
        "limit",
        "orphans",
        "records",
        "returned",
        "taken_as_delivered",
    )

    def __init__(self, places: QueuePlaces, cost: ProcessingCost, *, limit: int) -> None:
        self._places = places
        self._cost = cost
        self.limit = limit
        """How many updates in process the queue remembers."""
        self.feed: Feed | None = None
        """The stream that feeds the queue."""
        # Not a dict: removing the first key of a dict again and again steps over all removed ones.
        self.records: OrderedDict[int, Record] = OrderedDict()
        """The records by the identity of their updates, oldest first."""
        self.dequeued = self.returned = self.delivered = self.taken_as_delivered = 0
        self.orphans = 0
        """The number of records whose keys were forgotten."""

    def add(self, record: Record, now: float, waiting: Waiting) -> Update:
        """Note that an update is dequeued, and return it."""
        update = record[0]
        record[1].in_process += 1
        self.dequeued += 1
        self.records[id(update)] = record
        if len(self.records) > self.limit:
            self.take_oldest_as_delivered(now, waiting)
        return update

    def deliver(self, update: Update, now: float, waiting: Waiting) -> None:
        """Note that the application has the result of `update`."""
        record = self.records.pop(id(update), None)
        if record is None:
            record = self._find_copy(update)
            if record is None:
                if self._may_have_been_taken(update):
                    return
                raise NotInProcessError(update)
            del self.records[id(record[0])]
        self._note_delivery(record, now, waiting)

    def find(self, update: Update) -> Record:
        """Return the record of an update or a copy of it; NotInProcessError if there is none."""
        record = self.records.get(id(update)) or self._find_copy(update)
        if record is None:
            raise NotInProcessError(update)
        return record

    def give_back(self, record: Record, now: float) -> None:
        """Note that an update was given back."""
        del self.records[id(record[0])]
        place = record[1]
        place.in_process -= 1
        self.returned += 1
        self._note_quiet(place, now)

    def take_oldest_as_delivered(self, now: float, waiting: Waiting) -> None:
        """Take the oldest update as delivered, so that one fewer is remembered."""
        self.taken_as_delivered += 1
        self._note_delivery(self.records.popitem(last=False)[1], now, waiting)

    def clear(self) -> None:
        """Forget all records, because the queue is closed."""
        self.records.clear()

    def _note_delivery(self, record: Record, now: float, waiting: Waiting) -> None:
        update, place, version, _, dequeued_at, _ = record
        place.in_process -= 1
        self.delivered += 1
        self._cost.delivered(dequeued_at, now)
        if 0 <= place.delivered_version < version:
            self._places.sums.delivered(place, version, now)
            if update.value is TOMBSTONE:
                self._note_deletion(place, version, now, waiting)
        is_known = 0 <= place.delivered_version < Place.FORGOTTEN
        assert self.feed is not None
        if not is_known or self.feed.forgetting.after is not None:
            self._note_quiet(place, now)

    def _note_deletion(self, place: Place, version: int, now: float, waiting: Waiting) -> None:
        """Forget a key whose deletion was delivered, unless it was updated since."""
        if place.cell.version == version:
            waiting.drop_waiting(place, now)  # an older update, if one was given back
            self._places.retire(place, now)
            place.delivered_version = Place.UNCOUNTED
            place.stale_since = None

    def _note_quiet(self, place: Place, now: float) -> None:
        """Let the stream forget a key that may have become idle, if its time has come."""
        if place.delivered_version == Place.FORGOTTEN:
            self.orphans -= 1
            return
        feed = self.feed
        assert feed is not None
        if place.delivered_version == Place.UNCOUNTED:
            feed.forget_if_deleted(place.cell, now)
        if place.delivered_version != Place.FORGOTTEN:
            feed.forgetting.if_quiet(place.cell, now)

    def _find_copy(self, update: Update) -> Record | None:
        """Return the record of the update that equals the copy `update`, or None.

        For example, an update that returns from another process is a copy. It is found by key and
        time, and by value if several records have these. O(updates in process).
        """
        if not isinstance(update, Update):
            raise NotInProcessError(update)
        place = self.find_place(update.key)
        if place is not None and place.in_process == 0 and self.orphans == 0:
            return None
        alike = [
            record
            for record in self.records.values()
            if record[0].time == update.time and record[0].key == update.key
        ]
        if len(alike) <= 1:
            return alike[0] if alike else None
        same = (record for record in alike if _is_equal(record[0].value, update.value))
        return next(same, alike[0])

    def _may_have_been_taken(self, update: Update) -> bool:
        """Tell whether an update that is not in process may have been taken as delivered."""
        is_known = update.value is TOMBSTONE or self.find_place(update.key) is not None
        return is_known and self.taken_as_delivered > 0

    def find_place(self, key: Key) -> Place | None:
        """Return the place of a key in this queue, or None."""
        assert self.feed is not None
        cell = self.feed.find(key)
        return None if cell is None else self._places.find(cell)

    def _check(self) -> None:
        for identity, record in self.records.items():
            assert identity == id(record[0])
            assert record[1].in_process > 0
        in_process = sum(place.in_process for place in self._places.column if place is not None)
        assert in_process + self.orphans == len(self.records)


def _is_equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # for example, arrays have no single answer
        return False
