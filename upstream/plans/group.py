"""Grouping for an Aggregate: the update key, and further fields under which windows are made.

"The group-by fields must be a superset of the update key fields" (report, section 3.2). So a group
is a key and something more of the update; that the key is in it is not left to the user. The
report's own prototype has no groups but keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..clock import Clock
from ..queues.columns import check_key
from ..updates import TOMBSTONE, Update
from .plan_tree import Arc, Operator, name_of_function
from .stage import Work, tuple_stage
from .tally import FAILED

if TYPE_CHECKING:
    from .stage import AnyStage

Grouping = Callable[[Update], object]
"""Returns the fields by which updates of one key are grouped, one value or a tuple of them."""


@dataclass(frozen=True, slots=True)
class Group(Operator):
    """Let the pair of its key and its group be the key of each update. Deletions end here."""

    kind: ClassVar[str] = "group"

    arc: Arc
    by: Grouping
    name: str = ""

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """The arc that feeds it."""
        return (self.arc,)

    @property
    def label(self) -> str:
        """What it does."""
        return f"Group by key and {name_of_function(self.by)}"

    def start(self, clock: Clock, policies: tuple[str, ...]) -> AnyStage:
        """Return it at work."""
        return tuple_stage(_GroupWork(self.by), self.arcs, policies, clock)


class _GroupWork(Work[Update]):
    __slots__ = ("_by",)

    def __init__(self, by: Grouping) -> None:
        super().__init__()
        self._by = by

    def process(self, batch: Sequence[tuple[int, Update]]) -> list[Update]:
        made = []
        for _, update in batch:
            if update.value is TOMBSTONE:
                self.tally.filtered += 1  # of which groups it is the deletion, nobody knows
                continue
            grouped = self.tally.attempt(self._group, update)
            if grouped is FAILED:
                self.tally.failed += 1
            else:
                made.append(grouped)
        return made

    def _group(self, update: Update) -> Update:
        group = self._by(update)
        check_key(group)
        return Update((update.key, group), update.value, update.time)
