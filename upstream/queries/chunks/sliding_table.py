"""The rows of a window as one table, which slides as the window does.

DuckDB pays for each piece of a table that it reads, and a window is made of many steps. So the
table of the last window is kept: what has left is cut off, and what is new put behind, without a
copy; now and then all is copied into one piece.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ...rows.arrow_data import empty_table

if TYPE_CHECKING:
    import pyarrow as pa

Collect = Callable[[int, int], Iterable[tuple[int, "pa.Table"]]]
"""Gives the pieces of the steps in `[first, end)`, in order."""

_PIECES: Final = 16
"""More pieces than this are copied into one."""
_NOTHING: Final = 1 << 63


class SlidingTable:
    """Keeps the table of the steps `[first, end)`, as they were asked for last."""

    __slots__ = ("_end", "_first", "_pieces", "_rows", "_schema")

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: pa.Table = empty_table(schema)
        self._pieces: deque[tuple[int, int]] = deque()
        """The step of each piece, and how many rows it has."""
        self._first = self._end = -_NOTHING

    def add(self, step: int, rows: pa.Table) -> None:
        """Learn that rows came for a step; if it is in the middle, the table is made anew."""
        import pyarrow as pa

        if not self._first <= step < self._end:
            return
        if self._pieces and step < self._pieces[-1][0]:
            self.clear()
        else:
            self._pieces.append((step, rows.num_rows))
            self._rows = pa.concat_tables([self._rows, rows])

    def forget(self, before: int) -> None:
        """Let go the rows of steps below."""
        gone = 0
        while self._pieces and self._pieces[0][0] < before:
            gone += self._pieces.popleft()[1]
        self._first = max(before, self._first)
        self._rows = self._rows.slice(gone) if self._pieces else empty_table(self._schema)

    def clear(self) -> None:
        """Keep nothing."""
        self._rows = empty_table(self._schema)
        self._pieces.clear()
        self._first = self._end = -_NOTHING

    def window(self, first: int, end: int, collect: Collect) -> pa.Table:
        """Return the rows of the steps in `[first, end)`. O(new pieces), amortized."""
        import pyarrow as pa

        if first < self._first or end < self._end:
            self.clear()
        self.forget(first)
        tables = [self._rows] if self._pieces else []
        for step, rows in collect(max(first, self._end), end):
            self._pieces.append((step, rows.num_rows))
            tables.append(rows)
        self._first, self._end = first, end
        self._rows = pa.concat_tables(tables) if tables else empty_table(self._schema)
        if self._rows.num_columns and self._rows.column(0).num_chunks > _PIECES:
            self._rows = self._rows.combine_chunks()
        return self._rows

    def _check(self) -> None:
        """Assert what always holds."""
        assert sum(rows for _, rows in self._pieces) == self._rows.num_rows
        assert all(self._first <= step < self._end for step, _ in self._pieces)


def pieces_between(
    pieces: Mapping[int, list[pa.Table]], first: int, end: int
) -> Iterator[tuple[int, pa.Table]]:
    """Yield the pieces of the steps in `[first, end)`, in order, in the time of the fewer steps."""
    if end - first <= len(pieces):
        steps: Iterable[int] = (step for step in range(first, end) if step in pieces)
    else:
        steps = sorted(step for step in pieces if first <= step < end)
    for step in steps:
        for piece in pieces[step]:
            yield step, piece
