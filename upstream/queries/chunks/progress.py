"""How far time has passed for one input of a query, since when, and why.

Time passes with the rows of the stream. Along arrival it passes with the clock. With `close_after`
it also passes with the clock once the stream has been silent for that long: then the open slide is
over, and time continues from the newest row as the clock does.
"""

from __future__ import annotations

from bisect import bisect_left
from math import inf, nextafter
from typing import Protocol

from ..sql.window_clause import Axis
from .cutter import MICROSECONDS, microseconds
from .grid import FOREVER


class Ends(Protocol):
    """Gives the ends of windows."""

    def after(self, time: int) -> int:
        """Return the first end after a time."""

    def newest(self, time: int) -> int | None:
        """Return the newest end by a time, as any ascending number; None if there is none."""


class Progress:
    """How far time has passed for one input. `since` is when the query was created."""

    __slots__ = (
        "_ends",
        "_noted_end",
        "_seconds_per_unit",
        "_since",
        "axis",
        "close_after",
        "closings",
        "last_arrival",
        "newest",
        "newest_row",
        "passes_by_clock",
    )

    def __init__(
        self,
        axis: Axis,
        ends: Ends | None,
        *,
        seconds_per_unit: float = 1.0,
        close_after: float | None = None,
        since: float = 0.0,
    ) -> None:
        self.axis = axis
        self.close_after = close_after
        """After this many seconds without a row, time passes by the clock."""
        self.passes_by_clock = close_after is not None or axis is Axis.ARRIVAL
        """Whether time also passes without rows."""
        self._ends = ends
        self._seconds_per_unit = seconds_per_unit
        self._since = since
        self.closings: list[tuple[int, float]] = []
        """For each moment at which rows closed windows: the time that they passed, and the
        moment."""
        self._noted_end: int | None = None
        self.newest_row: int | None = None
        """The time of the newest row."""
        self.newest: int | None = None
        """The time that rows, or silence, have reached."""
        self.last_arrival: float | None = None
        """When the newest batch with a row in time arrived."""

    def came(self, progress: int | None, newest: int | None, arrival: float) -> None:
        """Note that a batch arrived.

        How far time has passed, and the newest row that is in time.
        """
        self.newest = progress
        if newest is None:  # rows that are all too late do not end a silence
            return
        self.newest_row = newest if self.newest_row is None else max(newest, self.newest_row)
        self.last_arrival = arrival
        self._note_closing(arrival)

    def _note_closing(self, arrival: float) -> None:
        """Note when time passed the ends of windows."""
        if self._ends is not None:
            passed = self._passed_by_rows()
            end = self._ends.newest(passed)
            if end is not None and (self._noted_end is None or end > self._noted_end):
                self._noted_end = end
                self.closings.append((passed, arrival))

    def passed(self, now: float) -> int | None:
        """Return the time that has passed: windows that end by then are closed."""
        passed = self.would_pass(now)
        if self.newest_row is not None and self.is_silent(now):
            self.newest = passed
        return passed

    def would_pass(self, now: float) -> int | None:
        """Return the time that will have passed at a moment if no row comes until then."""
        if self.axis is Axis.ARRIVAL:
            return microseconds(now)
        if self.newest_row is None:
            is_absent = self.close_after is not None and now - self._since >= self.close_after
            return FOREVER if is_absent else None  # a stream that has no row yet delays nothing
        passed = self._passed_by_rows()
        return max(passed, self._passed_in_silence(now)) if self.is_silent(now) else passed

    def idle_from(self) -> float | None:
        """Return the moment from which on it is silent if no row comes, or None."""
        if self.close_after is None or self.axis is Axis.ARRIVAL:
            return None
        last = self._since if self.last_arrival is None else self.last_arrival
        moment = last + self.close_after
        while moment - last < self.close_after:  # the sum was rounded
            moment = nextafter(moment, inf)
        return moment

    def raise_to(self, time: int, *, since: float) -> None:
        """Note that time has passed without this input: rows before it are late from now on.

        Nothing has waited for this input since a moment.
        """
        if self.newest is None or time > self.newest:
            self.newest = time
            self._note_closing(since)

    def punctuated(self, passed: int, arrival: float) -> None:
        """Note that the source ended the open chunk: so far has time passed."""
        self.newest = passed
        if self.axis is Axis.ORDINAL:  # a chunk that ended without rows counts as well
            self.newest_row = passed - 1
            self.last_arrival = arrival
        self._note_closing(arrival)

    def is_silent(self, now: float) -> bool:
        """Tell whether the stream was silent for so long that time passes by the clock."""
        return (
            self.close_after is not None
            and self.last_arrival is not None
            and now - self.last_arrival >= self.close_after
        )

    def passes_at(self, time: int) -> float | None:
        """Return when a time will have passed without further rows, or None if it never will."""
        if self.axis is Axis.ARRIVAL:
            return time / MICROSECONDS
        if self.close_after is None:
            return None
        if self.newest_row is None or self.last_arrival is None:
            return self._since + self.close_after
        if self.newest_row >= time:
            return self._closed_at(time) or self.last_arrival
        silence = (time - self.newest_row) * self._seconds_per_unit
        if time <= self._open_slide_end():
            silence = 0.0
        elif self.axis is Axis.ORDINAL:
            return None  # no time passes between chunks that are numbered in the order of arrival
        moment = self.last_arrival + max(self.close_after, silence)
        while not (self.is_silent(moment) and self._passed_in_silence(moment) >= time):
            # the sum was rounded; at a moment that is due, the time must have passed
            moment = nextafter(moment, inf)
        return moment

    def passed_at(self, time: int, now: float) -> float:
        """Return the moment at which a time passed, which it has by now."""
        if self.newest_row is not None and self.axis is not Axis.ARRIVAL:
            moment = self._closed_at(time)
            if moment is not None:
                return moment
        moment = self.passes_at(time)
        return now if moment is None else min(moment, now)

    def forget(self, before: int) -> None:
        """Forget times before this one."""
        at = min(bisect_left(self.closings, (before,)), len(self.closings) - 1)
        if at > 0:
            del self.closings[:at]

    def _closed_at(self, time: int) -> float | None:
        """Return when rows first passed a time, or None if they have not. O(log closings)."""
        at = bisect_left(self.closings, (time,))
        return self.closings[at][1] if at < len(self.closings) else None

    def _passed_by_rows(self) -> int:
        assert self.newest is not None
        return self.newest + 1 if self.axis is Axis.ROWS else self.newest

    def _open_slide_end(self) -> int:
        """Return the first end of a window after the newest row."""
        assert self.newest_row is not None
        assert self._ends is not None
        return self._ends.after(self.newest_row)

    def _passed_in_silence(self, now: float) -> int:
        assert self.newest_row is not None
        assert self.last_arrival is not None
        if self.axis is Axis.ORDINAL:
            return self._open_slide_end()
        silence = (now - self.last_arrival) / self._seconds_per_unit
        return max(self._open_slide_end(), self.newest_row + int(silence))
