"""How far time has got for one input of a query, since when, and what moves it.

Time passes with the rows of the stream. Along arrival it passes with the clock. With `close_after`
it does so too once the stream has been silent for so long: then the open slide is over, and time
goes on from the newest row as the clock does.
"""

from __future__ import annotations

from bisect import bisect_left
from math import inf, nextafter
from typing import Protocol

from ..sql.window_clause import Axis
from .cutter import MICROSECONDS, microseconds
from .grid import FOREVER


class Ends(Protocol):
    """When windows end."""

    def after(self, time: int) -> int:
        """Return the first end after a time."""

    def newest(self, time: int) -> int | None:
        """Return the newest end by a time, in any numbers that ascend; None if there is none."""


class Progress:
    """How far time has got for one input. `since` is when the query was made."""

    __slots__ = (
        "_ends",
        "_newest_row",
        "_noted_end",
        "_seconds_per_unit",
        "_since",
        "axis",
        "close_after",
        "closings",
        "last_arrival",
        "newest",
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
        """After so many seconds without a row time passes by the clock."""
        self.passes_by_clock = close_after is not None or axis is Axis.ARRIVAL
        """Whether time passes without rows as well."""
        self._ends = ends
        self._seconds_per_unit = seconds_per_unit
        self._since = since
        self.closings: list[tuple[int, float]] = []
        """When rows first passed what: for each moment at which a window was closed."""
        self._noted_end: int | None = None
        self._newest_row: int | None = None
        self.newest: int | None = None
        """How far rows, or silence, have come."""
        self.last_arrival: float | None = None
        """When the newest batch came that had a row in time."""

    def came(self, progress: int | None, newest: int | None, arrival: float) -> None:
        """Learn that a batch came: how far time has come, and the newest row that is in time."""
        self.newest = progress
        if newest is None:  # rows that are all too late are as good as silence
            return
        self._newest_row = newest if self._newest_row is None else max(newest, self._newest_row)
        self.last_arrival = arrival
        if self._ends is not None:
            passed = self._passed_by_rows()
            end = self._ends.newest(passed)
            if end is not None and (self._noted_end is None or end > self._noted_end):
                self._noted_end = end
                self.closings.append((passed, arrival))

    def passed(self, now: float) -> int | None:
        """Return up to where time has passed: windows that end there or before are closed."""
        if self.axis is Axis.ARRIVAL:
            return microseconds(now)
        if self._newest_row is None:
            is_absent = self.close_after is not None and now - self._since >= self.close_after
            return FOREVER if is_absent else None  # a stream that never began holds nothing up
        if self.is_silent(now):
            self.newest = max(self.newest or 0, self._passed_in_silence(now))
        return self._passed_by_rows()

    def is_silent(self, now: float) -> bool:
        """Tell whether the stream was silent for so long that time passes by the clock."""
        return (
            self.close_after is not None
            and self.last_arrival is not None
            and now - self.last_arrival >= self.close_after
        )

    def passes_at(self, time: int) -> float | None:
        """Return when a time will have passed without a further row, if ever."""
        if self.axis is Axis.ARRIVAL:
            return time / MICROSECONDS
        if self.close_after is None:
            return None
        if self._newest_row is None or self.last_arrival is None:
            return self._since + self.close_after
        if self._newest_row >= time:
            return self._closed_at(time) or self.last_arrival
        silence = (time - self._newest_row) * self._seconds_per_unit
        if time <= self._open_slide_end():
            silence = 0.0
        moment = self.last_arrival + max(self.close_after, silence)
        while not (self.is_silent(moment) and self._passed_in_silence(moment) >= time):
            moment = nextafter(moment, inf)  # the sum was rounded: what is due must be so by then
        return moment

    def passed_at(self, time: int, now: float) -> float:
        """Return the moment at which a time had passed, which it has by now."""
        if self._newest_row is not None and self.axis is not Axis.ARRIVAL:
            moment = self._closed_at(time)
            if moment is not None:
                return moment
        moment = self.passes_at(time)
        return now if moment is None else min(moment, now)

    def forget(self, before: int) -> None:
        """Say that times before this are not asked for any more."""
        at = min(bisect_left(self.closings, (before,)), len(self.closings) - 1)
        if at > 0:
            del self.closings[:at]

    def _closed_at(self, time: int) -> float | None:
        """Return when rows first passed a time, if they have. O(log closings)."""
        at = bisect_left(self.closings, (time,))
        return self.closings[at][1] if at < len(self.closings) else None

    def _passed_by_rows(self) -> int:
        assert self.newest is not None
        return self.newest + 1 if self.axis is Axis.ROWS else self.newest

    def _open_slide_end(self) -> int:
        """Return the first end of a window after the newest row."""
        assert self._newest_row is not None
        assert self._ends is not None
        return self._ends.after(self._newest_row)

    def _passed_in_silence(self, now: float) -> int:
        assert self._newest_row is not None
        assert self.last_arrival is not None
        silence = (now - self.last_arrival) / self._seconds_per_unit
        return max(self._open_slide_end(), self._newest_row + int(silence))
