"""The model of a stream: each key's newest update, and the queues that are fed with it."""

from __future__ import annotations

import math

from upstream import TOMBSTONE, Key, Outcome, Update

from .model import IMPATIENCE, RETIREMENT, Due, Event, Known, ModelQueue, call


class ModelStream:
    """Each key's newest update, and the queues that are fed with it."""

    def __init__(
        self, *, retain: bool, forget_after: float | None, locations: float = math.inf
    ) -> None:
        self.retain = retain
        self.forget_after = forget_after
        self.locations = locations
        """How many values there is room for."""
        self.known: dict[Key, Known] = {}
        self.queues: list[ModelQueue] = []
        self.now = 0.0
        self.arrived = self.late = self.rejected = 0

    def enqueue(self, key: Key, value: object, time: float | None, now: float) -> Outcome | None:
        """Take in one update; None if there is no room for its value."""
        self.advance(now)
        self.arrived += 1
        update = Update(key, value, now if time is None else time)
        known = self.known.get(key)
        event = Event(update, now, self.arrived)
        if known is not None and update.time < known.newest.update.time:
            event.is_late = True
            self.late += 1
            for queue in self.queues:
                queue.take_late(event, known)
            keeps_late = self.queues and not self.starters()
            outcome = Outcome.WAITING if keeps_late else Outcome.LATE
        elif known is None and self.is_refused(key):
            outcome = self.refuse(self.starters())
        elif value is not TOMBSTONE and not self.has_value(known) and self.is_full():
            self.rejected += 1
            for queue in self.queues:
                queue.refuse()
            return None
        elif self.is_refused(key):
            outcome = self.refuse(self.starters())
        else:
            outcome = self.accept(event, known)
        self.advance(now)
        return outcome

    def accept(self, event: Event, known: Known | None) -> Outcome:
        """Take in an update that is the newest of its key."""
        is_new = known is None
        if known is None:
            known = self.known[event.update.key] = Known(event.update.key, event)
        was_waiting = any(queue.waiting_of(known.key) for queue in self.starters())
        known.newest = event
        outcomes = {queue.take(event, known, event.arrival) for queue in self.starters()}
        for queue in self.queues:
            if not queue.hears_starts:
                queue.take(event, known, event.arrival)
        if Outcome.WAITING in outcomes or (self.queues and not self.starters()):
            return Outcome.WAITING
        if Outcome.REJECTED in outcomes and not was_waiting:
            return Outcome.REJECTED
        return Outcome.WAITING if is_new else Outcome.SUPERSEDED

    def starters(self) -> list[ModelQueue]:
        """Return the update queues."""
        return [queue for queue in self.queues if queue.hears_starts]

    def is_refused(self, key: Key) -> bool:
        """Tell whether neither the stream nor any queue has room for the key."""
        if self.retain or not self.queues:
            return False
        return all(queue.hears_starts and queue.refuses(key) for queue in self.queues)

    def refuse(self, queues: list[ModelQueue]) -> Outcome:
        """Count an update that leaves no trace."""
        for queue in queues:
            queue.refuse()
        return Outcome.REJECTED

    def has_value(self, known: Known | None) -> bool:
        """Tell whether the stream keeps the key's newest value."""
        if known is None or known.newest.update.value is TOMBSTONE:
            return False
        return self.retain or any(queue.waiting_of(known.key) for queue in self.starters())

    def is_full(self) -> bool:
        """Tell whether there is no room for one value more."""
        return sum(map(self.has_value, self.known.values())) >= self.locations

    def read(self, key: Key) -> Update | None:
        """Return the newest value of the key if there is one."""
        known = self.known.get(key)
        return known.newest.update if known is not None and self.has_value(known) else None

    def by_last_arrival(self) -> list[Known]:
        """Return the keys that have a value, the oldest first."""
        known = filter(self.has_value, self.known.values())
        return sorted(known, key=lambda each: each.newest.number)

    def attach(self, queue: ModelQueue, *, since: float | None, now: float) -> None:
        """Feed a new queue, from what arrived at or after `since` on, if that is given."""
        self.advance(now)
        queue.stream = self
        self.queues.append(queue)
        for known in self.by_last_arrival() if since is not None else ():
            if since is not None and known.newest.arrival >= since:
                queue.take_over(known, now)

    def detach(self, queue: ModelQueue, now: float) -> dict[str, int]:
        """Feed a queue no more; return its final statistics."""
        self.advance(now)
        final = queue.statistics()
        for key in list(queue.lives):
            queue.retire(key)
        self.queues.remove(queue)
        self.advance(now)
        return final

    def forget(self, known: Known) -> None:
        """Forget a key, here and in every queue."""
        for queue in self.queues:
            queue.forget(known)
        known.is_forgotten = True
        del self.known[known.key]

    def unheard_deletions(self) -> list[Known]:
        """Return the deleted keys whose deletion no queue still has to deliver."""
        return [
            known
            for known in self.known.values()
            if known.newest.update.value is TOMBSTONE
            and not any(queue.will_deliver(known) or queue.holds(known) for queue in self.queues)
        ]

    def advance(self, to: float) -> None:
        """Do what falls due until `to`, in its order."""
        while (due := self.next_due(to)) is not None:
            self.now = max(self.now, due[0])
            due[2]()
        self.now = to

    def next_due(self, to: float) -> Due | None:
        """Return what falls due first, if that is not after `to`."""
        dues = [due for queue in self.queues for due in queue.due()]
        for known in self.known.values():
            if not any(queue.holds(known) for queue in self.queues):
                dues += self.retirements(known)
        dues = [due for due in dues if due[0] < to or (due[0] == to and due[1] < IMPATIENCE)]
        return min(dues, key=lambda due: (max(due[0], self.now), due[1]), default=None)

    def retirements(self, known: Known) -> list[Due]:
        """Return when a key of which nothing waits or is in process is forgotten."""
        if self.forget_after is None:
            return []
        moment = max(known.newest.arrival + self.forget_after, self.now)
        return [(moment, RETIREMENT, call(self.forget, known))]
