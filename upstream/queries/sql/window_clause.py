"""A window of a query: `hop(trades, INTERVAL '10 minutes', INTERVAL '1 minute')` and its like.

Sizes are whole numbers of the window's own unit: rows, or the unit of the stream's time column
(microseconds for a TIMESTAMP). Windows are aligned to zero of that unit, or to their offset from
it: the window of number i begins at `i * slide + offset` and is `size` long. What all windows of a
query are made of are *steps*: the basic windows of the DataCell paper, of which each is
gcd(size, slide) long.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import gcd

MICROSECONDS = 1_000_000
"""So many there are in a second."""


class WindowKind(StrEnum):
    """The table functions that name windows; STREAM is a stream without one."""

    TUMBLE = "tumble"
    HOP = "hop"
    ROWS = "rows"
    LATEST = "latest"
    LANDMARK = "landmark"
    SESSION = "session"
    STREAM = "stream"


class Axis(StrEnum):
    """What a window is measured along: the stream's time column, arrival, or the count of rows."""

    SOURCE = "source"
    ARRIVAL = "arrival"
    ROWS = "rows"


class Unit(StrEnum):
    """What sizes are counted in: the axis' own unit, or months of the calendar."""

    PLAIN = "plain"
    MONTHS = "months"


@dataclass(frozen=True, slots=True)
class WindowClause:
    """One window function of a query, over one stream.

    `slide` is 0 where results come whenever they are asked for (a landmark without a slide, latest,
    a stream without a window). `offset` shifts where windows begin. Of a session, `size` is the gap
    that ends it. With months as `unit`, windows begin at midnight of a month's first day in `zone`,
    and `offset` is still in the axis' own unit. `rows` are those of `latest`, and `per` the columns
    of the groups of `latest` and of sessions. `answers_empty` asks for results of windows in which
    nothing came.
    """

    kind: WindowKind
    stream: str
    axis: Axis = Axis.ROWS
    size: int = 0
    slide: int = 0
    rows: int = 0
    per: tuple[str, ...] = ()
    offset: int = 0
    unit: Unit = Unit.PLAIN
    zone: str | None = None
    answers_empty: bool = False

    @property
    def step(self) -> int:
        """How long a basic window is; 0 where there are none."""
        return gcd(self.size, self.slide)
