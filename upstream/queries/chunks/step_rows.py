"""The rows of a window's steps: until they are in a partial and, where asked for, after that."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from .sliding_table import SlidingTable, pieces_between

if TYPE_CHECKING:
    import pyarrow as pa

_PIECES: Final = 512
"""More pieces of a step than this are put together: a table takes more memory than a row."""


class StepRows:
    """Pieces of rows by step.

    A piece is *fed* when a partial has it; then it is let go, unless rows are kept.
    """

    __slots__ = ("_fed", "_keeps", "_order", "_pieces", "_unfed", "_window", "rows")

    def __init__(self, schema: pa.Schema, *, keeps: bool) -> None:
        self._window = SlidingTable(schema)
        self._pieces: dict[int, list[pa.Table]] = {}
        self._fed: dict[int, int] = {}
        self._order: list[int] = []
        """The steps with pieces, as a heap; some may have none any more."""
        self._unfed: set[int] = set()
        """The steps of which some pieces are not fed."""
        self._keeps = keeps
        self.rows = 0
        """How many rows are held."""

    def add(self, step: int, rows: pa.Table) -> None:
        """Add rows to a step."""
        pieces = self._pieces.get(step)
        if pieces is None:
            pieces = self._pieces[step] = []
            heappush(self._order, step)
        pieces.append(rows)
        if self._keeps:
            self._window.add(step, rows)
        self._unfed.add(step)
        self.rows += rows.num_rows
        fed = self._fed.get(step, 0)
        if len(pieces) - fed > _PIECES:
            pieces[fed:] = [together(pieces[fed:])]

    def let_go(self) -> None:
        """Keep rows no more: only those that are not fed are held."""
        self._keeps = False
        self._window.clear()
        for step in list(self._fed):
            self._let_go_fed(step)

    def unfed_rows(self, step: int) -> int:
        """Return how many rows of a step are not fed."""
        pieces = self._pieces.get(step, ())
        return sum(piece.num_rows for piece in pieces[self._fed.get(step, 0) :])

    def feed(self, end: int) -> Iterator[tuple[int, pa.Table]]:
        """Yield the rows before a step that are not fed, by step, and take them as fed."""
        import pyarrow as pa

        for step in sorted(step for step in self._unfed if step < end):
            self._unfed.discard(step)
            pieces = self._pieces[step][self._fed.get(step, 0) :]
            self._fed[step] = len(self._pieces[step])
            if not self._keeps:
                self._let_go_fed(step)
            yield step, pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces)

    def between(self, first: int, end: int) -> pa.Table:
        """Return the rows of the steps in `[first, end)`, all of which are held."""
        if not self._keeps:
            self._window.clear()
        return self._window.window(first, end, partial(pieces_between, self._pieces))

    def count_between(self, first: int, end: int) -> int:
        """Return how many rows of the steps in `[first, end)` are held."""
        return sum(
            piece.num_rows
            for step, pieces in self._pieces.items()
            if first <= step < end
            for piece in pieces
        )

    def forget(self, before: int) -> None:
        """Let go the steps below."""
        while self._order and self._order[0] < before:
            step = heappop(self._order)
            self.rows -= sum(piece.num_rows for piece in self._pieces.pop(step, ()))
            self._fed.pop(step, None)
            self._unfed.discard(step)
        self._window.forget(before)

    def _let_go_fed(self, step: int) -> None:
        fed = self._fed.pop(step)
        pieces = self._pieces[step]
        self.rows -= sum(piece.num_rows for piece in pieces[:fed])
        if fed == len(pieces):
            del self._pieces[step]
        else:
            del pieces[:fed]


def together(pieces: list[pa.Table]) -> pa.Table:
    """Copy the rows of many small tables into one of one piece."""
    import pyarrow as pa

    return pa.concat_tables(pieces).combine_chunks()
