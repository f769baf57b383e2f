"""Where chunks begin along an axis of time: at equal distances, or at the months of a calendar.

All windows of a query consist of chunks of one grid (the basic windows of the DataCell paper). So
only the grid knows lengths of time. Everything else uses the numbers of chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol
from zoneinfo import ZoneInfo

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

FOREVER: Final = 1 << 62
"""Later than any time, and greater than the number of any chunk."""
_MONTHS_PER_YEAR: Final = 12
_EPOCH_YEAR: Final = 1970
_CALENDAR_YEARS: Final = range(2, 9999)
"""The years for which Python's calendar has time zones."""


class Grid(Protocol):
    """The chunks of an axis. Chunk n is `[start_of(n), start_of(n + 1))`."""

    def chunk_of(self, time: int) -> int:
        """Return the chunk that contains a time; FOREVER is in the chunk FOREVER only."""

    def chunks_of(self, times: Integers) -> Integers:
        """Return the chunk of each time."""

    def start_of(self, chunk: int) -> int:
        """Return the time at which a chunk begins."""

    def starts(self, first: int, last: int) -> Integers:
        """Return where the chunks from `first` to `last` begin."""


@dataclass(frozen=True, slots=True)
class EvenGrid:
    """Chunks of one length; one of them begins at `origin`."""

    length: int
    origin: int = 0

    def chunk_of(self, time: int) -> int:
        """Return the chunk that contains a time."""
        return FOREVER if time >= FOREVER else (time - self.origin) // self.length

    def chunks_of(self, times: Integers) -> Integers:
        """Return the chunk of each time."""
        return (times - self.origin) // self.length if self.origin else times // self.length

    def start_of(self, chunk: int) -> int:
        """Return the time at which a chunk begins."""
        return chunk * self.length + self.origin

    def starts(self, first: int, last: int) -> Integers:
        """Return where the chunks from `first` to `last` begin."""
        return np.arange(first, last + 1) * self.length + self.origin


@dataclass(frozen=True, slots=True)
class MonthGrid:
    """Chunks of whole months, which begin at midnight of a first day in a time zone.

    `unit` is NumPy's name of the axis' unit, such as "us". Without a `zone`, months are those of
    UTC. Chunks begin `offset` units later.
    """

    months: int
    unit: str
    zone: str | None = None
    offset: int = 0

    def chunk_of(self, time: int) -> int:
        """Return the chunk that contains a time."""
        return FOREVER if time >= FOREVER else int(self.chunks_of(np.array([time]))[0])

    def chunks_of(self, times: Integers) -> Integers:
        """Return the chunk of each time. O(times * log months between them)."""
        if not len(times):
            return times
        extremes = np.array([times.min(), times.max()]) - self.offset
        months = extremes.view(f"datetime64[{self.unit}]").astype("datetime64[M]").astype(np.int64)
        first, last = (months // self.months).tolist()
        starts = self.starts(first - 1, last + 1)  # the offset of a time zone is at most a day
        found: Integers = np.searchsorted(starts, times, side="right") - 1 + (first - 1)
        return found

    def start_of(self, chunk: int) -> int:
        """Return the time at which a chunk begins."""
        return _start_of_month(chunk * self.months, self.unit, self.zone) + self.offset

    def starts(self, first: int, last: int) -> Integers:
        """Return where the chunks from `first` to `last` begin."""
        return np.array([self.start_of(chunk) for chunk in range(first, last + 1)])


@lru_cache(maxsize=4_096)
def _start_of_month(month: int, unit: str, zone: str | None) -> int:
    """Return when a month begins, counted from January 1970."""
    start = np.datetime64(month, "M")
    year, of_year = divmod(month, _MONTHS_PER_YEAR)
    if zone is not None and year + _EPOCH_YEAR in _CALENDAR_YEARS:
        local = datetime(year + _EPOCH_YEAR, of_year + 1, 1, tzinfo=ZoneInfo(zone))
        start = np.datetime64(local.astimezone(UTC).replace(tzinfo=None), "us")
    return int(start.astype(f"datetime64[{unit}]").astype(np.int64))
