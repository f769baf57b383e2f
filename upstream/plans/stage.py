"""An operator at work: it takes from its arcs, and puts what it makes into the next one.

Operators work one after the other, each on all that waits for it, and not tuple by tuple: so the
queues between them have something to keep in order and to conflate, and an operator that has
several inputs sees what waits in each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic

from ..clock import Clock
from ..updates import Update
from ..windows import WindowTuple
from .arc_queue import ArcQueue, Item
from .plan_tree import Arc
from .tally import Tally
from .tuple_arc import TupleArc


class Work(ABC, Generic[Item]):
    """What an operator does to what it takes, and what it knows of the past."""

    __slots__ = ("tally",)

    def __init__(self, tally: Tally | None = None) -> None:
        self.tally = Tally() if tally is None else tally

    @abstractmethod
    def process(self, batch: Sequence[tuple[int, Item]]) -> list[Update]:
        """Return what becomes of items, each with the number of the arc from which it came.

        Counts all that it does not return. Must not raise, whatever users' functions do.
        """


class Stage(Generic[Item]):
    """One operator of one query."""

    __slots__ = ("_work", "arcs", "output", "tally")

    output: ArcQueue[Update] | ArcQueue[WindowTuple]
    """The arc after it, which is made with what it feeds."""

    def __init__(self, work: Work[Item], arcs: Sequence[ArcQueue[Item]]) -> None:
        self._work = work
        self.tally = work.tally
        self.arcs = tuple(arcs)

    def run(self, limit: int, sources: frozenset[int]) -> None:
        """Do the work on all that waits, or on up to `limit` items of each arc in `sources`.

        These are the arcs that streams feed, by identity.
        """
        batch = [
            (number, item)
            for number, arc in enumerate(self.arcs)
            for item in arc.take(limit if id(arc) in sources else None)
        ]
        if not batch:
            return
        self.tally.taken += len(batch)
        for update in self._work.process(batch):
            self.output.put(update)
            self.tally.delivered += 1

    def settle(self) -> None:
        """Deliver what was taken, since its results are where they belong."""
        for arc in self.arcs:
            arc.settle()


AnyStage = Stage[Update] | Stage[WindowTuple]
"""An operator at work, whatever it takes."""


def tuple_stage(
    work: Work[Update], arcs: Sequence[Arc], policies: Sequence[str], clock: Clock
) -> Stage[Update]:
    """Return an operator at work on updates, with an arc of each of the policies."""
    pairs = zip(arcs, policies, strict=True)
    return Stage(work, [TupleArc(arc, policy, clock) for arc, policy in pairs])
