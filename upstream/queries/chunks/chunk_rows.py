"""The rows of an input by chunk, and the rows of a window as one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa

from ...rows.arrow_data import empty_table
from .ring import Ring

if TYPE_CHECKING:
    from .cutter import Piece

_PIECES: Final = 512
"""If a chunk has more pieces than this, they are combined: a table takes more memory than a row."""
_WINDOW_PIECES: Final = 8
"""If a window has more pieces than this, they are copied into one."""
_NOTHING: Final = 1 << 63


class ChunkRows:
    """Pieces of rows by chunk, kept until they are in a partial and, if asked for, after that.

    A piece is *fed* when a partial contains it. Then it is dropped, unless rows are kept.
    `completed` adds columns to rows that are known only once their chunk is complete.
    """

    __slots__ = ("_completed", "_fed", "_keeps", "_ring", "_unfed", "_window", "rows")

    def __init__(
        self,
        schema: pa.Schema,
        *,
        keeps: bool,
        completed: Callable[[pa.Table], pa.Table] | None = None,
    ) -> None:
        self._completed = completed
        self._window = SlidingTable(schema)
        self._ring = Ring["pa.Table"]()
        self._fed: dict[int, int] = {}
        """How many pieces of a chunk are fed; these are its first ones."""
        self._unfed: set[int] = set()
        """The chunks that have pieces which are not fed."""
        self._keeps = keeps
        self.rows = 0
        """How many rows are held."""

    def add(self, chunk: int, rows: pa.Table) -> None:
        """Add rows to a chunk."""
        if self._keeps:
            self._window.add(chunk, rows)
        count = self._ring.add(chunk, rows)
        self._unfed.add(chunk)
        self.rows += rows.num_rows
        fed = self._fed.get(chunk, 0)
        if count - fed > _PIECES:
            pieces = self._ring.of(chunk)
            self._ring.replace(chunk, [*pieces[:fed], together(pieces[fed:])])

    def release_fed(self) -> None:
        """Stop keeping fed rows: from now on only rows that are not fed are held."""
        self._keeps = False
        self._window.clear()
        for chunk in list(self._fed):
            self._release_fed(chunk)

    def unfed_rows(self, chunk: int) -> int:
        """Return how many rows of a chunk are not fed."""
        return sum(piece.num_rows for piece in self._ring.of(chunk)[self._fed.get(chunk, 0) :])

    def unfed(self, end: int) -> list[Piece]:
        """Return the rows before a chunk that are not fed, by chunk."""
        found = []
        for chunk in sorted(chunk for chunk in self._unfed if chunk < end):
            pieces = self._ring.of(chunk)[self._fed.get(chunk, 0) :]
            rows = pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces)
            found.append((chunk, rows if self._completed is None else self._completed(rows)))
        return found

    @property
    def are_complete_late(self) -> bool:
        """Whether rows have all their columns only once their chunk is complete."""
        return self._completed is not None

    def take_as_fed(self, chunks: list[Piece]) -> None:
        """Mark the rows of these chunks as fed."""
        for chunk, _ in chunks:
            self._unfed.discard(chunk)
            self._fed[chunk] = len(self._ring.of(chunk))
            if not self._keeps:
                self._release_fed(chunk)

    def between(self, first: int, end: int) -> pa.Table:
        """Return the rows of the chunks in `[first, end)`, all of which must be held."""
        if not self._keeps:
            self._window.clear()
        rows = self._window.window(first, end, self._ring)
        return rows if self._completed is None else self._completed(rows)

    def count_between(self, first: int, end: int) -> int:
        """Return how many rows of the chunks in `[first, end)` are held."""
        return sum(rows.num_rows for _, rows in self._ring.between(first, end))

    def forget(self, before: int) -> None:
        """Forget the chunks before this one."""
        for chunk, pieces in self._ring.forget(before):
            self.rows -= sum(piece.num_rows for piece in pieces)
            self._fed.pop(chunk, None)
            self._unfed.discard(chunk)
        self._window.forget(before)

    def _release_fed(self, chunk: int) -> None:
        fed = self._fed.pop(chunk)
        gone = self._ring.take_first(chunk, fed)
        self.rows -= sum(piece.num_rows for piece in gone)


def together(pieces: list[pa.Table]) -> pa.Table:
    """Copy the rows of many small tables into one piece."""
    return pa.concat_tables(pieces).combine_chunks()


class _State(NamedTuple):
    """The table of the chunks `[first, end)`, with the chunk and the length of each piece."""

    first: int
    end: int
    pieces: list[tuple[int, int]]
    rows: pa.Table


class SlidingTable:
    """The rows of a window as one table, which slides as the window does.

    DuckDB pays for each piece of a table that it reads, and a window consists of many chunks. So
    the table of the last requested window is kept. What has left the window is cut off and what is
    new is appended, without a copy. Now and then everything is copied into one piece. Rows are
    taken from a ring, and all of them are taken again whenever the table is unknown.
    """

    __slots__ = ("_nothing", "_state")

    def __init__(self, schema: pa.Schema) -> None:
        self._nothing = _State(-_NOTHING, -_NOTHING, [], empty_table(schema))
        self._state = self._nothing

    def add(self, chunk: int, rows: pa.Table) -> None:
        """Note that rows arrived for a chunk. The ring already has the last of them."""
        first, end, pieces, known = self._state
        if not first <= chunk < end:
            return
        if pieces and chunk < pieces[-1][0]:  # the rows belong in the middle of the table
            self._state = self._nothing
        else:
            more = [*pieces, (chunk, rows.num_rows)]
            self._state = _State(first, end, more, pa.concat_tables([known, rows]))

    def forget(self, before: int) -> None:
        """Remove the rows of earlier chunks."""
        if before > self._state.first:
            self._state = self._cut(before)

    def clear(self) -> None:
        """Forget the table."""
        self._state = self._nothing

    def window(self, first: int, end: int, ring: Ring[pa.Table]) -> pa.Table:
        """Return the rows of the chunks in `[first, end)`. O(new pieces), amortized."""
        if first < self._state.first or end < self._state.end:
            self._state = self._nothing
        if (first, end) == self._state[:2]:
            return self._state.rows
        known = self._cut(first)
        new = ring.between(max(first, known.end), end)
        tables = [known.rows] if known.pieces else []
        tables += [rows for _, rows in new]
        table = pa.concat_tables(tables) if tables else self._nothing.rows
        if table.num_columns and table.column(0).num_chunks > _WINDOW_PIECES:
            table = table.combine_chunks()
        pieces = [*known.pieces, *((chunk, rows.num_rows) for chunk, rows in new)]
        self._state = _State(first, end, pieces, table)
        return table

    def _cut(self, before: int) -> _State:
        """Return what is known, without earlier chunks."""
        first, end, pieces, rows = self._state
        gone = left = 0
        for chunk, length in pieces:
            if chunk >= before:
                break
            gone += length
            left += 1
        rows = rows.slice(gone) if left < len(pieces) else self._nothing.rows
        return _State(max(before, first), end, pieces[left:], rows)

    def _check(self) -> None:
        """Assert every invariant."""
        first, end, pieces, rows = self._state
        assert sum(length for _, length in pieces) == rows.num_rows
        assert all(first <= chunk < end for chunk, _ in pieces)
