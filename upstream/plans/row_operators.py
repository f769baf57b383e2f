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
"""Tells whether an update passes; the return value is used as true or false."""
Mapping = Callable[[Update], object]
"""Returns the new value of an update, or the update with a new value."""
Grouping = Callable[[Update], object]
"""Returns the fields by which updates of one key are grouped: one value or a tuple."""


@dataclass(frozen=True, slots=True)
class Filter(Operator):
    """Let the updates for which `predicate` is true pass, and all deletions.

    "Its behavior on update streams is the same as it is on append streams": if a newer update does
    not pass, the last delivered value of the key stays its newest.

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
        """The description for `explain`."""
        return f"Filter {name_of_function(self.predicate)}"

    def start(self, clock: Clock, default: str) -> AnyStage:
        """Return the running operator."""
        return RowStage(self._filtered, self._tuple_arcs(clock, default))

    def _filtered(self, update: Update) -> Update | None:
        """Call the predicate; `if` raises if its result has no truth value, such as an array."""
        return update if update.value is TOMBSTONE or self.predicate(update) else None


@dataclass(frozen=True, slots=True)
class Map(Operator):
    """Give each update the value that `function` returns; deletions pass unchanged.

    "The function is not allowed to modify the update key fields": if it returns an update with
    another key or another time, the row fails with KeyChangedError and is dropped.

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
        """The description for `explain`."""
        return f"Map {name_of_function(self.function)}"

    def start(self, clock: Clock, default: str) -> AnyStage:
        """Return the running operator."""
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
    """Make the pair of key and group the key of each update. Deletions end here.

    An Aggregate with groups puts this operator before its windows: "the group-by fields must be a
    superset of the update key fields". The user cannot leave the key out of a group. The report's
    own prototype groups by keys only.
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
        """The description for `explain`."""
        return f"Group by key and {name_of_function(self.by)}"

    def start(self, clock: Clock, default: str) -> AnyStage:
        """Return the running operator."""
        return RowStage(self._grouped, self._tuple_arcs(clock, default))

    def _grouped(self, update: Update) -> Update | None:
        if update.value is TOMBSTONE:
            return None  # the groups to delete are not known
        group = self.by(update)
        check_key(group)
        return Update((update.key, group), update.value, update.time)
