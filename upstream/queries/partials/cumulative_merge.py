"""The running merge of a landmark: one cumulative merge, and steps that are not due yet.

"Since data never expires, we do not have to keep individual intermediate results per basic
windows [...] Instead, we need to keep only one cumulative result" (section 3, "Landmark Window
Queries").
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ...database.failure import DatabaseError

if TYPE_CHECKING:
    import pyarrow as pa

    from .table_merge import TableMerge


_ROWS: Final = 10_000
"""So many rows wait for the next reader at least before they are merged without one."""


class CumulativeMerge:
    """Merge everything up to the window's end into one table."""

    __slots__ = ("_end", "_merge", "_merge_at", "_parts", "_rows", "_waiting")

    def __init__(self, merge: TableMerge) -> None:
        self._merge = merge
        self._parts: list[pa.Table] = []
        self._rows = 0
        self._merge_at = _ROWS
        self._waiting: dict[int, list[pa.Table]] = {}
        self._end: int | None = None

    def stage(self, step: int, partial: pa.Table) -> None:
        """Take a part of a step's partial."""
        if partial.num_rows == 0:
            return
        if self._end is not None and step < self._end:
            self._add(partial)
        else:
            self._waiting.setdefault(step, []).append(partial)

    def advance(self, first: int, end: int) -> None:
        """Merge what has waited for `end`; the window's beginning does not matter."""
        self._end = end
        due = sorted(step for step in self._waiting if step < end)
        for step in due:
            for partial in self._waiting.pop(step):
                self._add(partial)

    def merged(self) -> pa.Table:
        """Return the merge of all steps up to the window's end."""
        if len(self._parts) != 1:
            merged = self._merge(self._parts)
            self._parts = [merged]
            self._rows = merged.num_rows
            self._merge_at = max(_ROWS, 2 * self._rows)
        return self._parts[0]

    def merged_of(self, first: int, end: int) -> pa.Table:
        """Return the merge of all steps up to the window's end: no other is kept."""
        return self.merged()

    def forget(self, before: int) -> None:
        """Do nothing: no step is kept."""

    def memory_rows(self) -> int:
        """Return how many rows are held."""
        waiting = (part for parts in self._waiting.values() for part in parts)
        return sum(part.num_rows for part in (*self._parts, *waiting))

    def describe(self) -> str:
        """Say in a phrase how it merges."""
        return f"adding each to one partial that grows, by {self._merge.describe()}"

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._merge.close()

    def _add(self, partial: pa.Table) -> None:
        """Add to the parts; they are merged when they are twice what the last merge left.

        So memory goes by the groups even if nobody asks for the merge, at O(1) a row.
        """
        self._parts.append(partial)
        self._rows += partial.num_rows
        if self._rows >= self._merge_at:
            self._merge_at = 2 * self._rows
            with suppress(DatabaseError):  # whoever asks for the merge is told
                self.merged()

    def _check(self) -> None:
        """Assert what always holds."""
        assert self._rows == sum(part.num_rows for part in self._parts) < self._merge_at
        assert all(part.num_rows for parts in self._waiting.values() for part in parts)
        assert self._end is None or all(step >= self._end for step in self._waiting)
