"""One window function of a query: what it has read of its stream, and up to where time has passed.

Time passes with the rows of the stream. Along arrival it passes with the clock. With `close_after`
it does so too once the stream has been silent for so long: then the open slide is over, and time
goes on from the newest row as the clock does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, nextafter
from typing import TYPE_CHECKING, Final

from ..sql.window_clause import Axis, WindowKind
from .cutting import MICROSECONDS, Cut, Cutter, microseconds
from .timeline import ClosingLog

if TYPE_CHECKING:
    from ...rows.stream_definition import StreamDefinition
    from ...tables.log import Batch, LogReader
    from ..sql.window_clause import WindowClause

FOREVER: Final = 1 << 62


def passed_by_all(inputs: Sequence[WindowInput], now: float) -> int | None:
    """Return up to where time has passed for all inputs, None if it has not begun for one."""
    if len(inputs) == 1:
        return inputs[0].passed(now)
    passed = [window_input.passed(now) for window_input in inputs]
    known = [each for each in passed if each is not None]
    return min(known) if len(known) == len(passed) else None


def passed_by_all_at(inputs: Sequence[WindowInput], end: int, now: float) -> float:
    """Return the moment at which time had passed `end` for all inputs, which it has by now."""
    return max(window_input.passed_at(end, now) for window_input in inputs)


def passes_for_all_at(inputs: Sequence[WindowInput], end: int) -> float | None:
    """Return when time will have passed `end` for all inputs without a further row, if ever."""
    moments = [window_input.passes_at(end) for window_input in inputs]
    known = [moment for moment in moments if moment is not None]
    return max(known) if len(known) == len(moments) else None


class WindowInput:
    """Reads a stream for one window function."""

    __slots__ = (
        "_close_after",
        "_counted_rows",
        "_counted_step",
        "_cutter",
        "_definition",
        "_ends_passed",
        "_last_arrival",
        "_log",
        "_newest_row",
        "_origin",
        "_since",
        "_slide",
        "axis",
        "clause",
        "late",
        "reader",
        "step_rows",
    )

    def __init__(
        self,
        clause: WindowClause,
        definition: StreamDefinition,
        reader: LogReader,
        *,
        lateness: int | None = None,
        close_after: float | None = None,
        since: float = 0.0,
    ) -> None:
        self.clause = clause
        self.axis = clause.axis
        self.reader = reader
        self.late = 0
        """How many rows came too late."""
        self._definition = definition
        if clause.kind is WindowKind.LANDMARK:
            lateness = FOREVER  # nothing has left, so nothing is too late
        self._cutter = Cutter(clause.step or FOREVER, lateness)
        self._close_after = close_after
        self._origin = reader.position
        self._since = since
        self._log = ClosingLog()
        self._newest_row: int | None = None
        self._ends_passed: int | None = None
        self._last_arrival: float | None = None
        self._slide = clause.slide
        self._counted_step: int | None = None
        self._counted_rows = 0
        self.step_rows = 0
        """How many rows the newest complete step had."""

    def take_in(self, now: float) -> Iterator[Cut]:
        """Read what waits."""
        for batch in self.reader.peek():
            self.passed(batch.arrival)  # rows of a slide that silence has closed come too late
            cut = self._cut(batch)
            self.late += cut.late
            self.reader.take(batch.rows.num_rows)
            if cut.pieces:  # rows that are all too late are as good as silence
                newest = cut.newest if self._newest_row is None else self._newest_row
                self._newest_row = max(newest, cut.newest)
                self._last_arrival = batch.arrival
                self._note_closing(batch.arrival)
                self._count(cut)
            yield cut

    def passed(self, now: float) -> int | None:
        """Return up to where time has passed: windows that end there or before are closed."""
        if self.axis is Axis.ARRIVAL:
            return microseconds(now)
        if self._newest_row is None:
            is_absent = self._close_after is not None and now - self._since >= self._close_after
            return FOREVER if is_absent else None  # nobody waits for a stream that never began
        if self.is_silent(now):
            self._cutter.newest = max(self._cutter.newest or 0, self._passed_in_silence(now))
        return self._passed_by_rows()

    def is_silent(self, now: float) -> bool:
        """Tell whether the stream was silent for so long that time passes by the clock."""
        return (
            self._close_after is not None
            and self._last_arrival is not None
            and now - self._last_arrival >= self._close_after
        )

    def passes_at(self, end: int) -> float | None:
        """Return when time will have passed `end` without a further row, if ever."""
        if self.axis is Axis.ARRIVAL:
            return end / MICROSECONDS
        if self._close_after is None:
            return None
        if self._newest_row is None or self._last_arrival is None:
            return self._since + self._close_after
        if self._newest_row >= end:
            return self._log.moment_of(end) or self._last_arrival
        silence = (end - self._newest_row) * self._definition.seconds_per_unit
        if end <= self._open_slide_end():
            silence = 0.0
        moment = self._last_arrival + max(self._close_after, silence)
        while not (self.is_silent(moment) and self._passed_in_silence(moment) >= end):
            moment = nextafter(moment, inf)  # the sum was rounded: what is due must be so by then
        return moment

    def passed_at(self, end: int, now: float) -> float:
        """Return the moment at which time passed `end`, which it has by now."""
        if self._newest_row is not None and self.axis is not Axis.ARRIVAL:
            moment = self._log.moment_of(end)
            if moment is not None:
                return moment
        moment = self.passes_at(end)
        return now if moment is None else min(moment, now)

    @property
    def newest(self) -> int | None:
        """How far the rows of the stream, or its silence, have come."""
        return self._cutter.newest

    @property
    def last_arrival(self) -> float:
        """When the newest batch came."""
        assert self._last_arrival is not None
        return self._last_arrival

    def open_step(self) -> int | None:
        """Return the step that rows may still come for without being late."""
        newest = self._cutter.newest
        return None if newest is None else newest // self.clause.step

    def expected_rows(self) -> int:
        """Return how many rows the open step will have at least, by the one before it."""
        return max(self.step_rows, self._counted_rows)

    def forget(self, before: int) -> None:
        """Say that ends before this are not asked for any more."""
        self._log.forget(before)

    def _cut(self, batch: Batch) -> Cut:
        if self.axis is Axis.ROWS:
            return self._cutter.cut_counted(batch.rows, batch.first - self._origin)
        if self.axis is Axis.ARRIVAL:
            return self._cutter.cut_one(batch.rows, microseconds(batch.arrival))
        return self._cutter.cut(batch.rows, self._definition.times(batch.rows))

    def _note_closing(self, moment: float) -> None:
        """Note when time passed the end of a window, for one window at least."""
        if not self._slide:
            return
        passed = self._passed_by_rows()
        ends = (passed - self.clause.size) // self._slide
        if self._ends_passed is None or ends > self._ends_passed:
            self._ends_passed = ends
            self._log.note(passed, moment)

    def _count(self, cut: Cut) -> None:
        """Count the rows of the newest step, to know how many the next will have."""
        for step, rows in cut.pieces[-2:]:
            if step == self._counted_step:
                self._counted_rows += rows.num_rows
            elif self._counted_step is None or step > self._counted_step:
                self.step_rows = self._counted_rows
                self._counted_step, self._counted_rows = step, rows.num_rows

    def _passed_by_rows(self) -> int:
        newest = self._cutter.newest
        assert newest is not None
        return newest + 1 if self.axis is Axis.ROWS else newest

    def _open_slide_end(self) -> int:
        """Return the first end of a window after the newest row."""
        assert self._newest_row is not None
        slide = self._slide
        offset = self.clause.size % slide
        return ((self._newest_row - offset) // slide + 1) * slide + offset

    def _passed_in_silence(self, now: float) -> int:
        assert self._newest_row is not None
        assert self._last_arrival is not None
        silence = (now - self._last_arrival) / self._definition.seconds_per_unit
        return max(self._open_slide_end(), self._newest_row + int(silence))
