"""The inputs of a query over windows: each reads a stream, and cuts what arrived into chunks.

    LogReader -> Cutter -> Cut -> Progress, and rows by chunk

`took` commits what was read, batch by batch. Until then nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from ...held_interrupt import HeldInterrupt
from ...tables.appended import Lead
from ...tables.log import Punctuation
from .chunk_rows import ChunkRows
from .common_progress import CommonProgress
from .grid import FOREVER
from .ring import Ring

if TYPE_CHECKING:
    import pyarrow as pa

    from ...tables.log import Batch, LogReader
    from .cutter import Cut, Piece
    from .feed_positions import FeedPositions
    from .grid import Grid
    from .input_cuts import InputCuts
    from .progress import Progress
    from .walk import Walk

_OPEN_ROWS: Final = 65_536
"""If a chunk has this many rows, they are evaluated although more may arrive."""


MOST_AHEAD: Final = 1_000_000
"""If an input has this many rows of chunks that wait for other inputs, no more of it are read."""
_NEARLY: Final = 0.9
"""A chunk with this part of the rows of the chunk before it is nearly complete."""
_CLOSINGS: Final = 256
"""This many moments of closing are kept before those that are not needed are removed."""


class Input:
    """Reads one stream for one window function of a query."""

    __slots__ = (
        "_counted_chunk",
        "_counted_rows",
        "_cuts",
        "chunk_rows",
        "feed",
        "grid",
        "late",
        "progress",
        "reader",
        "stream",
    )

    def __init__(
        self,
        reader: LogReader,
        grid: Grid,
        progress: Progress,
        cuts: InputCuts,
        *,
        stream: str = "",
    ) -> None:
        self.stream = stream
        """The name of the stream."""
        self.reader = reader
        self.grid = grid
        self.progress = progress
        self.late = 0
        """How many rows arrived too late."""
        self._cuts = cuts
        self._counted_chunk: int | None = None
        self._counted_rows = 0
        self.chunk_rows = 0
        """How many rows the newest complete chunk had."""
        self.feed: FeedPositions | None = None
        """Where chunks begin in the stream, if that is recorded."""

    def begin_at(self, feed: FeedPositions) -> None:
        """Read from where a feed begins, and note from then on where chunks begin.

        Nothing was read before, and no row from there on is missing. This cannot fail.
        """
        self.feed = feed
        self.reader.skip_to(feed.start.position)
        if feed.start.chunk is not None:
            self.progress.newest = feed.start.chunk  # no row is in an earlier chunk

    def waiting(self) -> Iterator[tuple[Batch, Cut]]:
        """Cut what waits, batch by batch.

        The next batch follows once `took` has taken the last one.
        """
        for batch in self.reader.peek():
            yield batch, self.cut(batch)

    def cut(self, batch: Batch) -> Cut:
        """Cut the batch that waits first."""
        if self.progress.close_after is not None:
            self.progress.passed(batch.arrival)  # rows of a slide that silence closed are late
        return self._cuts.cut(batch, self.progress.newest)

    def punctuated(self, punctuation: Punctuation) -> None:
        """End the open chunk, as the source said; this cannot fail."""
        if self.progress.close_after is not None:
            self.progress.passed(punctuation.arrival)
        passed = self._cuts.end_of_open(self.progress)
        if passed is not None:
            self.progress.punctuated(passed, punctuation.arrival)
        self.reader.take(0, punctuations=1)

    def took(self, batch: Batch, cut: Cut) -> None:
        """Take a batch, so that it is not read again."""
        self.late += cut.late
        self._cuts.took(cut)
        if self.feed is not None:
            self.feed.took(batch, cut)
        self.progress.came(cut.progress, cut.newest if cut.pieces else None, batch.arrival)
        for chunk, rows in cut.pieces[-2:]:
            self._count(chunk, rows.num_rows)
        self.reader.take(batch.rows.num_rows)

    def is_nearly_complete(self, chunk: int) -> bool:
        """Tell whether a chunk has nearly as many rows as the one before it had."""
        return self._counted_chunk == chunk and self._counted_rows >= _NEARLY * self.chunk_rows > 0

    def open_chunk(self) -> int | None:
        """Return the oldest chunk for which a row would not be late."""
        newest = self.progress.newest
        return None if newest is None else self.grid.chunk_of(newest)

    def expected_rows(self) -> int:
        """Return the least number of rows to expect in the open chunk, from the chunk before it."""
        return max(self.chunk_rows, self._counted_rows)

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

    __slots__ = ("_common", "_held_back", "grid", "inputs", "passes_by_clock", "progress")

    def __init__(self, inputs: Sequence[Input], *, is_common: bool = False) -> None:
        self.inputs = inputs
        self.progress = [each.progress for each in inputs]
        self._held_back: set[int] = set()
        """The inputs of which no more is read until others have caught up."""
        self._common = CommonProgress(self.progress) if is_common else None
        """How far time has passed if an idle input delays nothing; otherwise each one is waited
        for."""
        self.grid = inputs[0].grid
        self.passes_by_clock = all(each.passes_by_clock for each in self.progress)
        """Whether time also passes without rows for all of them."""

    def passed(self, now: float) -> int | None:
        """Return the chunk before which everything has arrived.

        None until all inputs have begun.
        """
        if self._common is not None:
            time = self._common.passed(now)
            return None if time is None else self.grid.chunk_of(time)
        passed = [each.passed(now) for each in self.progress]
        known = [each for each in passed if each is not None]
        return self.grid.chunk_of(min(known)) if len(known) == len(passed) else None

    def passed_at(self, chunk: int, now: float) -> float:
        """Return the moment at which time passed a chunk's beginning, which it has by now."""
        time = self.grid.start_of(chunk)
        if self._common is not None:
            return self._common.passed_at(time, now)
        return max([each.passed_at(time, now) for each in self.progress])

    def passes_at(self, chunk: int) -> float | None:
        """Return when time will have passed a chunk's beginning without further rows, or None."""
        time = self.grid.start_of(chunk)
        if self._common is not None:
            return self._common.passes_at(time)
        moments = [each.passes_at(time) for each in self.progress]
        known = [moment for moment in moments if moment is not None]
        return max(known) if len(known) == len(moments) else None

    def forget_times(self, passed: int) -> None:
        """Forget times before a chunk."""
        for each in self.progress:
            if len(each.closings) > _CLOSINGS:
                each.forget(self.grid.start_of(passed))


