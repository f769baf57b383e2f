"""The inputs of a query over windows: what was read of them, by chunk, and how far time has got."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ...queues.held_interrupt import HeldInterrupt
from ..chunks.chunk_rows import ChunkRows
from ..chunks.grid import FOREVER
from ..chunks.progress import passed_by_all
from ..chunks.ring import Ring

if TYPE_CHECKING:
    import pyarrow as pa

    from ...tables.log import Batch
    from ..chunks.cutter import Cut, Piece
    from ..chunks.input import Input
    from ..chunks.walk import Walk

_OPEN_ROWS: Final = 65_536
"""So many rows of a chunk are evaluated although more may come."""


class Reading:
    """Reads the inputs of a query, batch by batch: each is taken as a whole, or not at all."""

    __slots__ = ("_forgotten", "_hold", "_lateness", "inputs", "occupied", "progress", "rows")

    def __init__(
        self,
        inputs: Sequence[Input],
        schemas: Sequence[pa.Schema],
        *,
        keeps_rows: bool,
        lateness: int | None,
    ) -> None:
        self.inputs = inputs
        self.progress = [each.progress for each in inputs]
        self.rows = [ChunkRows(schema, keeps=keeps_rows) for schema in schemas]
        """The rows of each input that are held."""
        self.occupied = [Ring[float]() for _ in inputs]
        """The chunks of each input that hold a row, with the arrival of the first of them."""
        self._hold = HeldInterrupt()
        self._lateness = lateness
        self._forgotten = [-FOREVER for _ in inputs]
        """Of each input, the chunk before which rows are not held any more."""

    def read(self, now: float, walk: Walk) -> bool:
        """Read what waits; tell whether there was anything."""
        has_rows = False
        for number, each in enumerate(self.inputs):
            for batch, cut in each.waiting():
                has_rows = True
                pieces = list(self._in_time(number, cut, walk))
                with self._hold:
                    self._take(number, batch, cut, pieces, walk)
        return has_rows

    def passed(self, now: float) -> int | None:
        """Return before which chunk everything is in, None as long as an input has not begun."""
        passed = passed_by_all(self.progress, now)
        return None if passed is None else self.inputs[0].grid.chunk_of(passed)

    def start_of(self, chunk: int) -> int:
        """Return the time at which a chunk begins."""
        return self.inputs[0].grid.start_of(chunk)

    def portion(self, number: int, chunks: int) -> int:
        """Return up to which chunk rows of an input are to be evaluated before they are asked for.

        The open chunk is among them once a portion of its rows is there: it has so many portions.
        """
        each = self.inputs[number]
        chunk = each.open_chunk()
        if chunk is None:
            return -FOREVER
        rows = max(1, -(-each.expected_rows() // chunks))
        is_portion = self.rows[number].unfed_rows(chunk) >= min(rows, _OPEN_ROWS)
        return chunk + 1 if is_portion else chunk

    def forget(self, before: Sequence[int], passed: int) -> None:
        """Let go chunks below, by input, and what is known of times before a chunk."""
        for number, bound in enumerate(before):
            self.rows[number].forget(bound)
            self.occupied[number].forget(bound)
            self._forgotten[number] = max(bound, self._forgotten[number])
            if len(self.progress[number].closings) > 1:
                self.progress[number].forget(self.start_of(passed))

    def late_rows(self) -> int:
        """Return how many rows came too late."""
        return sum(each.late for each in self.inputs)

    def held_rows(self) -> int:
        """Return how many rows are held."""
        return sum(each.rows for each in self.rows)

    def _in_time(self, number: int, cut: Cut, walk: Walk) -> Iterator[tuple[Piece, bool, bool]]:
        """Yield pieces with whether each is too late, and whether it amends windows.

        An input that began after the others went on without it may be behind windows that were
        passed. Chunks between windows are left out.
        """
        windows = walk.schedule.windows[number]
        first = walk.first_open(number)
        for piece in cut.pieces:
            chunk = piece[0]
            if windows.has_gaps and not windows.covers(chunk):
                continue
            is_amended = chunk in cut.amended
            is_passed = first is not None and chunk < first
            is_late = is_passed and not is_amended and self._lateness is None
            is_late = is_late or chunk < self._forgotten[number]
            yield piece, is_late, not is_late and (is_amended or is_passed)

    def _take(
        self,
        number: int,
        batch: Batch,
        cut: Cut,
        pieces: Sequence[tuple[Piece, bool, bool]],
        walk: Walk,
    ) -> None:
        each = self.inputs[number]
        each.took(batch, cut)
        for (chunk, rows), is_late, is_amended in pieces:
            if is_late:
                each.late += rows.num_rows
                continue
            self.rows[number].add(chunk, rows)
            if chunk not in self.occupied[number]:
                self.occupied[number].add(chunk, batch.arrival)
            if is_amended:
                walk.amend(number, chunk, batch.arrival)
