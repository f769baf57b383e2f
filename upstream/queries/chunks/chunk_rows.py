"""The rows of an input by chunk: until they are in a partial and, where asked for, after that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .ring import Ring
from .sliding_table import SlidingTable

if TYPE_CHECKING:
    import pyarrow as pa

    from .cutter import Piece

_PIECES: Final = 512
"""More pieces of a chunk than this are put together: a table takes more memory than a row."""


class ChunkRows:
    """Pieces of rows by chunk.

    A piece is *fed* when a partial has it; then it is let go, unless rows are kept.
    """

    __slots__ = ("_fed", "_keeps", "_ring", "_unfed", "_window", "rows")

    def __init__(self, schema: pa.Schema, *, keeps: bool) -> None:
        self._window = SlidingTable(schema)
        self._ring = Ring["pa.Table"]()
        self._fed: dict[int, int] = {}
        """How many pieces of a chunk are fed, the first ones."""
        self._unfed: set[int] = set()
        """The chunks of which some pieces are not fed."""
        self._keeps = keeps
        self.rows = 0
        """How many rows are held."""

    def add(self, chunk: int, rows: pa.Table) -> None:
        """Add rows to a chunk."""
        if self._keeps:
            self._window.add(chunk, rows)
        self._ring.add(chunk, rows)
        self._unfed.add(chunk)
        self.rows += rows.num_rows
        fed = self._fed.get(chunk, 0)
        pieces = self._ring.of(chunk)
        if len(pieces) - fed > _PIECES:
            self._ring.replace(chunk, [*pieces[:fed], together(pieces[fed:])])

    def let_go(self) -> None:
        """Keep rows no more: only those that are not fed are held."""
        self._keeps = False
        self._window.clear()
        for chunk in list(self._fed):
            self._let_go_fed(chunk)

    def unfed_rows(self, chunk: int) -> int:
        """Return how many rows of a chunk are not fed."""
        return sum(piece.num_rows for piece in self._ring.of(chunk)[self._fed.get(chunk, 0) :])

    def unfed(self, end: int) -> list[Piece]:
        """Return the rows before a chunk that are not fed, by chunk."""
        import pyarrow as pa

        found = []
        for chunk in sorted(chunk for chunk in self._unfed if chunk < end):
            pieces = self._ring.of(chunk)[self._fed.get(chunk, 0) :]
            found.append((chunk, pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces)))
        return found

    def take_as_fed(self, chunks: list[Piece]) -> None:
        """Take the rows of these chunks as fed."""
        for chunk, _ in chunks:
            self._unfed.discard(chunk)
            self._fed[chunk] = len(self._ring.of(chunk))
            if not self._keeps:
                self._let_go_fed(chunk)

    def between(self, first: int, end: int) -> pa.Table:
        """Return the rows of the chunks in `[first, end)`, all of which are held."""
        if not self._keeps:
            self._window.clear()
        return self._window.window(first, end, self._ring)

    def count_between(self, first: int, end: int) -> int:
        """Return how many rows of the chunks in `[first, end)` are held."""
        return sum(rows.num_rows for _, rows in self._ring.between(first, end))

    def forget(self, before: int) -> None:
        """Let go the chunks below."""
        for chunk, pieces in self._ring.forget(before):
            self.rows -= sum(piece.num_rows for piece in pieces)
            self._fed.pop(chunk, None)
            self._unfed.discard(chunk)
        self._window.forget(before)

    def _let_go_fed(self, chunk: int) -> None:
        fed = self._fed.pop(chunk)
        gone = self._ring.take_first(chunk, fed)
        self.rows -= sum(piece.num_rows for piece in gone)


def together(pieces: list[pa.Table]) -> pa.Table:
    """Copy the rows of many small tables into one of one piece."""
    import pyarrow as pa

    return pa.concat_tables(pieces).combine_chunks()
