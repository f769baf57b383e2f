"""The inputs of a query over windows: each reads a stream, and cuts what arrived into chunks.

    LogReader -> Cutter -> Cut -> Progress, and rows by chunk

`took` commits what was read, batch by batch. Until then nothing has changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ...held_interrupt import HeldInterrupt
from ..sql.window_clause import Axis
from .chunk_rows import ChunkRows
from .cutter import Cutter, microseconds
from .grid import FOREVER
from .ring import Ring

if TYPE_CHECKING:
    import pyarrow as pa

    from ...rows.stream_definition import StreamDefinition
    from ...tables.log import Batch, LogReader
    from .cutter import Cut, Piece
    from .grid import Grid
    from .progress import Progress
    from .walk import Walk

_OPEN_ROWS: Final = 65_536
"""If a chunk has this many rows, they are evaluated although more may arrive."""


_CLOSINGS: Final = 256
"""This many moments of closing are kept before those that are not needed are removed."""


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
        """How many rows arrived too late."""
        self._definition = definition
        self._cutter = Cutter(grid, lateness)
        self._counted_chunk: int | None = None
        self._counted_rows = 0
        self.chunk_rows = 0
        """How many rows the newest complete chunk had."""

    @property
    def stream(self) -> str:
        """The name of the stream."""
        return self._definition.name

    def waiting(self) -> Iterator[tuple[Batch, Cut]]:
        """Cut what waits, batch by batch.

        The next batch follows once `took` has taken the last one.
        """
        for batch in self.reader.peek():
            if self.progress.close_after is not None:
                self.progress.passed(batch.arrival)  # rows of a slide that silence closed are late
            yield batch, self._cut(batch)

    def took(self, batch: Batch, cut: Cut) -> None:
        """Take a batch, so that it is not read again."""
        self.late += cut.late
        self.progress.came(cut.progress, cut.newest if cut.pieces else None, batch.arrival)
        for chunk, rows in cut.pieces[-2:]:
            self._count(chunk, rows.num_rows)
        self.reader.take(batch.rows.num_rows)

    def open_chunk(self) -> int | None:
        """Return the oldest chunk for which a row would not be late."""
        newest = self.progress.newest
        return None if newest is None else self.grid.chunk_of(newest)

    def expected_rows(self) -> int:
        """Return the least number of rows to expect in the open chunk, from the chunk before it."""
        return max(self.chunk_rows, self._counted_rows)

    def _cut(self, batch: Batch) -> Cut:
        newest = self.progress.newest
        if self.progress.axis is Axis.ROWS:
            return self._cutter.cut_counted(batch.rows, batch.first - self.reader.origin)
        if self.progress.axis is Axis.ARRIVAL:
            return self._cutter.cut_one(batch.rows, microseconds(batch.arrival), newest)
        return self._cutter.cut(batch.rows, self._definition.times(batch.rows), newest)

    def _count(self, chunk: int, rows: int) -> None:
        """Count the rows of the newest chunk, to predict the number of the next."""
        if chunk == self._counted_chunk:
            self._counted_rows += rows
        elif self._counted_chunk is None or chunk > self._counted_chunk:
            self.chunk_rows = self._counted_rows
            self._counted_chunk, self._counted_rows = chunk, rows


class Inputs:
    """The inputs of a query, cut by one grid, and how far time has passed for all of them.

    Times are expressed by numbers of chunks: a number stands for the beginning of that chunk.
    """

    __slots__ = ("grid", "inputs", "passes_by_clock", "progress")

    def __init__(self, inputs: Sequence[Input]) -> None:
        self.inputs = inputs
        self.progress = [each.progress for each in inputs]
        self.grid = inputs[0].grid
        self.passes_by_clock = all(each.passes_by_clock for each in self.progress)
        """Whether time also passes without rows for all of them."""

    def passed(self, now: float) -> int | None:
        """Return the chunk before which everything has arrived.

        None until all inputs have begun.
        """
        passed = [each.passed(now) for each in self.progress]
        known = [each for each in passed if each is not None]
        return self.grid.chunk_of(min(known)) if len(known) == len(passed) else None

    def passed_at(self, chunk: int, now: float) -> float:
        """Return the moment at which time passed a chunk's beginning, which it has by now."""
        time = self.grid.start_of(chunk)
        return max([each.passed_at(time, now) for each in self.progress])

    def passes_at(self, chunk: int) -> float | None:
        """Return when time will have passed a chunk's beginning without further rows, or None."""
        time = self.grid.start_of(chunk)
        moments = [each.passes_at(time) for each in self.progress]
        known = [moment for moment in moments if moment is not None]
        return max(known) if len(known) == len(moments) else None

    def forget_times(self, passed: int) -> None:
        """Forget times before a chunk."""
        for each in self.progress:
            if len(each.closings) > _CLOSINGS:
                each.forget(self.grid.start_of(passed))

    def late_rows(self) -> int:
        """Return how many rows arrived too late."""
        return sum(each.late for each in self.inputs)

    def late_by_stream(self) -> dict[str, int]:
        """Return how many rows of each stream arrived too late, once for each input over it."""
        late: dict[str, int] = {}
        for each in self.inputs:
            late[each.stream] = late.get(each.stream, 0) + each.late
        return late


