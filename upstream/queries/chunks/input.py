"""One window function of a query: reads a stream, and cuts what came into chunks.

    LogReader -> Cutter -> Cut -> Progress

What was read is committed by `took`, batch by batch: until then nothing has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..sql.window_clause import Axis
from .cutter import Cutter, microseconds

if TYPE_CHECKING:
    from ...rows.stream_definition import StreamDefinition
    from ...tables.log import Batch, LogReader
    from .cutter import Cut
    from .grid import Grid
    from .progress import Progress


class Input:
    """Reads one stream for one window function of a query."""

    __slots__ = (
        "_counted_chunk",
        "_counted_rows",
        "_cutter",
        "_definition",
        "chunk_rows",
        "grid",
        "late",
        "progress",
        "reader",
    )

    def __init__(
        self,
        definition: StreamDefinition,
        reader: LogReader,
        grid: Grid,
        progress: Progress,
        *,
        lateness: int | None = None,
    ) -> None:
        self.reader = reader
        self.grid = grid
        self.progress = progress
        self.late = 0
        """How many rows came too late."""
        self._definition = definition
        self._cutter = Cutter(grid, lateness)
        self._counted_chunk: int | None = None
        self._counted_rows = 0
        self.chunk_rows = 0
        """How many rows the newest complete chunk had."""

    def waiting(self) -> Iterator[tuple[Batch, Cut]]:
        """Cut what waits, batch by batch; the next follows when `took` was told of the last."""
        for batch in self.reader.peek():
            self.progress.passed(batch.arrival)  # rows of a slide that silence has closed are late
            yield batch, self._cut(batch)

    def took(self, batch: Batch, cut: Cut) -> None:
        """Take a batch, which is not read again."""
        self.late += cut.late
        self.progress.came(cut.progress, cut.newest if cut.pieces else None, batch.arrival)
        for chunk, rows in cut.pieces[-2:]:
            self._count(chunk, rows.num_rows)
        self.reader.take(batch.rows.num_rows)

    def open_chunk(self) -> int | None:
        """Return the chunk that rows may still come for without being late."""
        newest = self.progress.newest
        return None if newest is None else self.grid.chunk_of(newest)

    def expected_rows(self) -> int:
        """Return how many rows the open chunk will have at least, by the one before it."""
        return max(self.chunk_rows, self._counted_rows)

    def _cut(self, batch: Batch) -> Cut:
        newest = self.progress.newest
        if self.progress.axis is Axis.ROWS:
            return self._cutter.cut_counted(batch.rows, batch.first - self.reader.origin)
        if self.progress.axis is Axis.ARRIVAL:
            return self._cutter.cut_one(batch.rows, microseconds(batch.arrival), newest)
        return self._cutter.cut(batch.rows, self._definition.times(batch.rows), newest)

    def _count(self, chunk: int, rows: int) -> None:
        """Count the rows of the newest chunk, to know how many the next will have."""
        if chunk == self._counted_chunk:
            self._counted_rows += rows
        elif self._counted_chunk is None or chunk > self._counted_chunk:
            self.chunk_rows = self._counted_rows
            self._counted_chunk, self._counted_rows = chunk, rows
