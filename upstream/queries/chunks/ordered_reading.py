"""Reads several streams in the order of arrival, without chunks, and leaves late rows out.

A row is late if it is older than the newest time that its stream had reached before it, less the
allowed lateness. Rows move that time; with `close_after`, so does silence. A silent stream goes on
by the clock and, where another stream is ahead, with that one. So nothing waits for it, and what it
missed is late when it comes back. From then on, its own rows move its time again.

Which rows are late depends on the arrival of batches only, and never on when they are read. So a
silent stream follows the others only as far as they were before the present moment: other batches
of the same moment may still come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from heapq import merge
from math import inf, nextafter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from ...held_interrupt import HeldInterrupt
from ..sql.window_clause import Axis
from .progress import Progress

if TYPE_CHECKING:
    from ...rows.stream_definition import StreamDefinition
    from ...tables.log import Batch, LogReader
    from .grid import Integers


class Piece(NamedTuple):
    """Rows that are in time, their times, and when the first of them arrived."""

    rows: pa.Table
    times: Integers
    arrival: float

    def cut(self, place: int) -> tuple[Piece, Piece]:
        """Return the rows before a place, and the others."""
        first = Piece(self.rows.slice(0, place), self.times[:place], self.arrival)
        return first, Piece(self.rows.slice(place), self.times[place:], self.arrival)


class OrderedInput:
    """Reads one stream. `lateness` is in the unit of its times; `since` is when the query began."""

    __slots__ = (
        "_before",
        "_close_after",
        "_lateness",
        "_progress",
        "_since",
        "definition",
        "late",
        "reader",
        "waiting",
    )

    def __init__(
        self,
        definition: StreamDefinition,
        reader: LogReader,
        *,
        lateness: int = 0,
        close_after: float | None = None,
        since: float = 0.0,
    ) -> None:
        self.definition = definition
        self.reader = reader
        self.waiting: list[Piece] = []
        """What was read and has not been used yet."""
        self.late = 0
        """How many rows arrived too late."""
        self._lateness = lateness
        self._close_after = close_after
        self._since = since
        self._before: int | None = None
        """The time that was reached before the moment of the newest batch."""
        self._progress = Progress(
            Axis.SOURCE,
            _EachTime(),
            seconds_per_unit=definition.seconds_per_unit,
            close_after=close_after,
            since=since,
        )

    @property
    def reached(self) -> int | None:
        """The newest time that rows or silence have reached; None if there was neither."""
        return self._progress.newest

    @property
    def complete(self) -> int | None:
        """The time before which every further row is late; None if no row can be late yet."""
        return None if self.reached is None else self.reached - self._lateness

    def take(self, batch: Batch) -> None:
        """Take a batch completely: rows in time, late rows, time and position."""
        progress, before = self._progress, self.reached_before(batch.arrival)
        times, rows = self.definition.times(batch.rows), batch.rows
        newest = np.maximum.accumulate(times)
        if self.reached is not None:
            newest = np.maximum(newest, self.reached)
        in_time = times >= newest - self._lateness
        late = len(times) - int(np.count_nonzero(in_time))
        if late:
            rows, times = rows.filter(pa.array(in_time)), times[in_time]
        newest_row = int(times.max()) if len(times) else None
        piece = Piece(rows, times, batch.arrival)
        with HeldInterrupt():
            self.late += late
            if newest_row is not None:
                self.waiting.append(piece)
                self._before = before
            progress.came(int(newest[-1]), newest_row, batch.arrival)
            progress.forget(int(newest[-1]))
            self.reader.take(batch.rows.num_rows)

    def portion(self, most_rows: int) -> tuple[Piece, list[Piece]]:
        """Return at most so many of the rows that wait, and the pieces that are left."""
        pieces: list[Piece] = []
        left = [*self.waiting]
        room = most_rows
        while left and room:
            first, rest = left.pop(0).cut(room)
            pieces.append(first)
            room -= len(first.times)
            if len(rest.times):
                left.insert(0, rest)
        rows = pa.concat_tables([piece.rows for piece in pieces])
        times = np.concatenate([piece.times for piece in pieces])
        return Piece(rows, times, pieces[0].arrival), left

    def reached_before(self, moment: float) -> int | None:
        """Return the time that rows had reached before a moment, or silence until then."""
        arrival = self._progress.last_arrival
        if arrival is None:
            return self.reached
        return self._before if arrival >= moment else self._progress.passed(moment)

    def follow(self, time: int) -> None:
        """Go on to a time that another stream has reached, while this one is silent."""
        if self.reached is None or self.reached < time:
            self._progress.newest = time

    def is_silent(self, moment: float) -> bool:
        """Tell whether no row in time has come for `close_after`."""
        if self._close_after is None:
            return False
        return moment - self._last >= self._close_after

    def silent_from(self) -> float | None:
        """Return from when on it is silent if no row comes, or None."""
        return self._progress.idle_from()

    def reaches_at(self, time: int) -> float | None:
        """Return from when on `reached_before` is at least this time if no row comes, or None."""
        arrival = self._progress.last_arrival
        if arrival is None:
            return None
        if self.reached is not None and self.reached >= time:
            return nextafter(arrival, inf)
        return self._progress.passes_at(time)

    def completes(self, time: int) -> int:
        """Return the time that it has to reach so that all before this time is complete."""
        return time + self._lateness

    @property
    def _last(self) -> float:
        """Since when it may have been silent."""
        arrival = self._progress.last_arrival
        return self._since if arrival is None else arrival


class _EachTime:
    """For `Progress`: every time is an end, because there are no chunks."""

    def after(self, time: int) -> int:
        """Return the time itself: a silence ends nothing that is open."""
        return time

    def newest(self, time: int) -> int:
        """Return the time itself."""
        return time


class OrderedReading:
    """Reads the inputs of a query together, batch by batch."""

    __slots__ = ("_read_until", "inputs", "passes_by_clock")

    def __init__(self, inputs: Sequence[OrderedInput]) -> None:
        self.inputs = inputs
        self._read_until = -inf
        """The arrival of the newest batch that was read."""
        self.passes_by_clock = all(each.silent_from() is not None for each in inputs)
        """Whether time also passes without rows."""

    def read(self, most_rows: int, without: Set[int] = frozenset()) -> float | None:
        """Read batches of about so many rows; return the arrival of the last one, or None.

        At least one batch is read, if any waits, apart from the batches of inputs that have to wait
        for others.
        """
        rows, last = 0, None
        for number, batch in self._waiting(without):
            rows += batch.rows.num_rows
            if last is not None and rows > most_rows:
                break
            if batch.arrival >= self._read_until:  # otherwise the others are beyond its moment
                self._go_on(number, batch.arrival)
                self._read_until = batch.arrival
            self.inputs[number].take(batch)
            last = batch.arrival
        return last

    def advance(self, moment: float) -> None:
        """Let silent inputs go on until a moment; all batches from before it have been read."""
        for number in range(len(self.inputs)):
            self._go_on(number, moment)

    def completes_at(self, number: int, time: int) -> float | None:
        """Return when the clock alone makes all before a time complete for an input, or None."""
        each = self.inputs[number]
        silent = each.silent_from()
        if silent is None:
            return None
        moments = [other.reaches_at(each.completes(time)) for other in self.inputs]
        known = [moment for moment in moments if moment is not None]
        return max(silent, min(known)) if known else None

    def behind(self, number: int) -> int | None:
        """Return the least time that another input has reached; None if one has not begun."""
        others = [each.reached for other, each in enumerate(self.inputs) if other != number]
        known = [time for time in others if time is not None]
        return min(known) if len(known) == len(others) else None

    def _waiting(self, without: Set[int]) -> Iterator[tuple[int, Batch]]:
        """Return what waits in the order of arrival; of one moment, in the order of inputs."""
        waiting = [
            [(number, batch) for batch in each.reader.peek()]
            for number, each in enumerate(self.inputs)
            if number not in without
        ]
        return merge(*waiting, key=lambda item: (item[1].arrival, item[0]))

    def _go_on(self, number: int, moment: float) -> None:
        """Let an input go on if it is silent: by the clock, and with the others."""
        each = self.inputs[number]
        if not each.is_silent(moment):
            return
        reached = [other.reached_before(moment) for other in self.inputs]
        known = [time for time in reached if time is not None]
        if known:
            each.follow(max(known))
