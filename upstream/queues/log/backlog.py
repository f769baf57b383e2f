"""Waiting updates that do not supersede one another: the contents of append queues.

The updates are in the order of arrival. Those of one key are linked. So when one leaves, the key's
queue staleness can fall to the arrival of the next. Application staleness may fall to the arrival
of the update that was accepted right after one that can still be delivered.
`StalenessSums.later` contains just these arrivals. So if the consumer stops, nothing grows except
the updates that wait for it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator

from ...keys import NOBODY, KeyCell, Place
from ...staleness import StalenessSums
from ...updates import Update
from ..in_process import Record
from .shared_log import LogEntry


class BacklogPlace(Place):
    """What a queue with a backlog knows about one key."""

    __slots__ = ("first", "last", "newest_version", "open_version")

    first: Ticket | None
    """Its oldest waiting update."""
    last: Ticket | None
    newest_version: int
    """The newest version that the queue accepted."""
    open_version: int
    """The same version while it can still be delivered, else 0."""

    def __init__(self, cell: KeyCell) -> None:
        super().__init__(cell, NOBODY)
        self.first = self.last = None
        self.newest_version = self.open_version = 0

    def close(self) -> None:
        """Release what waits, and the references that lead back to the place."""
        super().close()
        self._release_tickets()

    def release(self) -> None:
        """Release the references that lead back to the place, because its queue is gone."""
        super().release()
        self._release_tickets()

    def _release_tickets(self) -> None:
        ticket = self.first
        while ticket is not None:
            following = ticket.next
            ticket.close()
            ticket = following
        self.first = self.last = None

    def newest_waiting(self) -> Update | None:
        """Return the newest waiting update (among equal times the last), or None."""
        newest = ticket = self.first
        while ticket is not None and newest is not None:
            if ticket.entry.time >= newest.entry.time:
                newest = ticket
            ticket = ticket.next
        return None if newest is None else newest.update()


class Ticket:
    """One waiting update in one queue."""

    __slots__ = ("entry", "next", "place", "previous", "sequence", "since")

    since: float
    """The start of its wait: its arrival here, or that of the first update it superseded."""
    next: Ticket | None
    """The next waiting update of the same key."""
    previous: Ticket | None

    def __init__(
        self, place: BacklogPlace, entry: LogEntry, *, sequence: int, since: float
    ) -> None:
        self.place = place
        self.entry = entry
        self.sequence = sequence
        self.since = since
        self.next = self.previous = None

    @classmethod
    def of(cls, record: Record, since: float) -> Ticket:
        """Return the ticket of an update that was given back and has waited since `since`."""
        update, place, version, arrival, _, sequence = record
        assert isinstance(place, BacklogPlace)
        entry = LogEntry(
            place.cell, update.value, time=update.time, arrival=arrival, version=version
        )
        return cls(place, entry, sequence=sequence, since=since)

    def close(self) -> None:
        """Release the other tickets of the key, which refer back to this one."""
        self.next = self.previous = None

    def update(self) -> Update:
        """Return the waiting update."""
        return Update(self.place.cell.key, self.entry.value, self.entry.time)

    def record(self, now: float) -> Record:
        """Return the record of this update, dequeued at `now`."""
        entry = self.entry
        return self.update(), self.place, entry.version, entry.arrival, now, self.sequence


class Backlog:
    """Waiting updates in the order of their arrival. O(1) per operation unless stated."""

    __slots__ = ("_sequence", "_sums", "_tickets")

    def __init__(self, sums: StalenessSums) -> None:
        self._sums = sums
        self._tickets: deque[Ticket] = deque()
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._tickets)

    def __iter__(self) -> Iterator[Ticket]:
        return iter(self._tickets)

    def __getitem__(self, position: int) -> Ticket:
        """Return the ticket at `position`. O(positions from the nearer end)."""
        return self._tickets[position]

    def accept(self, place: BacklogPlace, entry: LogEntry, since: float) -> None:
        """Note that an update was accepted at `since`, whatever happens to it next."""
        if entry.version == 0:
            return
        if place.stale_since is None or place.open_version:
            self._sums.accepted(place, entry.version, since)
        place.newest_version = entry.version
        place.open_version = 0

    def new_ticket(self, place: BacklogPlace, entry: LogEntry, since: float) -> Ticket:
        """Return a ticket with the next number."""
        self._sequence += 1
        return Ticket(place, entry, sequence=self._sequence, since=since)

    def append(self, place: BacklogPlace, entry: LogEntry, since: float) -> None:
        """Let an accepted update wait after all others."""
        ticket = self.new_ticket(place, entry, since)
        self._tickets.append(ticket)
        last = place.last
        if last is None:
            place.first = ticket
            place.waiting_since = since
        else:
            last.next = ticket
            ticket.previous = last
        place.last = ticket
        if entry.version:
            place.open_version = entry.version

    def next_expiry(self, time_to_live: float | None) -> float:
        """Return when the oldest update will be `time_to_live` old; infinity if never."""
        if time_to_live is None or not self._tickets:
            return math.inf
        return self._tickets[0].entry.arrival + time_to_live

    def pop(self, now: float) -> Ticket:
        """Remove and return the oldest update, which is served."""
        ticket = self._tickets.popleft()
        self._unlink(ticket, now)
        return ticket

    def drop(self, position: int, now: float) -> Ticket:
        """Remove the update at `position`, which is never delivered. O(length)."""
        ticket = self._tickets[position]
        del self._tickets[position]
        self._unlink(ticket, now)
        self.close(ticket.place, ticket.entry.version)
        return ticket

    def drop_key(self, place: BacklogPlace, now: float) -> int:
        """Remove all updates of a key, and return their number. O(length)."""
        if place.first is None:
            return 0
        dropped = [ticket for ticket in self._tickets if ticket.place is place]
        self._tickets = deque(ticket for ticket in self._tickets if ticket.place is not place)
        for ticket in dropped:
            self.close(place, ticket.entry.version)
            ticket.close()
        self._sums.wait_ends(place, now)
        place.first = place.last = place.waiting_since = None
        return len(dropped)

    def take_all(self) -> list[Ticket]:
        """Remove and return all updates, oldest first. Their keys still wait."""
        tickets = list(self._tickets)
        self._tickets.clear()
        return tickets

    def refill(self, tickets: list[Ticket]) -> None:
        """Add these tickets, one per key, whose keys already wait. The backlog must be empty."""
        assert not self._tickets, "the backlog is not empty"
        self._tickets.extend(tickets)

    def restore(self, record: Record, now: float) -> None:
        """Let an update that was given back wait at its old place.

        O(log waiting), plus O(updates of the key that wait before it).
        """
        _, place, _, arrival, _, _ = record
        ticket = Ticket.of(record, self._sums.start_of_wait(place, arrival))
        tickets = self._tickets
        tickets.insert(bisect_left(tickets, ticket.sequence, key=sequence_of), ticket)
        self._link(ticket, now)

    def close(self, place: BacklogPlace, version: int) -> None:
        """Note that `version` of a key, which is not in process, will never be delivered.

        This changes nothing for late updates and for those older than a delivered one.
        """
        if version <= max(place.delivered_version, 0):
            return
        if place.open_version == version:
            place.open_version = 0
        else:
            self._sums.never_delivered(place, version)

    def _link(self, ticket: Ticket, now: float) -> None:
        place = ticket.place
        before: Ticket | None = None
        after = place.first
        while after is not None and after.sequence < ticket.sequence:
            before, after = after, after.next
        ticket.previous, ticket.next = before, after
        if after is None:
            place.last = ticket
        else:
            after.previous = ticket
        if before is not None:
            before.next = ticket
            return
        place.first = ticket
        if place.waiting_since is None:
            self._sums.wait_resumes(place, ticket.since, now)
        else:
            self._sums.wait_moves(place, ticket.since, now)

    def _unlink(self, ticket: Ticket, now: float) -> None:
        place, before, after = ticket.place, ticket.previous, ticket.next
        if after is None:
            place.last = before
        else:
            after.previous = before
        if before is not None:
            before.next = after
            return
        place.first = after
        if after is None:
            self._sums.wait_ends(place, now)
            place.waiting_since = None
        else:
            self._sums.wait_moves(place, after.since, now)

    def _check(self) -> None:
        sequences = [ticket.sequence for ticket in self._tickets]
        assert sequences == sorted(set(sequences)), "the updates are out of order"
        for place in {id(ticket.place): ticket.place for ticket in self._tickets}.values():
            mine = [ticket for ticket in self._tickets if ticket.place is place]
            linked = []
            ticket = place.first
            while ticket is not None:
                linked.append(ticket)
                ticket = ticket.next
            assert linked == mine and place.last is mine[-1], "the links of a key are wrong"
            assert place.waiting_since is not None
            later = self._sums.later.get(place)
            assert later is None or (later and later == sorted(later))


def sequence_of(ticket: Ticket) -> int:
    """Return the number of an update in the order of arrival."""
    return ticket.sequence
