"""How the rows of a stream arrive at one window function of a query: one after the other.

Times are whole numbers of the time column's unit: microseconds for a TIMESTAMP. Rows have the order
of their steps, and within a step that of their arrival.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

import pyarrow as pa

FIXED = ("tumble", "hop")
LASTING = ("landmark", "latest", "stream")
NEVER = -(1 << 62)
MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class StreamOf:
    """A stream: its columns, the one that has the time, and the key that it is updated by."""

    name: str
    schema: pa.Schema
    time: str | None
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A window function of a query; its sizes in the unit of its axis.

    Windows begin at multiples of the slide, or `offset` later; over rows at the first one.
    """

    kind: str
    stream: str
    size: int = 0
    slide: int = 0
    rows: int = 0
    per: tuple[str, ...] = ()
    by_arrival: bool = False
    offset: int = 0

    def newest_by(self, end: int) -> tuple[int, int]:
        """Return the newest window that ends there or before."""
        start = (end - self.size - self.offset) // self.slide * self.slide + self.offset
        return start, start + self.size

    def next_end(self, place: int) -> int:
        """Return the first end of a window after this place."""
        return self.newest_by(place)[1] + self.slide


@dataclass(frozen=True, slots=True)
class Standing:
    """A standing query: its text has {0}, {1}, … where its window functions are."""

    template: str
    windows: tuple[Window, ...]
    semantics: str = "append"
    is_row_wise: bool = False
    allowed_lateness: int | None = None
    close_after: float | None = None

    @property
    def step(self) -> int:
        """How long the pieces are in which time passes; 0 where it is not cut."""
        first, *others = self.windows
        offsets = (each.offset - first.offset for each in others)
        return gcd(*(n for each in self.windows for n in (each.size, each.slide)), *offsets)

    def step_of(self, place: int) -> int:
        """Return in which piece a place of the axis is."""
        return (place - self.windows[0].offset) // self.step if self.step else 0

    def next_end(self, place: int) -> int:
        """Return the first end of any window after this place, at which the query is answered."""
        return max(min(each.next_end(place) for each in self.windows), self.first_end)

    @property
    def first_end(self) -> int:
        """The first end there is: over rows, once each window function has a full window."""
        is_over_rows = self.windows[0].kind == "rows"
        return max(each.size for each in self.windows) if is_over_rows else NEVER

    def spans(self, end: int) -> list[tuple[int, int]]:
        """Return the window of each window function that is answered about at an end."""
        return [each.newest_by(end) for each in self.windows]


@dataclass(frozen=True, slots=True)
class Row:
    """A row that was accepted: where it is on the axis, and the how many-th that came."""

    place: int
    step: int
    number: int
    arrival: float


class Arrivals:
    """The rows of a stream as one window function of a query sees them."""

    def __init__(self, window: Window, stream: StreamOf, standing: Standing) -> None:
        self.window = window
        self.standing = standing
        self.stream = stream
        self.lateness = standing.allowed_lateness
        self.close_after = standing.close_after
        self.newest = NEVER  # up to where time has passed, by rows or silence
        self.tables: list[pa.Table] = [stream.schema.empty_table()]
        self.rows: list[Row] = []
        self.amended: set[int] = set()  # where rows are that were accepted though they came late
        self.moments: list[tuple[int, float]] = []  # up to where time passed, and when it did
        self.late = 0
        self.came = 0
        self.last_arrival = 0.0
        self.newest_row = NEVER

    def append(self, rows: pa.Table, arrival: float) -> None:
        """Let rows arrive."""
        self.tables.append(rows)
        for time in times_of(rows, self.stream.time):
            self._arrive(time, arrival)

    def _arrive(self, time: int, arrival: float) -> None:
        """Let a row arrive; it is dropped if it is late."""
        self.passed(arrival)
        number, self.came = self.came, self.came + 1
        kind = self.window.kind
        if kind == "rows":
            place = number
        else:
            place = round(arrival * MICROSECONDS) if self.window.by_arrival else time
        if kind in FIXED and not self._is_in_time(place):
            self.late += 1
            return
        self.newest = max(self.newest, place)
        self.newest_row = max(self.newest_row, place)
        self.last_arrival = arrival
        self.rows.append(Row(place, self.standing.step_of(place), number, arrival))
        self.moments.append((self.passed(arrival), arrival))

    def _is_in_time(self, place: int) -> bool:
        step_of = self.standing.step_of
        if self.newest == NEVER or step_of(place) >= step_of(self.newest):
            return True
        if self.lateness is None or place < self.newest - self.lateness:
            return False
        self.amended.add(place)
        return True

    def passed(self, now: float) -> int:
        """Return up to where this window's time has passed by a moment of the clock.

        Silence closes the open slide, and from then on time passes as the clock does, from the
        newest row. Rows that are too late are as good as silence.
        """
        window = self.window
        if window.kind == "rows":
            return self.came
        if window.by_arrival:
            self.newest = max(self.newest, round(now * MICROSECONDS))
        if self.newest == NEVER:
            return NEVER
        silence = now - self.last_arrival
        if self.close_after is not None and silence >= self.close_after:
            clock = self.newest_row + round(silence * MICROSECONDS)
            self.newest = max(self.newest, self.standing.next_end(self.newest_row), clock)
        return self.newest

    def closed_at(self, end: int) -> float:
        """Return when a window with this end was closed, if not by silence."""
        if self.window.by_arrival:
            return end / MICROSECONDS
        return next(moment for passed, moment in self.moments if passed >= end)

    def taken(self, wanted: Callable[[Row], bool]) -> pa.Table:
        """Return the rows for which this holds, in the order that they have."""
        rows = sorted(filter(wanted, self.rows), key=lambda row: (row.step, row.number))
        return pa.concat_tables(self.tables).take(
            pa.array([row.number for row in rows], pa.int64())
        )

    def newest_by(self, columns: tuple[str, ...], count: int) -> set[int]:
        """Return the numbers of the newest rows for each key; of equal times the last came last."""
        table = pa.concat_tables(self.tables)
        keys = list(zip(*(table[column].to_pylist() for column in columns), strict=True))
        of_key: dict[tuple[object, ...], list[Row]] = {}
        for row in sorted(self.rows, key=lambda row: (row.place, row.number)):
            of_key.setdefault(keys[row.number], []).append(row)
        return {row.number for rows in of_key.values() for row in rows[-count:]}

    def ends_with(self, place: int) -> list[int]:
        """Return the ends at which a row at this place of the axis counts."""
        found = []
        end = max(self.window.next_end(place), self.standing.first_end)
        while self.window.newest_by(end)[0] <= place:
            if place < self.window.newest_by(end)[1]:
                found.append(end)
            end = self.standing.next_end(end)
        return found


def times_of(rows: pa.Table, column: str | None) -> list[int]:
    """Return the times of rows in the unit of their column; of equal times without a column."""
    if column is None:
        return [0] * rows.num_rows
    times: list[int] = rows[column].cast(pa.int64()).to_pylist()
    return times
