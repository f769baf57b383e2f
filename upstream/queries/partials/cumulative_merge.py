"""The running merge of a landmark: one cumulative merge, and chunks that are not due yet.

"Since data never expires, we do not have to keep individual intermediate results per basic
windows [...] Instead, we need to keep only one cumulative result" (section 3, "Landmark Window
Queries").
"""

from __future__ import annotations

from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from ...database.failure import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ..chunks.cutter import Piece
    from .running_merge import TableMerge


_ROWS: Final = 10_000
"""So many rows wait for the next reader at least before they are merged without one."""
_BEFORE_ALL: Final = -(1 << 63)


class CumulativeMerge:
    """Merge everything up to the position's end into one table."""

    __slots__ = ("_end", "_merge", "_merge_at", "_parts", "_rows")

    def __init__(self, merge: TableMerge) -> None:
        self._merge = merge
        self._parts: list[Piece] = []
        """What was merged, as if it were of the first chunk, and all parts that came since."""
        self._end = _BEFORE_ALL
        self._rows = 0
        """How many rows were held when `_merge_at` was set, and were staged since, or more."""
        self._merge_at = _ROWS

    def stage(self, partials: Sequence[Piece]) -> None:
        """Take parts of partials, with their chunks. O(1) each."""
        for chunk, partial in partials:
            if partial.num_rows:
                self._parts.append((chunk, partial))
                self._rows += partial.num_rows

    def settle(self) -> None:
        """Merge when twice as many rows are held as the last merge left.

        So memory goes by the groups even if the merge is never read, at O(1) a row.
        """
        if self._rows >= self._merge_at:
            with suppress(DatabaseError):  # the reader of the merge is told
                self._merged()
            self._rows = self.rows
            self._merge_at = max(_ROWS, 2 * self._rows)

    def advance(self, first: int, end: int) -> None:
        """Move to `end`; where the position begins does not matter."""
        self._end = end

    def merged(self, first: int, end: int) -> pa.Table:
        """Return the merge of all chunks up to the position's end: no other is kept."""
        self._end = max(end, self._end)
        return self._merged()

    def forget(self, before: int) -> None:
        """Do nothing: no chunk is kept."""

    @property
    def rows(self) -> int:
        """How many rows are held. O(parts)."""
        return sum(part.num_rows for _, part in self._parts)

    def describe(self) -> str:
        """Say in a phrase how it merges."""
        return f"adding each to one partial that grows, by {self._merge.describe()}"

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._merge.close()

    def _merged(self) -> pa.Table:
        """Merge what is due, and let the merge take its place, all at once."""
        due = [piece for piece in self._parts if piece[0] < self._end]
        if len(due) == 1 and due[0][0] == _BEFORE_ALL:
            return due[0][1]
        merged = self._merge([part for _, part in sorted(due, key=itemgetter(0))])
        if due:
            waiting = [piece for piece in self._parts if piece[0] >= self._end]
            self._parts = [(_BEFORE_ALL, merged), *waiting]
        return merged

    def _check(self) -> None:
        """Assert what always holds."""
        assert self.rows <= self._rows
        assert [chunk for chunk, _ in self._parts[1:]].count(_BEFORE_ALL) == 0
