"""An operator at work: it takes from its arcs, and puts what it makes into the next one.

Operators work one after the other, each on all that waits for it, and not tuple by tuple: so the
queues between them have something to keep in order and to conflate, and an operator that has
several inputs sees what waits in each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic

from ..updates import Update
from ..windows import WindowTuple
from .arc_queue import AnyArc, ArcQueue, Item
from .plan_statistics import FAILED, Tally


class Stage(ABC, Generic[Item]):
    """One operator of one query, with what it knows of the past."""

    __slots__ = ("arcs", "output", "tally")

    output: AnyArc
    """The arc after it, which is made with what it feeds."""

    def __init__(self, arcs: Sequence[ArcQueue[Item]]) -> None:
        self.arcs = arcs
        self.tally = Tally()

    def run(self, limit: int) -> None:
        """Put on what becomes of all that waits, of an arc from a stream up to `limit` items."""
        batch = [
            (number, item)
            for number, arc in enumerate(self.arcs)
            for item in arc.take(None if arc.stream is None else limit)
        ]
        if not batch:
            return
        self.tally.taken += len(batch)
        for update in self.process(batch):
            self.output.put(update)
            self.tally.delivered += 1

    @abstractmethod
    def process(self, batch: Sequence[tuple[int, Item]]) -> list[Update]:
        """Return what becomes of items, each with the number of the arc from which it came.

        Counts all that it does not return. Must not raise, whatever users' functions do.
        """


AnyStage = Stage[Update] | Stage[WindowTuple]
"""An operator at work, whatever it takes."""


class RowStage(Stage[Update]):
    """Takes each update by itself: `function` makes another of it, or None of it."""

    __slots__ = ("_function",)

    def __init__(
        self, function: Callable[[Update], Update | None], arcs: Sequence[ArcQueue[Update]]
    ) -> None:
        super().__init__(arcs)
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
