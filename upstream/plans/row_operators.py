"""Operators that take updates one by one: Filter and Map of the report (section 3.2), and Group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ..clock import Clock
from ..columns import check_key
from ..errors import KeyChangedError
from ..updates import TOMBSTONE, Update
from .plan_tree import Arc, Feed, Operator, arc_from, check_function, name_of_function
from .stage import AnyStage, RowStage

Predicate = Callable[[Update], object]
"""Tells of an update whether it passes; whatever it returns is taken as true or false."""
Mapping = Callable[[Update], object]
"""Returns the new value of an update, or the update with a new value."""
Grouping = Callable[[Update], object]
"""Returns the fields by which updates of one key are grouped, one value or a tuple of them."""


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

    def start(self, clock: Clock, default: str) -> AnyStage:
        """Return it at work."""
        return RowStage(self._filtered, self._tuple_arcs(clock, default))

    def _filtered(self, update: Update) -> Update | None:
        """Call the predicate; `if` raises where what it returns has no truth, such as an array."""
        return update if update.value is TOMBSTONE or self.predicate(update) else None


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

    def start(self, clock: Clock, default: str) -> AnyStage:
        """Return it at work."""
        return RowStage(self._mapped, self._tuple_arcs(clock, default))

    def _mapped(self, update: Update) -> Update:
        if update.value is TOMBSTONE:
            return update
        value = self.function(update)
        if not isinstance(value, Update):
            return Update(update.key, value, update.time)
        if (value.key, value.time) != (update.key, update.time):
            raise KeyChangedError(update, value)
        return value


@dataclass(frozen=True, slots=True)
class Group(Operator):
    """Let the pair of its key and its group be the key of each update. Deletions end here.

    An Aggregate with groups has it before its windows: "the group-by fields must be a superset of
    the update key fields". That the key is in a group is not left to the user. The report's own
    prototype has no groups but keys.
    """

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

    def start(self, clock: Clock, default: str) -> AnyStage:
        """Return it at work."""
        return RowStage(self._grouped, self._tuple_arcs(clock, default))

    def _grouped(self, update: Update) -> Update | None:
        if update.value is TOMBSTONE:
            return None  # it is not known of which groups it is the deletion
        group = self.by(update)
        check_key(group)
        return Update((update.key, group), update.value, update.time)
