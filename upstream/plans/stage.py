"""An operator at work: it takes from its arcs, and puts what it makes into the next one.

Operators work one after the other, each on all that waits for it, and not tuple by tuple: so the
queues between them have something to keep in order and to conflate, and an operator that has
several inputs sees what waits in each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic

from ..clock import Clock
from ..updates import Update
from ..windows import WindowTuple
from .arc_queue import AnyArc, ArcQueue, Item, TupleArc
from .plan_statistics import FAILED, Tally
from .plan_tree import Arc


class Work(ABC, Generic[Item]):
    """What an operator does to what it takes, and what it knows of the past."""

    __slots__ = ("tally",)

    def __init__(self) -> None:
        self.tally = Tally()

    @abstractmethod
    def process(self, batch: Sequence[tuple[int, Item]]) -> list[Update]:
        """Return what becomes of items, each with the number of the arc from which it came.

        Counts all that it does not return. Must not raise, whatever users' functions do.
        """


class RowWork(Work[Update]):
    """What is done to each update by itself: `function` makes another of it, or None of it."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[Update], Update | None]) -> None:
        super().__init__()
        self._function = function

    def process(self, batch: Sequence[tuple[int, Update]]) -> list[Update]:
        """Return what the function makes; None counts as filtered."""
        made = []
        for _, update in batch:
            result = self.tally.attempt(self._function, update)
            if result is FAILED:
                self.tally.failed += 1
            elif result is None:
                self.tally.filtered += 1
            else:
                made.append(result)
        return made


class Stage(Generic[Item]):
    """One operator of one query."""

    __slots__ = ("_work", "arcs", "output", "tally")

    output: AnyArc
    """The arc after it, which is made with what it feeds."""

    def __init__(self, work: Work[Item], arcs: Sequence[ArcQueue[Item]]) -> None:
        self._work = work
        self.tally = work.tally
        self.arcs = tuple(arcs)

    def run(self, limit: int) -> None:
        """Do the work on all that waits, or on up to `limit` items of an arc from a stream."""
        batch = [
            (number, item)
            for number, arc in enumerate(self.arcs)
            for item in arc.take(None if arc.stream is None else limit)
        ]
        if not batch:
            return
        self.tally.taken += len(batch)
        for update in self._work.process(batch):
            self.output.put(update)
            self.tally.delivered += 1


AnyStage = Stage[Update] | Stage[WindowTuple]
"""An operator at work, whatever it takes."""


def tuple_stage(
    work: Work[Update], arcs: Sequence[Arc], policies: Sequence[str], clock: Clock
) -> Stage[Update]:
    """Return an operator at work on updates, with an arc of each of the policies."""
    pairs = zip(arcs, policies, strict=True)
    return Stage(work, [TupleArc(policy, clock, arc.capacity) for arc, policy in pairs])
