"""Filter: only updates that satisfy a predicate pass (report, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..clock import Clock
from ..updates import TOMBSTONE, Update
from .plan_tree import Arc, Feed, Operator, arc_from, check_function, name_of_function
from .stage import Work, tuple_stage
from .tally import FAILED

if TYPE_CHECKING:
    from .stage import AnyStage

Predicate = Callable[[Update], object]
"""Tells of an update whether it passes; whatever it returns is taken as true or false."""


@dataclass(frozen=True, slots=True)
class Filter(Operator):
    """Let the updates pass for which `predicate` is true, and deletions.

    "Its behavior on update streams is the same as it is on append streams": what was delivered of
    a key stays its newest value when a newer update does not pass.

    >>> from upstream import Stream
    >>> from upstream.plans import Source
    >>> Filter(Source(Stream()), lambda update: update.key != "IBM").label
    'Filter <lambda>'
    """

    kind: ClassVar[str] = "filter"

    feed: Feed
    predicate: Predicate
    name: str = ""

    def __post_init__(self) -> None:
        arc_from(self.feed)
        check_function("predicate", self.predicate, "a function of an update")

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """The arc that feeds it."""
        return (arc_from(self.feed),)

    @property
    def label(self) -> str:
        """What it does."""
        return f"Filter {name_of_function(self.predicate)}"

    def start(self, clock: Clock, policies: tuple[str, ...]) -> AnyStage:
        """Return it at work."""
        return tuple_stage(_FilterWork(self.predicate), self.arcs, policies, clock)


class _FilterWork(Work[Update]):
    __slots__ = ("_predicate",)

    def __init__(self, predicate: Predicate) -> None:
        super().__init__()
        self._predicate = predicate

    def process(self, batch: Sequence[tuple[int, Update]]) -> list[Update]:
        return [update for _, update in batch if self._passes(update)]

    def _passes(self, update: Update) -> bool:
        if update.value is TOMBSTONE:
            return True
        passes = self.tally.attempt(self._is_true, update)
        if passes is FAILED:
            self.tally.failed += 1
            return False
        self.tally.filtered += not passes
        return passes

    def _is_true(self, update: Update) -> bool:
        """Call the predicate; what it returns may have no truth, such as an array."""
        return bool(self._predicate(update))