class Reading(Inputs):
    """Reads the inputs of a query, batch by batch, and holds their rows.

    A batch is taken completely, or not at all.
    """

    __slots__ = ("_forgotten", "_hold", "_lateness", "occupied", "rows")

    def __init__(
        self,
        inputs: Sequence[Input],
        schemas: Sequence[pa.Schema],
        *,
        keeps_rows: bool,
        lateness: int | None,
    ) -> None:
        super().__init__(inputs)
        self.rows = [ChunkRows(schema, keeps=keeps_rows) for schema in schemas]
        """The rows of each input that are held."""
        self.occupied = [Ring[float]() for _ in inputs]
        """The chunks of each input that hold a row, with the arrival of the first row."""
        self._hold = HeldInterrupt()
        self._lateness = lateness
        self._forgotten = [-FOREVER for _ in inputs]
        """Of each input, the chunk before which rows are no longer held."""

    def read(self, walk: Walk) -> bool:
        """Read what waits, and tell whether there was anything."""
        has_rows = False
        for number, each in enumerate(self.inputs):
            for batch, cut in each.waiting():
                has_rows = True
                pieces = list(self._in_time(number, cut, walk))
                with self._hold:
                    self._take(number, batch, cut, pieces, walk)
        return has_rows

    def portion(self, number: int, chunks: int) -> int:
        """Return the chunk up to which rows of an input are to be evaluated early.

        This includes the open chunk once a portion of its rows is there, for this number of
        portions.
        """
        each = self.inputs[number]
        chunk = each.open_chunk()
        if chunk is None:
            return -FOREVER
        rows = max(1, -(-each.expected_rows() // chunks))
        is_portion = self.rows[number].unfed_rows(chunk) >= min(rows, _OPEN_ROWS)
        return chunk + 1 if is_portion else chunk

    def forget(self, before: Sequence[int], passed: int) -> None:
        """Forget earlier chunks, by input, and times before a chunk."""
        for number, bound in enumerate(before):
            self.rows[number].forget(bound)
            self.occupied[number].forget(bound)
            self._forgotten[number] = max(bound, self._forgotten[number])
        self.forget_times(passed)

    def position(self) -> int:
        """Return how many rows of all inputs were read."""
        return sum(each.reader.position - each.reader.origin for each in self.inputs)

    def held_rows(self) -> int:
        """Return how many rows are held."""
        return sum(each.rows for each in self.rows)

    def _in_time(self, number: int, cut: Cut, walk: Walk) -> Iterator[tuple[Piece, bool, bool]]:
        """Yield pieces, each with whether it is too late, and whether it amends windows.

        An input that began after the others went on without it may be behind windows that were
        passed. Chunks between windows are left out.
        """
        gapped = walk.schedule.gapped[number]
        first = None if walk.spans is None else walk.spans[number].first
        for piece in cut.pieces:
            chunk = piece[0]
            if gapped is not None and not gapped.covers(chunk):
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
            self.occupied[number].add_first(chunk, batch.arrival)
            if is_amended:
                walk.amend(number, chunk, batch.arrival)
