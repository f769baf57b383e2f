"""The running merge of a landmark: one cumulative merge, and chunks that are not due yet.

"Since data never expires, we do not have to keep individual intermediate results per basic
windows [...] Instead, we need to keep only one cumulative result" (section 3, "Landmark Window
Queries").
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ...database.failure import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..chunks.cutter import Piece
    from .running_merge import TableMerge


_ROWS: Final = 10_000
"""At least this many rows wait for the next reader before they are merged without one."""
_BEFORE_ALL: Final = -(1 << 63)
_METADATA: Final = b"upstream.cumulative_merge"
_MERGED: Final = b"merged"
_PARTS: Final = b"parts"


class CumulativeMerge:
    """Merges everything up to the position's end into one table."""

    __slots__ = ("_end", "_merge", "_merge_at", "_parts", "_rows")

    def __init__(self, merge: TableMerge) -> None:
        self._merge = merge
        self._parts: list[Piece] = []
        """What was merged, as if it belonged to the first chunk, and all parts that arrived
        since."""
        self._end = _BEFORE_ALL
        self._rows = 0
        """An upper bound of the rows held when `_merge_at` was set plus those staged since."""
        self._merge_at = _ROWS

    def stage(self, partials: Sequence[Piece]) -> None:
        """Take parts of partials, with their chunks. O(1) each."""
        for chunk, partial in partials:
            if partial.num_rows:
                self._parts.append((chunk, partial))
                self._rows += partial.num_rows

    def settle(self) -> None:
        """Merge when twice as many rows are held as the last merge left.

        So memory depends on the groups, and on the chunks that are not due yet, even if the merge
        is never read, at O(1) per row.
        """
        if self._rows >= self._merge_at:
            with suppress(DatabaseError):  # the reader of the merge gets the error
                self._merged()
                self._merge_waiting()
            self._rows = self.rows
            self._merge_at = max(_ROWS, 2 * self._rows)

    def advance(self, first: int, end: int) -> None:
        """Move to `end`; where the position begins does not matter."""
        self._end = end

    def merged(self, first: int, end: int) -> pa.Table:
        """Return the merge of all chunks up to the position's end; no other merge is kept."""
        self._end = max(end, self._end)
        return self._merged()

    def forget(self, before: int) -> None:
        """Do nothing, since no chunk is kept."""

    @property
    def rows(self) -> int:
        """How many rows are held. O(parts)."""
        return sum(part.num_rows for _, part in self._parts)

    def saved(self) -> pa.Table:
        """Return what has been merged, as `restore` takes it back.

        If the merge fails, such as by an overflow, these are the parts. So it fails again, or not
        any more when others have come.
        """
        try:
            kind, table = _MERGED, self._merged()
        except (DatabaseError, pa.ArrowException):
            parts = sorted(self._parts, key=itemgetter(0))
            kind, table = _PARTS, pa.concat_tables([part for _, part in parts])
        return table.replace_schema_metadata({_METADATA: kind})

    def restore(self, table: pa.Table) -> None:
        """Begin with what was saved; raise ValueError if it has another form."""
        kind = (table.schema.metadata or {}).get(_METADATA)
        if kind is None or not table.schema.equals(self._merge.schema):
            raise ValueError("the table was saved by another version, or for another query")
        table = table.replace_schema_metadata(self._merge.schema.metadata)
        if table.num_rows:
            self._parts = [(_BEFORE_ALL if kind == _MERGED else _BEFORE_ALL + 1, table)]
        self._rows = table.num_rows
        self._merge_at = max(_ROWS, 2 * self._rows)

    def describe(self) -> str:
        """Describe in a phrase how it merges."""
        return f"adding each to one growing partial, by {self._merge.describe()}"

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._merge.close()

    def _merged(self) -> pa.Table:
        """Merge what is due, and replace the parts by the merge in one step."""
        due = [piece for piece in self._parts if piece[0] < self._end]
        if len(due) == 1 and due[0][0] == _BEFORE_ALL:
            return due[0][1]
        merged = self._merge([part for _, part in sorted(due, key=itemgetter(0))])
        if due:
            waiting = [piece for piece in self._parts if piece[0] >= self._end]
            self._parts = [(_BEFORE_ALL, merged), *waiting]
        return merged

    def _merge_waiting(self) -> None:
        """Merge the parts of each chunk that is not due yet, if they are many."""
        for chunk, rows in rows_by_chunk(self._parts).items():
            if chunk >= self._end and rows >= _ROWS:
                self._parts = with_chunk_merged(self._parts, chunk, self._merge)

    def _check(self) -> None:
        """Assert every invariant."""
        assert self.rows <= self._rows
        assert [chunk for chunk, _ in self._parts[1:]].count(_BEFORE_ALL) == 0


def rows_by_chunk(pieces: Sequence[Piece]) -> Counter[int]:
    """Return how many rows the parts of each chunk have."""
    rows: Counter[int] = Counter()
    for chunk, part in pieces:
        rows[chunk] += part.num_rows
    return rows


def with_chunk_merged(pieces: Sequence[Piece], chunk: int, merge: TableMerge) -> list[Piece]:
    """Return parts of partials, of which those of one chunk are merged to one."""
    others = [piece for piece in pieces if piece[0] != chunk]
    return [*others, (chunk, merge([part for each, part in pieces if each == chunk]))]


def is_of_cumulative_merge(table: pa.Table) -> bool:
    """Tell whether a table was saved by a cumulative merge."""
    return _METADATA in (table.schema.metadata or {})
