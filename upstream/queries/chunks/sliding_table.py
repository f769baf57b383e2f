"""The rows of a window as one table, which slides as the window does.

DuckDB pays for each piece of a table that it reads, and a window is made of many chunks. So the
table of the last window is kept: what has left is cut off, and what is new put behind, without a
copy; now and then all is copied into one piece.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from ...rows.arrow_data import empty_table

if TYPE_CHECKING:
    import pyarrow as pa

    from .ring import Ring

_PIECES: Final = 16
"""More pieces than this are copied into one."""
_NOTHING: Final = 1 << 63


class _State(NamedTuple):
    """The table of the chunks `[first, end)`, and the chunk and the length of each piece of it."""

    first: int
    end: int
    pieces: list[tuple[int, int]]
    rows: pa.Table


class SlidingTable:
    """Keeps the table of the window that was asked for last.

    It is taken from a ring, and found anew from there whenever it is not known.
    """

    __slots__ = ("_nothing", "_state")

    def __init__(self, schema: pa.Schema) -> None:
        self._nothing = _State(-_NOTHING, -_NOTHING, [], empty_table(schema))
        self._state = self._nothing

    def add(self, chunk: int, rows: pa.Table) -> None:
        """Learn that rows came for a chunk, the last of which the ring has by now."""
        import pyarrow as pa

        first, end, pieces, known = self._state
        if not first <= chunk < end:
            return
        if pieces and chunk < pieces[-1][0]:  # in the middle of the table
            self._state = self._nothing
        else:
            more = [*pieces, (chunk, rows.num_rows)]
            self._state = _State(first, end, more, pa.concat_tables([known, rows]))

    def forget(self, before: int) -> None:
        """Let go the rows of chunks below."""
        if before > self._state.first:
            self._state = self._cut(before)

    def clear(self) -> None:
        """Keep nothing."""
        self._state = self._nothing

    def window(self, first: int, end: int, ring: Ring[pa.Table]) -> pa.Table:
        """Return the rows of the chunks in `[first, end)`. O(new pieces), amortized."""
        import pyarrow as pa

        if first < self._state.first or end < self._state.end:
            self._state = self._nothing
        if (first, end) == self._state[:2]:
            return self._state.rows
        known = self._cut(first)
        new = list(ring.between(max(first, known.end), end))
        tables = [known.rows] if known.pieces else []
        tables += [rows for _, rows in new]
        table = pa.concat_tables(tables) if tables else self._nothing.rows
        if table.num_columns and table.column(0).num_chunks > _PIECES:
            table = table.combine_chunks()
        pieces = [*known.pieces, *lengths(new)]
        self._state = _State(first, end, pieces, table)
        return table

    def _cut(self, before: int) -> _State:
        """Return what is known, without the chunks below."""
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
        """Assert what always holds."""
        first, end, pieces, rows = self._state
        assert sum(length for _, length in pieces) == rows.num_rows
        assert all(first <= chunk < end for chunk, _ in pieces)


def lengths(pieces: Iterable[tuple[int, pa.Table]]) -> list[tuple[int, int]]:
    """Return how many rows each piece has, with its chunk."""
    return [(chunk, rows.num_rows) for chunk, rows in pieces]