class Marks(Protocol):
    """What is noted of the rows of epochs."""

    def marked(self, number: int, chunk: int, rows: pa.Table) -> pa.Table:
        """Return rows of a chunk of an input with the columns of epochs that a query names."""

    def completing(self, number: int) -> Callable[[pa.Table], pa.Table] | None:
        """Return a function that adds the columns which are known once a chunk is complete."""

    def noting(self, number: int, pieces: Sequence[Piece], arrival: float) -> Callable[[], None]:
        """Return a function that notes pieces of an input; the function cannot fail."""

    def forget(self, number: int, before: int) -> None:
        """Forget the chunks of an input before this one."""

    def close(self) -> None:
        """Release statements in DuckDB."""


class Reading(Inputs):
    """Reads the inputs of a query, batch by batch, and holds their rows.

    A batch is taken completely, or not at all. `epochs` says how chunks become epochs, if they do:
    then chunks of several inputs with one number belong together.
    """

    __slots__ = (
        "_epochs",
        "_forgotten",
        "_hold",
        "_lateness",
        "leads",
        "occupied",
        "rows",
        "rows_in_time",
    )

    def __init__(
        self,
        inputs: Sequence[Input],
        schemas: Sequence[pa.Schema],
        *,
        keeps_rows: bool,
        lateness: int | None,
        epochs: Marks | None = None,
    ) -> None:
        is_common = epochs is not None and any(each.progress.close_after for each in inputs)
        super().__init__(inputs, is_common=is_common)
        self._epochs = epochs
        completing = [None if epochs is None else epochs.completing(i) for i in range(len(inputs))]
        self.rows = [
            ChunkRows(schema, keeps=keeps_rows, completed=completed)
            for schema, completed in zip(schemas, completing, strict=True)
        ]
        """The rows of each input that are held."""
        self.occupied = [Ring[float]() for _ in inputs]
        """The chunks of each input that hold a row, with the arrival of the first row."""
        self.rows_in_time = 0
        """How many rows were taken that did not come before the window which they are in opened."""
        self.leads: tuple[Lead, ...] = ()
        """How far each input of epochs is ahead of the others, as of the last reading. It is
        replaced as a whole, so any thread may look at it."""
        self._hold = HeldInterrupt()
        self._lateness = lateness
        self._forgotten = [-FOREVER for _ in inputs]
        """Of each input, the chunk before which rows are no longer held."""

    def read(self, walk: Walk) -> bool:
        """Read what waits, and tell whether there was anything."""
        has_rows = False
        self._read_on(self._held_back)
        self._held_back.clear()
        for number, entry in self._waiting(walk):
            has_rows = True
            each = self.inputs[number]
            if self._common is not None:
                self._common.arrives(number, entry.arrival)
            if isinstance(entry, Punctuation):
                with self._hold:
                    each.punctuated(entry)
                continue
            cut = each.cut(entry)
            pieces = list(self._in_time(number, cut, walk))
            note = self._noting(number, cut, entry.arrival)
            with self._hold:
                self._take(number, entry, cut, pieces, walk)
                note()
        return has_rows

    def _waiting(self, walk: Walk) -> Iterator[tuple[int, Batch | Punctuation]]:
        """Yield what is to be read, input by input, or in the order of arrival if that matters."""
        waiting = [
            (number, entry)
            for number, each in enumerate(self.inputs)
            for entry in each.reader.peek_punctuated()
        ]
        if self._common is not None:
            waiting.sort(key=lambda each: each[1].arrival)
        # by the clock the wait is limited, and so are the rows that wait
        is_alone = self._epochs is None or len(self.inputs) == 1 or self.passes_by_clock
        for number, entry in waiting:
            if not is_alone and number not in self._held_back and self._is_full(number, walk):
                self._held_back.add(number)
                self.inputs[number].reader.is_paused = True
            if number not in self._held_back:
                yield number, entry

    def resume(self, walk: Walk) -> None:
        """Read on, with the next reading, what others have caught up with."""
        self._read_on([number for number in self._held_back if not self._is_full(number, walk)])

    def _read_on(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.inputs[number].reader.is_paused = False

    def _noting(self, number: int, cut: Cut, arrival: float) -> Callable[[], None]:
        if self._epochs is None:
            return lambda: None
        return self._epochs.noting(number, cut.pieces, arrival)

    def note_leads(self, walk: Walk) -> None:
        """Note how far each input of epochs is ahead of the others."""
        if self._epochs is not None and len(self.inputs) > 1:
            self.leads = tuple(self._lead(number, walk) for number in range(len(self.inputs)))

    def _is_full(self, number: int, walk: Walk) -> bool:
        """Tell whether so many rows of an input wait for the others that no more are read."""
        is_large = self.rows[number].rows >= MOST_AHEAD
        return is_large and self._lead(number, walk).rows >= MOST_AHEAD

    def _lead(self, number: int, walk: Walk) -> Lead:
        chunk = self.inputs[number].open_chunk()
        if chunk is None:
            return Lead()
        rows = self.rows[number]
        if walk.open is None:  # another input has not begun
            return Lead(rows.rows, 0)
        if chunk < walk.open:
            return Lead()
        before = rows.count_between(-FOREVER, walk.open)  # in few chunks, unlike those after them
        return Lead(rows.rows - before, chunk + 1 - walk.open)

    def portion(self, number: int, chunks: int, walk: Walk) -> int:
        """Return the chunk up to which rows of an input are to be evaluated early.

        This includes the open chunk once a portion of its rows is there, for this number of
        portions. Rows of later epochs wait for the other inputs.
        """
        each = self.inputs[number]
        chunk = each.open_chunk()
        if chunk is None:
            return -FOREVER
        if self._epochs is not None:
            if walk.open is None:
                return -FOREVER
            if chunk >= walk.open:
                return walk.open
        rows = max(1, -(-each.expected_rows() // chunks))
        if self.rows[number].are_complete_late:
            return chunk
        is_portion = self.rows[number].unfed_rows(chunk) >= min(rows, _OPEN_ROWS)
        return chunk + 1 if is_portion else chunk

    def forget(self, before: Sequence[int], passed: int) -> None:
        """Forget earlier chunks, by input, and times before a chunk."""
        for number, bound in enumerate(before):
            self.rows[number].forget(bound)
            self.occupied[number].forget(bound)
            self._forgotten[number] = max(bound, self._forgotten[number])
            if self._epochs is not None:
                self._epochs.forget(number, bound)
        self.forget_times(passed)

    def position(self) -> int:
        """Return how many rows of all inputs were read."""
        return sum(each.reader.position - each.reader.origin for each in self.inputs)

    def held_rows(self) -> int:
        """Return how many rows are held."""
        return sum(each.rows for each in self.rows)

    def close(self) -> None:
        """Release what cuts the inputs."""
        if self._epochs is not None:
            self._epochs.close()

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
            if self._epochs is not None and not is_late:
                piece = chunk, self._epochs.marked(number, chunk, piece[1])
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
            if walk.open is None or chunk < walk.open:
                self.rows_in_time += rows.num_rows
            self.occupied[number].add_first(chunk, batch.arrival)
            if is_amended:
                walk.amend(number, chunk, batch.arrival)
