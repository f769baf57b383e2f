"""The newest rows of a stream, whose changes some leaves of a view follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from ...held_interrupt import HeldInterrupt
from ..sql.names import STEP

if TYPE_CHECKING:
    from ...rows.arrow_words import Integers
    from ...tables.log import LogReader
    from ...tables.newest_reader import NewestReader
    from .increments import Take


class Follower(Protocol):
    """What follows rows that come and go."""

    def follow(self, added: pa.Table, removed: pa.Table) -> Take:
        """Compute what these rows change; the returned function applies it, and cannot fail.

        Rows have their numbers in the column `__step`, which ascend with the order of arrival.
        """


class FollowedRows:
    """The newest rows of a stream, and the leaves that follow their changes.

    It is refreshed like a side table.
    """

    __slots__ = ("_due_at", "_followers", "_newest", "version")

    def __init__(self, newest: NewestReader) -> None:
        self._newest = newest
        self._followers: list[Follower] = []
        self._due_at: float | None = None
        self.version = 0
        """How often the rows have changed."""

    @property
    def reader(self) -> LogReader:
        """What reads the stream."""
        return self._newest.reader

    def followed_by(self, leaf: Follower) -> None:
        """Let a leaf follow the rows from now on."""
        self._followers.append(leaf)

    def table(self) -> pa.Table:
        """Return the present rows."""
        return self._newest.newest.table()

    def numbered(self) -> pa.Table:
        """Return the present rows with their numbers."""
        rows = self._newest.newest.table()
        return _numbered(rows, self._newest.newest.numbers())

    def refresh(self, now: float) -> None:
        """Read what waits, let keys expire, and let the leaves follow. O(changes)."""
        newest = self._newest
        newest.read(now)
        self._due_at = newest.newest.first_due()
        if newest.since is None and self.version:
            return
        changes = newest.newest.changes()
        added = _numbered(changes.added, changes.added_numbers)
        removed = _numbered(changes.removed, changes.removed_numbers)
        takes = [leaf.follow(added, removed) for leaf in self._followers]
        with HeldInterrupt():
            for take in takes:
                take()
            newest.newest.forget_changes()
            newest.known()
            self.version += 1

    def due_at(self) -> float | None:
        """Return when the first key expires unless a row of it arrives, or None."""
        return self._due_at

    def close(self) -> None:
        """Stop reading."""
        self.reader.close()


def _numbered(rows: pa.Table, numbers: Integers) -> pa.Table:
    return rows.append_column(STEP, pa.array(numbers))
