"""A running operator: it takes items from its arcs and puts results into the next arc.

Operators run one after the other, each on everything that waits for it, and not tuple by tuple. So
the queues between them can order and conflate what waits, and an operator with several inputs sees
what waits in each of them.
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
    """One operator of one query, with its state."""

    __slots__ = ("arcs", "output", "tally")

    output: AnyArc
    """The arc after it; it is set when the operator that it feeds is made."""

    def __init__(self, arcs: Sequence[ArcQueue[Item]]) -> None:
        self.arcs = arcs
        self.tally = Tally()

    def run(self, limit: int) -> None:
        """Process and pass on all that waits; from an arc of a stream at most `limit` items."""
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
        """Return what becomes of items, each given with the number of its arc.

        It counts every item that it does not return. It must not raise, whatever users' functions
        do.
        """


AnyStage = Stage[Update] | Stage[WindowTuple]
"""A running operator with any kind of items."""


class RowStage(Stage[Update]):
    """Handles each update alone: `function` returns another update, or None."""

    __slots__ = ("_function",)

    def __init__(
        self, function: Callable[[Update], Update | None], arcs: Sequence[ArcQueue[Update]]
    ) -> None:
        super().__init__(arcs)
        self._function = function

    def process(self, batch: Sequence[tuple[int, Update]]) -> list[Update]:
        """Return what the function returns; None counts as filtered."""
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
