"""Pace against a plain model: random arrivals, services and times, keys of several intervals."""

from __future__ import annotations

import math

from hypothesis.stateful import invariant

from upstream.schedulers import (
    InPlaceScheduler,
    PacedScheduler,
    Scheduler,
    StalenessIndexScheduler,
)

from .contract import SHORT_RUNS, InPlaceModel, Model, SchedulerMachine
from .contract import Waiting as WaitingKey
from .feed import Line
from .test_paced import INTERVALS, pace_of, unlimited


class PacedModel(Model):
    """A list of waiting keys. Some are held back until the next key is read after they are due."""

    is_in_place = True

    def __init__(self, line: Line) -> None:
        super().__init__(line)
        self.dues: dict[str, float] = {}
        self.held: set[str] = set()

    def is_barred(self, one: WaitingKey) -> bool:
        return INTERVALS[one.key] == math.inf

    def due_of(self, key: str) -> float:
        return math.inf if INTERVALS[key] == math.inf else self.dues.get(key, -math.inf)

    def start(self, one: WaitingKey) -> None:
        super().start(one)
        if self.due_of(one.key) > one.since:
            self.held.add(one.key)

    restore = start

    def remove(self, key: str) -> None:
        super().remove(key)
        self.held.discard(key)

    def forget(self, key: str) -> None:
        super().forget(key)
        self.dues.pop(key, None)

    def may_be_served(self, now: float) -> list[WaitingKey]:
        self.held = {key for key in self.held if self.due_of(key) > now}
        return [one for one in self.waiting if one.key not in self.held]

    def note_service(self, key: str, now: float) -> None:
        super().note_service(key, now)
        if INTERVALS[key] > 0:
            self.dues[key] = now + INTERVALS[key]

    def check_next(self, key: str, now: float) -> None:
        ready = {one.key: one for one in self.may_be_served(now)}
        assert key in ready, f"{key} was served though it is held back"
        if self.is_in_place:
            assert ready[key].since == min(one.since for one in ready.values())


class PacedIndexModel(PacedModel):
    is_in_place = False


class PacedMachine(SchedulerMachine):
    """Limits of several lengths, none, and one that bars its key."""

    model = PacedModel
    has_order = False

    def make(self) -> Scheduler:
        return PacedScheduler(InPlaceScheduler(), INTERVALS.__getitem__)

    @invariant()
    def what_is_held_is_known(self) -> None:
        for model in self.models:
            assert isinstance(model, PacedModel)
            scheduler = pace_of(model.line)
            dues = [model.due_of(key) for key in model.held if model.due_of(key) < math.inf]
            assert scheduler.held == len(dues)
            assert scheduler.next_due() == min(dues, default=None)
            assert scheduler.ready == len(model.waiting) - len(model.held)


class PacedIndexMachine(PacedMachine):
    """The same, served by the staleness index, with estimated rates."""

    model = PacedIndexModel

    def make(self) -> Scheduler:
        return PacedScheduler(StalenessIndexScheduler(), INTERVALS.__getitem__)


class UnlimitedMachine(SchedulerMachine):
    """Without limits it serves as the inner scheduler does, and in its order."""

    model = InPlaceModel

    def make(self) -> Scheduler:
        return PacedScheduler(InPlaceScheduler(), unlimited)


TestPaced = PacedMachine.TestCase
TestPacedIndex = PacedIndexMachine.TestCase
TestUnlimitedOrder = UnlimitedMachine.TestCase
TestPaced.settings = SHORT_RUNS
TestPacedIndex.settings = SHORT_RUNS
TestUnlimitedOrder.settings = SHORT_RUNS
