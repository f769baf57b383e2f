"""Rows of which some are taken away again, and what changed since changes were last forgotten.

Each row gets a number, which ascends with the order of arrival and never changes. Rows that are
taken away are only noted at first. They are removed when the rows are requested, or when there are
too many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from ..rows.arrow_words import grown
from .row_blocks import RowBlocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..rows.arrow_words import Integers

_SLACK: Final = 1024
"""The number of rows that were taken away and may still be stored, in addition to as many as there
are live rows."""


@dataclass(frozen=True, slots=True)
class RowChanges:
    """The difference between the rows at two moments.

    A row that came and went in between is in neither table.
    """

    added: pa.Table
    """The rows that there are now, and were not before, in the order of arrival."""
    removed: pa.Table
    """The rows that there were before, and are not now."""
    added_numbers: Integers
    removed_numbers: Integers


class _Removed(NamedTuple):
    """Rows that were taken away, and their numbers."""

    rows: pa.Table
    numbers: Integers


class LiveRows:
    """Rows by number. With `follows_changes`, it can tell what changed.

    Removed rows are then kept until `forget_changes` is called.
    """

    __slots__ = (
        "_forgotten",
        "_forgotten_gone",
        "_gone",
        "_gone_count",
        "_removed",
        "_stored",
        "added",
        "follows_changes",
    )

    def __init__(self, schema: pa.Schema, *, follows_changes: bool = False) -> None:
        self.follows_changes = follows_changes
        self.added = 0
        """How many rows were ever stored, which is the number of the next one."""
        self._stored = RowBlocks(schema)
        self._gone = np.empty(0, dtype=np.int64)
        """The numbers of stored rows that were taken away, with spare room."""
        self._gone_count = 0
        self._forgotten = 0
        """The number of the first row that came after changes were last forgotten."""
        self._forgotten_gone = 0
        """How many of the stored rows that were taken away are no news."""
        self._removed: tuple[_Removed, ...] = ()
        """Rows that are news because they were taken away, and are stored no more."""

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self._stored.rows - self._gone_count

    def change(self, rows: pa.Table, chosen: Integers, gone: Integers) -> Callable[[], None]:
        """Prepare to add the chosen rows, and to take away those of the numbers `gone`.

        The returned function makes the change and cannot fail.
        """
        stored = self._stored.with_rows(rows, chosen, self.added)
        return self._changed(stored, self.added + chosen.size, gone)

    def removal(self, gone: Integers) -> Callable[[], None]:
        """Prepare to take away the rows of these numbers, as `change` does."""
        return self._changed(self._stored, self.added, gone)

    def _changed(self, stored: RowBlocks, added: int, gone: Integers) -> Callable[[], None]:
        count = self._gone_count + gone.size
        self._gone = grown(self._gone, count)
        self._gone[self._gone_count : count] = gone
        removed, forgotten_gone = self._removed, self._forgotten_gone
        if count > stored.rows // 2 + _SLACK:
            removed = (*removed, *self._removed_of(stored, count))
            stored = stored.without(np.sort(self._gone[:count]))
            count = forgotten_gone = 0

        def swap_in() -> None:
            self._stored, self._gone_count, self._forgotten_gone = stored, count, forgotten_gone
            self._removed, self.added = removed, added

        return swap_in

    def table(self) -> pa.Table:
        """Return all rows, in the order in which they arrived.

        Only blocks from which rows were taken away since the last call are copied.
        """
        if count := self._gone_count:
            stored = self._stored.without(np.sort(self._gone[:count]))
            removed = (*self._removed, *self._removed_of(self._stored, count))
            self._stored, self._removed, self._gone_count, self._forgotten_gone = (
                stored,
                removed,
                0,
                0,
            )
        return self._stored.table()

    def take(self, numbers: Integers) -> pa.Table:
        """Return the rows of these ascending numbers, all of which exist."""
        return self._stored.take(numbers)

    def numbers(self) -> Integers:
        """Return the numbers of the rows in `table()`, right after that was called. O(rows)."""
        assert not self._gone_count
        return self._stored.numbers_from(0)

    def changes(self) -> RowChanges:
        """Return what changed since changes were forgotten. O(changes + blocks)."""
        assert self.follows_changes
        gone = np.sort(self._gone[self._forgotten_gone : self._gone_count])
        new = self._stored.numbers_from(self._forgotten)
        new = np.setdiff1d(new, gone, assume_unique=True)
        added = self._stored.take(new)
        removed = (*self._removed, *self._removed_of(self._stored, self._gone_count))
        if not removed:
            return RowChanges(added, added.slice(0, 0), new, new[:0])
        tables, numbers = zip(*removed, strict=True)
        return RowChanges(added, pa.concat_tables(tables), new, np.concatenate(numbers))

    def forget_changes(self) -> None:
        """Mark the changes so far as known. This cannot fail."""
        self._forgotten, self._forgotten_gone, self._removed = self.added, self._gone_count, ()

    def _removed_of(self, stored: RowBlocks, count: int) -> tuple[_Removed, ...]:
        """Return the stored rows that are news because they were taken away, if any."""
        if not self.follows_changes:
            return ()
        gone = self._gone[self._forgotten_gone : count]
        gone = np.sort(gone[gone < self._forgotten])
        return (_Removed(stored.take(gone), gone),) if gone.size else ()

    def _check(self) -> None:
        """Assert every invariant."""
        self._stored._check()
        gone = self._gone[: self._gone_count]
        assert np.unique(gone).size == gone.size
        assert np.isin(gone, self._stored.numbers_from(0)).all()
        assert 0 <= self._forgotten_gone <= self._gone_count
        assert self._forgotten <= self.added
        assert self.follows_changes or not self._removed
