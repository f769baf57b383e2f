"""Map: each update gets another value, and keeps its key and its time (report, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..clock import Clock
from ..errors import KeyChangedError
from ..updates import TOMBSTONE, Update
from .plan_tree import Arc, Feed, Operator, arc_from, check_function, name_of_function
from .stage import Work, tuple_stage
from .tally import FAILED

if TYPE_CHECKING:
    from .stage import AnyStage

Mapping = Callable[[Update], object]
"""Returns the new value of an update, or the update with a new value."""


@dataclass(frozen=True, slots=True)
class Map(Operator):
    """Give each update the value that `function` returns; deletions stay what they are.

    "The function is not allowed to modify the update key fields": one that returns an update of
    another key, or another time, fails with KeyChangedError, and the row is dropped.

    >>> from upstream import Stream
    >>> from upstream.plans import Source
    >>> Map(Source(Stream()), lambda update: str(update.value)).label
    'Map <lambda>'
    """

    kind: ClassVar[str] = "map"

    feed: Feed
    function: Mapping
    name: str = ""

    def __post_init__(self) -> None:
        arc_from(self.feed)
        check_function("function", self.function, "a function of an update")

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """The arc that feeds it."""
        return (arc_from(self.feed),)

    @property
    def label(self) -> str:
        """What it does."""
        return f"Map {name_of_function(self.function)}"

    def start(self, clock: Clock, policies: tuple[str, ...]) -> AnyStage:
        """Return it at work."""
        return tuple_stage(_MapWork(self.function), self.arcs, policies, clock)


class _MapWork(Work[Update]):
    __slots__ = ("_function",)

    def __init__(self, function: Mapping) -> None:
        super().__init__()
        self._function = function

    def process(self, batch: Sequence[tuple[int, Update]]) -> list[Update]:
        made = []
        for _, update in batch:
            mapped = self.tally.attempt(self._map, update)
            if mapped is FAILED:
                self.tally.failed += 1
            else:
                made.append(mapped)
        return made

    def _map(self, update: Update) -> Update:
        if update.value is TOMBSTONE:
            return update
        value = self._function(update)
        if not isinstance(value, Update):
            return Update(update.key, value, update.time)
        if (value.key, value.time) != (update.key, update.time):
            raise KeyChangedError(update, value)
        return value
