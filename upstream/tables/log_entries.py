"""What comes beside the rows of a log, such as deletions of keys, in the order of arrival.

An entry says how many rows came before it. So the numbers of rows, and readers that read rows only,
know nothing of entries. A reader that follows the entries of one sort has a position among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar


class Entry(Protocol):
    """What the log has to know of an entry."""

    @property
    def arrival(self) -> float:
        """When it came."""

    @property
    def at(self) -> int:
        """How many rows arrived before it; a batch ends there."""

    @property
    def number(self) -> int:
        """How many entries of its sort came before it."""

    @property
    def size(self) -> int:
        """How much it counts among the stored rows."""


SomeEntry = TypeVar("SomeEntry", bound=Entry)


class LogEntries(Generic[SomeEntry]):
    """The entries of one sort that some reader has not passed; the log's lock is held for them."""

    __slots__ = ("came", "size", "stored")

    def __init__(self) -> None:
        self.stored: list[SomeEntry] = []
        self.came = 0
        """How many have ever come."""
        self.size = 0
        """How much the stored entries count among the stored rows."""

    @property
    def first(self) -> int:
        """The number of the first stored entry, or of the next one if none is stored."""
        return self.stored[0].number if self.stored else self.came

    def add(self, make: Callable[[int], SomeEntry], positions: Iterable[int | None]) -> None:
        """Add the entry that is made with its number, if a reader has a position among them."""
        if any(position is not None for position in positions):
            entry = make(self.came)
            self.stored.append(entry)
            self.size += entry.size
        self.came += 1

    def between(self, position: int | None, end: int) -> list[SomeEntry]:
        """Return the entries from a position on, and before `end`; none without a position."""
        if position is None or not self.stored:
            return []
        first = self.first
        return self.stored[position - first : max(0, end - first)]

    def number_after(self, row: int) -> int | None:
        """Return the number of the first entry that came when this row had not arrived yet.

        None if it may have been removed.
        """
        stored = self.stored
        if self.first and not (stored and stored[0].at < row):
            return None
        return self.first + sum(each.at < row for each in stored)

    def trim(self, positions: Iterable[int | None]) -> None:
        """Remove the entries that all positions have passed."""
        if not self.stored:
            return
        needed = min((each for each in positions if each is not None), default=self.came)
        passed = self.stored[: needed - self.first]
        self.size -= sum(each.size for each in passed)
        del self.stored[: len(passed)]
