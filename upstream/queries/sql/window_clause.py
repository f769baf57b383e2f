"""A window of a query, such as `hop(trades, INTERVAL '10 minutes', INTERVAL '1 minute')`.

Sizes are integers in the window's own unit: rows, or the unit of the stream's time column
(microseconds for a TIMESTAMP). Windows are aligned to zero of that unit, or to their offset from
it: window number i begins at `i * slide + offset` and is `size` long. All windows of a query
consist of *steps*: the basic windows of the DataCell paper, each gcd(size, slide) long.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import gcd

MICROSECONDS = 1_000_000
"""Microseconds per second."""


class WindowKind(StrEnum):
    """The table functions that name windows; STREAM is a stream without one, and VIEW a view."""

    TUMBLE = "tumble"
    HOP = "hop"
    ROWS = "rows"
    LATEST = "latest"
    LANDMARK = "landmark"
    SESSION = "session"
    EPOCHS = "epochs"
    STREAM = "stream"
    VIEW = "view"

    @property
    def noun(self) -> str:
        """The word for one of its windows in messages."""
        return "epoch" if self is WindowKind.EPOCHS else "window"


class Axis(StrEnum):
    """The scale of a window: the stream's time column, arrival, or the count of rows.

    ORDINAL is the scale of epochs that are not cut by time: their chunks are numbered 0, 1, 2, ….
    """

    SOURCE = "source"
    ARRIVAL = "arrival"
    ROWS = "rows"
    ORDINAL = "ordinal"


class Unit(StrEnum):
    """The unit of sizes: the axis' own unit, or months of the calendar."""

    PLAIN = "plain"
    MONTHS = "months"


class EpochCut(StrEnum):
    """What cuts a stream into epochs."""

    TIME = "time"
    COUNT = "count"
    OBJECT = "object"
    PUNCTUATION = "punctuation"


class PairingName(StrEnum):
    """Which chunks of several inputs of epochs meet."""

    NEWEST = "newest"
    NEWEST_WINDOW = "newest-window"
    WINDOW = "window"


@dataclass(frozen=True, slots=True)
class WindowClause:
    """One window function of a query, over one stream.

    `slide` is 0 if results come whenever they are requested (a landmark without a slide, latest, a
    stream without a window). `offset` shifts where windows begin. For a session, `size` is the gap
    that ends it. With months as `unit`, windows begin at midnight of a month's first day in `zone`,
    and `offset` is still in the axis' own unit. `rows` are those of `latest`, and `per` the columns
    of the groups of `latest` and of sessions. `answers_empty` asks for results of windows without
    rows. `expire_after` is the seconds after which a group leaves `latest` if no row has arrived
    for it.

    For epochs, `slide` is the length of one chunk, which is 1 on the axis ORDINAL, and `size` is
    that of the chunks that are kept. They are cut after `rows`, by the values of the columns `per`,
    or where `condition` holds, which is SQL over the columns of the stream. `pairing` is None if
    the query does not name one.
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
    expire_after: float | None = None
    condition: str = ""
    pairing: PairingName | None = None

    @property
    def step(self) -> int:
        """The length of a basic window; 0 if there are none."""
        return gcd(self.size, self.slide)

    @property
    def keep(self) -> int:
        """How many chunks of epochs are kept, with the current one."""
        assert self.kind is WindowKind.EPOCHS
        return self.size // self.slide

    @property
    def cut(self) -> EpochCut:
        """What cuts the stream into epochs."""
        assert self.kind is WindowKind.EPOCHS
        if self.axis is not Axis.ORDINAL:
            return EpochCut.TIME
        if self.condition:
            return EpochCut.PUNCTUATION
        return EpochCut.COUNT if self.rows else EpochCut.OBJECT
