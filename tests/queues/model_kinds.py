"""The kinds of queues in the model: what each does with an update that comes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby
from typing import Unpack

from upstream import Key, Outcome, RandomShedding, Update

from .model import IMPATIENCE, Due, Event, Held, Known, Limits, ModelQueue, Waiting


class ModelUpdateQueue(ModelQueue):
    """At most one update of a key waits, the newest; the staleness index orders it its own way."""

    hears_starts = True

    longest_wait = math.inf

    def refuses(self, key: Key) -> bool:
        is_full = self.capacity is not None and len(self.waiting) >= self.capacity
        return is_full and not self.waiting_of(key)

    def take(self, event: Event, known: Known, since: float) -> Outcome:
        if self.refuses(known.key):
            self.refuse()
            return Outcome.REJECTED
        self.counts["arrived"] += 1
        self.accept(event, since)
        for waiting in self.waiting_of(known.key):
            self.counts["superseded"] += 1
            self.supersede(waiting, event)
            return Outcome.SUPERSEDED
        rank = self.next_rank()
        self.start(Waiting(event, known, since, rank, turn=rank))
        self.note_wait(known.key, since)
        return Outcome.WAITING

    def take_late(self, event: Event, known: Known) -> None:
        self.counts["arrived"] += 1
        self.counts["late"] += 1

    def start(self, waiting: Waiting) -> None:
        """Let a key start to wait."""
        self.waiting.append(waiting)

    def supersede(self, waiting: Waiting, event: Event) -> None:
        """Let a newer update wait instead."""
        waiting.event = event

    def order(self) -> list[list[Waiting]] | None:
        return None

    def may_be_next(self, update: Update, now: float) -> list[Waiting]:
        candidates = super().may_be_next(update, now)
        longest = min((waiting.since for waiting in self.waiting), default=now)
        if now - longest >= self.longest_wait:
            return [waiting for waiting in candidates if waiting.since == longest]
        return candidates


class ModelFifo(ModelUpdateQueue):
    """The key whose newest update arrived first is served first."""

    def supersede(self, waiting: Waiting, event: Event) -> None:
        waiting.event = event
        waiting.is_loose = False

    def order(self) -> list[list[Waiting]]:
        def moment(waiting: Waiting) -> float:
            return waiting.event.arrival

        ordered = sorted(self.waiting, key=lambda waiting: (moment(waiting), waiting.event.number))
        groups = [list(group) for _, group in groupby(ordered, moment)]
        return _split_unless_loose(groups)


class ModelInPlace(ModelUpdateQueue):
    """The key that has waited longest is served first."""

    def order(self) -> list[list[Waiting]]:
        return in_place(self.waiting)


class ModelPaced(ModelUpdateQueue):
    """Those keys are served in place that were not served too lately."""

    def __init__(self, *, intervals: Mapping[Key, float], **limits: Unpack[Limits]) -> None:
        super().__init__(**limits)
        self.intervals = intervals
        self.dues: dict[Key, float] = {}

    def is_barred(self, key: Key) -> bool:
        return self.intervals[key] == math.inf

    def may_be_served(self, now: float) -> list[Waiting]:
        return [
            waiting
            for waiting in self.waiting
            if self.dues.get(waiting.known.key, now) <= now
            and not self.is_barred(waiting.known.key)
        ]

    def may_be_next(self, update: Update, now: float) -> list[Waiting]:
        ready = self.may_be_served(now)
        first = min((waiting.since for waiting in ready), default=now)
        return [each for each in ready if each.since == first and each.event.update == update]

    def served(self, waiting: Waiting) -> None:
        key = waiting.known.key
        self.dues[key] = self.stream.now + self.intervals[key]

    def forget(self, known: Known) -> None:
        super().forget(known)
        self.dues.pop(known.key, None)


class ModelLinecutting(ModelUpdateQueue):
    """Slow updaters cut the line; rates and costs are given."""

    def __init__(
        self, *, rates: Mapping[Key, float], cost: float, **limits: Unpack[Limits]
    ) -> None:
        super().__init__(**limits)
        self.rates = rates
        self.cost = cost

    def start(self, waiting: Waiting) -> None:
        rate = self.rates.get(waiting.known.key, 0.0)
        count = len(self.waiting) + 1
        is_slow = rate > 0 and self.cost > 0 and rate < 1 / (self.cost * count)
        self.waiting.insert(0 if is_slow else len(self.waiting), waiting)

    def insert(self, waiting: Waiting) -> None:
        position = 0
        while position < len(self.waiting) and self.waiting[position].since <= waiting.since:
            position += 1
        self.waiting.insert(position, waiting)

    def order(self) -> list[list[Waiting]]:
        return [[waiting] for waiting in self.waiting]


class ModelAppendQueue(ModelQueue):
    """Every update waits, first in, first out."""

    def __init__(self, *, shedding: RandomShedding | None = None, **limits: Unpack[Limits]) -> None:
        super().__init__(**limits)
        self.shedding = shedding

    def take(self, event: Event, known: Known, since: float) -> Outcome:
        is_full = self.capacity is not None and len(self.waiting) >= self.capacity
        if is_full and self.shedding is None:
            self.refuse()
            return Outcome.REJECTED
        self.counts["arrived"] += 1
        if event.is_late:
            self.begin(known.key, since)
        else:
            self.accept(event, since)
        if is_full and self.sheds(known.key):
            return Outcome.WAITING
        rank = self.next_rank()
        self.waiting.append(Waiting(event, known, since, rank, turn=rank))
        self.note_wait(known.key, since)
        return Outcome.WAITING

    def take_late(self, event: Event, known: Known) -> None:
        self.take(event, known, event.arrival)

    def sheds(self, key: Key) -> bool:
        """Drop one update at random; tell whether it is the one that comes."""
        assert self.shedding is not None
        self.counts["shed"] += 1
        victim = self.shedding.victim(len(self.waiting))
        if victim == len(self.waiting):
            return True
        self.leave(self.waiting[victim])
        return False

    def is_outdated(self, held: Held) -> bool:
        """Tell whether the key was deleted here since."""
        return held.known.key not in self.lives


class ModelAdaptiveQueue(ModelAppendQueue):
    """Every update waits while they are few and young; else the newest of each key does.

    It serves its keys in place while it conflates.
    """

    def __init__(
        self,
        *,
        max_waiting: int,
        max_age: float,
        resume_waiting: int,
        resume_age: float,
        **limits: Unpack[Limits],
    ) -> None:
        super().__init__(**limits)
        self.max_waiting = max_waiting
        self.max_age = max_age
        self.resume_waiting = resume_waiting
        self.resume_age = resume_age
        self.is_conflating = False
        self.pressure = 0

    def take(self, event: Event, known: Known, since: float) -> Outcome:
        mine = self.waiting_of(known.key) if self.is_conflating else []
        if self.is_conflating and event.is_late:
            self.counts["arrived"] += 1
            self.counts["late"] += 1
        elif mine:
            self.counts["arrived"] += 1
            self.accept(event, since)
            self.counts["superseded"] += 1
            self.pressure = min(self.pressure + 1, self.max_waiting)
            mine[0].event = event
            mine[0].rank = self.next_rank()
            mine[0].has_superseded = True
        else:
            super().take(event, known, since)
        self.adapt()
        return Outcome.WAITING

    def adapt(self) -> None:
        """Change the way of queueing if it is time to."""
        if not self.is_conflating:
            if len(self.waiting) > self.max_waiting:
                self.begin_conflating()
            return
        oldest = min((waiting.since for waiting in self.waiting), default=self.stream.now)
        is_idle = len(self.waiting) <= self.resume_waiting
        is_fresh = self.stream.now - oldest <= self.resume_age
        if self.pressure <= self.resume_waiting and is_idle and is_fresh:
            self.is_conflating = False
            self.counts["switches"] += 1
            self.waiting.sort(key=lambda waiting: waiting.rank)

    def due(self) -> list[Due]:
        dues = super().due()
        if self.waiting and not self.is_conflating:
            moment = self.waiting[0].since + self.max_age
            dues.append((moment, IMPATIENCE, self.begin_conflating))
        return dues

    def begin_conflating(self) -> None:
        """Let only the newest update of each key go on waiting, in the key's place."""
        self.is_conflating = True
        self.counts["switches"] += 1
        self.pressure = self.max_waiting
        for waiting in list(self.waiting):
            if waiting.event is waiting.known.newest:
                mine = self.waiting_of(waiting.known.key)
                waiting.since = min(each.since for each in mine)
                waiting.turn = min(each.rank for each in mine)
                waiting.has_superseded = False
        for waiting in list(self.waiting):
            if waiting.event is not waiting.known.newest:
                self.counts["superseded"] += 1
                self.leave(waiting)

    def order(self) -> list[list[Waiting]]:
        return in_place(self.waiting) if self.is_conflating else [[each] for each in self.waiting]

    def served(self, waiting: Waiting) -> None:
        if self.is_conflating and not waiting.has_superseded:
            self.pressure = max(self.pressure - 1, 0)
        self.adapt()

    def find_nothing(self) -> None:
        self.pressure = 0
        self.adapt()

    def expire(self, waiting: Waiting) -> None:
        super().expire(waiting)
        self.adapt()

    def note_return(self) -> None:
        self.adapt()

    def is_outdated(self, held: Held) -> bool:
        is_superseded = self.is_conflating and held.event is not held.known.newest
        return is_superseded or super().is_outdated(held)


def in_place(waiting: list[Waiting]) -> list[list[Waiting]]:
    """Return updates by the start of their waits."""
    ordered = sorted(waiting, key=lambda each: (each.since, each.turn))
    groups = [list(group) for _, group in groupby(ordered, lambda each: each.since)]
    return _split_unless_loose(groups)


def _split_unless_loose(groups: list[list[Waiting]]) -> list[list[Waiting]]:
    split: list[list[Waiting]] = []
    for group in groups:
        if any(waiting.is_loose for waiting in group):
            split.append(group)
        else:
            split += [[waiting] for waiting in group]
    return split
