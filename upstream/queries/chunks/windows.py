"""The windows of a query, counted in chunks: which chunks each covers, and where windows end.

A window is identified by its end: the number of the chunk after its last one. At each end of a
window of any input the query has a result, over the newest window of every input that has ended by
then.

    chunks       |0 |1 |2 |3 |4 |5 |        slide 1, size 3, and slide 2, size 2
    ends at 3    [--------)
                       [-----) ends at 4: with the window [1, 4) of the other input
    ends at 4       [--------)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .grid import Grid


class Span(NamedTuple):
    """The chunks in `[first, end)`."""

    first: int
    end: int


Spans = tuple[Span, ...]
"""The chunks of a window by input."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of one input. They are `size` chunks long, and one of them begins at `phase`.

    The slide may be longer than the size. Then some chunks are in no window.
    """

    size: int
    slide: int
    phase: int = 0
    earliest: int | None = None
    """The end of the first possible window, or None if there is no first one."""

    def at(self, end: int) -> Span:
        """Return the newest window that ends at `end` or before."""
        first = end - self.size - (end - self.size - self.phase) % self.slide
        return Span(first, first + self.size)

    def end_after(self, chunk: int) -> int:
        """Return the first end that is greater.

        This is the end of the oldest window with this chunk or, if it is in none, of the next
        window.
        """
        return self._from(chunk + 1)

    def newest_end(self, chunk: int) -> int | None:
        """Return the greatest end that is not greater, or None if there can be no window."""
        end = self.at(chunk).end
        return None if self.earliest is not None and end < self.earliest else end

    def leaving(self, chunk: int) -> int:
        """Return the end of the first window after those that contain a chunk."""
        return self._from(chunk + self.size + 1)

    def covers(self, chunk: int) -> bool:
        """Tell whether a chunk is in any window."""
        return (chunk - self.phase) % self.slide < self.size

    def _from(self, end: int) -> int:
        """Return the first end that is not before this one."""
        end += (self.phase + self.size - end) % self.slide
        return end if self.earliest is None else max(end, self.earliest)


class Schedule:
    """When a query is answered, and over which chunks of each input."""

    __slots__ = ("gapped", "is_even", "windows")

    def __init__(self, windows: Sequence[Windows]) -> None:
        self.windows = tuple(windows)
        """The windows of each input."""
        self.is_even = all(each == self.windows[0] for each in self.windows)
        """Whether the inputs have the same windows."""
        self.gapped = tuple(each if each.slide > each.size else None for each in windows)
        """The windows of each input that has chunks which are in no window; otherwise None."""

    def at(self, end: int) -> Spans:
        """Return the window of each input that is used at an end."""
        if self.is_even:
            return (self.windows[0].at(end),) * len(self.windows)
        return tuple(each.at(end) for each in self.windows)

    def end_after(self, chunk: int) -> int:
        """Return the first end that is greater."""
        if self.is_even:
            return self.windows[0].end_after(chunk)
        return self._not_early(min(each.end_after(chunk) for each in self.windows))

    def newest_end(self, chunk: int) -> int | None:
        """Return the greatest end that is not greater, or None if there can be no window."""
        if self.is_even:
            return self.windows[0].newest_end(chunk)
        ends = [each.newest_end(chunk) for each in self.windows]
        known = [end for end in ends if end is not None]
        return max(known) if len(known) == len(ends) else None

    def end_covering(self, number: int, chunk: int) -> int:
        """Return the first end whose window of this input has a chunk, or else the next end."""
        end = self.windows[number].end_after(chunk)
        return end if self.is_even else self._not_early(end)

    def ends_between(self, first: int, end: int) -> int:
        """Return how many ends there are between two ends.

        All inputs must have the same windows, or windows that end with each chunk.
        """
        assert self.is_even or all(each.slide == 1 for each in self.windows)
        return (end - first) // self.windows[0].slide - 1

    def ends_with(self, number: int, chunk: int) -> list[int]:
        """Return the ends whose window of this input contains a chunk."""
        found = []
        end = self.end_covering(number, chunk)
        leaving = self.windows[number].leaving(chunk)
        while end < leaving:
            if chunk < self.windows[number].at(end).end:
                found.append(end)
            end = self.end_after(end)
        return found

    def _not_early(self, end: int) -> int:
        """Return an end, or the first at which all inputs have a window."""
        return max([end, *(each.earliest for each in self.windows if each.earliest is not None)])


class EndTimes:
    """The ends of windows as times."""

    __slots__ = ("_grid", "_schedule")

    def __init__(self, grid: Grid, schedule: Schedule) -> None:
        self._grid = grid
        self._schedule = schedule

    def after(self, time: int) -> int:
        """Return the first end after a time."""
        return self._grid.start_of(self._schedule.end_after(self._grid.chunk_of(time)))

    def newest(self, time: int) -> int | None:
        """Return the newest end by a time, as any ascending number; None if there is none."""
        return self._schedule.newest_end(self._grid.chunk_of(time))
