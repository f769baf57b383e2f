"""What standing queries mean, worked out row by row and as plainly as can be.

Nothing here comes from the engine, and nothing is incremental. Rows arrive one by one at each
window of a query, which finds the late ones. What has come is kept for ever, in a plain table of
DuckDB; a window is evaluated by running the query over `WHERE time >= start AND time < end` of it.

Times are whole numbers of the time column's unit: microseconds for a TIMESTAMP. The rows of a
window are in the order of their steps, and within a step in that of their arrival; so are those of
which `first`, `last`, a mode or an `arg_max` has to choose one.
"""

# ruff: noqa: S608 (no text of a user is in these queries)

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import gcd

import duckdb
import pyarrow as pa

FIXED = ("tumble", "hop")
LASTING = ("landmark", "latest", "stream")
OURS = ("__place", "__step", "__position")  # columns that rows have here beside their own
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
    """A window function of a query; its sizes in the unit of its axis."""

    kind: str
    stream: str
    size: int = 0
    slide: int = 0
    rows: int = 0
    per: tuple[str, ...] = ()
    by_arrival: bool = False

    @property
    def step(self) -> int:
        """How long the pieces are in which time passes for this window."""
        return gcd(self.size, self.slide)

    def starts(self, place: int) -> range:
        """Return where the windows start that hold a row at this place of the axis."""
        first = (place - self.size) // self.slide + 1
        return range(first * self.slide, place // self.slide * self.slide + 1, self.slide)

    def next_end(self, place: int) -> int:
        """Return the first end of a window after this place."""
        return (place - self.size) // self.slide * self.slide + self.slide + self.size


@dataclass(frozen=True, slots=True)
class Standing:
    """A standing query: its text has {0}, {1}, … where its window functions are."""

    template: str
    windows: tuple[Window, ...]
    semantics: str = "append"
    is_row_wise: bool = False
    allowed_lateness: int | None = None
    close_after: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the query gives for a window; no table if it fails for it.

    Then `spared` is what it gives for those of the rows that do not make it fail by themselves.
    """

    start: int | None
    end: int | None
    revision: int
    table: pa.Table | None
    spared: pa.Table | None = None

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """The window."""
        return (self.start, self.end)


class Arrivals:
    """The rows of a stream as one window function of a query sees them."""

    def __init__(self, window: Window, stream: StreamOf, standing: Standing) -> None:
        self.window = window
        self.stream = stream
        self.lateness = standing.allowed_lateness
        self.close_after = standing.close_after
        self.newest = NEVER  # the newest place on the axis that a row was at
        self.places: set[int] = set()  # where accepted rows are
        self.amended: set[int] = set()  # where accepted rows are that came late
        self.late = 0
        self.came = 0
        self.last_arrival = 0.0
        self.silent_from: int | None = None  # the newest place when silence was first noticed

    def arrive(self, time: int | None, arrival: float) -> int | None:
        """Let a row arrive; return its place on the axis, or None if it is late and dropped."""
        self.passed(arrival)
        self.silent_from = None
        self.came += 1
        self.last_arrival = arrival
        kind = self.window.kind
        if kind == "rows":
            place: int | None = self.came - 1
        elif self.window.by_arrival:
            place = round(arrival * MICROSECONDS)
        else:
            place = time
        assert place is not None or kind in LASTING, "a window over time needs a time"
        if place is None:
            return self.came - 1
        if kind in FIXED and not self._is_in_time(place):
            self.late += 1
            return None
        self.newest = max(self.newest, place)
        self.places.add(place)
        return place

    def _is_in_time(self, place: int) -> bool:
        step = self.window.step
        if self.newest == NEVER or place // step >= self.newest // step:
            return True
        if self.lateness is None or place < self.newest - self.lateness:
            return False
        self.amended.add(place)
        return True

    def passed(self, now: float) -> int:
        """Return up to where this window's time has passed by a moment of the clock.

        Silence closes the open slide, and from then on time passes as the clock does.
        """
        window = self.window
        if window.kind == "rows":
            return self.came
        if self.newest == NEVER:
            return NEVER
        if window.by_arrival:
            self.newest = max(self.newest, round(now * MICROSECONDS))
        silence = now - self.last_arrival
        if self.close_after is not None and silence >= self.close_after:
            if self.silent_from is None:
                self.silent_from = self.newest
            clock = self.silent_from + round(silence * MICROSECONDS)
            self.newest = max(self.newest, window.next_end(self.silent_from), clock)
        return self.newest


class Reference:
    """Answer a standing query by evaluating it anew, over everything that came, for each window."""

    def __init__(
        self,
        standing: Standing,
        streams: Mapping[str, StreamOf],
        tables: Mapping[str, pa.Table] | None = None,
    ) -> None:
        self.standing = standing
        self.arrivals = [
            Arrivals(window, streams[window.stream], standing) for window in standing.windows
        ]
        self.connection = duckdb.connect(config={"threads": 1})
        self.revisions: dict[tuple[int, int], int] = {}
        self.ended: set[int] = set()  # the slides after a landmark that were answered, or passed
        self.seen = 0  # rows that the last answer without a window was about
        self.came = 0
        self.skipped = 0
        for number, arrivals in enumerate(self.arrivals):
            self._create(number, arrivals.stream.schema)
        for name, table in (tables or {}).items():
            self.connection.register("given", table)
            self.connection.execute(f'CREATE TABLE "{name}" AS FROM given')
            self.connection.unregister("given")

    def close(self) -> None:
        """Close the database."""
        self.connection.close()

    @property
    def late(self) -> int:
        """How many rows were dropped as late, at all windows."""
        return sum(arrivals.late for arrivals in self.arrivals)

    def append(self, stream: str, rows: pa.Table, arrival: float) -> None:
        """Let rows arrive, one after the other."""
        self.came += rows.num_rows
        for number, arrivals in enumerate(self.arrivals):
            if arrivals.stream.name == stream:
                self._append(number, arrivals, rows, arrival)

    def poll(self, now: float) -> list[Answer]:
        """Answer for each window that is due, oldest first; under update semantics the newest."""
        if all(window.kind in LASTING and not window.slide for window in self.standing.windows):
            return self._poll_lasting()
        due = self._due_landmarks(now) if self._has_landmark() else self._due(now)
        answers = [self._answer(bounds) for bounds in due]
        if self.standing.semantics == "update" and answers:
            self.skipped += len(answers) - 1
            return answers[-1:]
        return answers

    def _has_landmark(self) -> bool:
        return self.standing.windows[0].kind == "landmark"

    def _due_landmarks(self, now: float) -> list[tuple[int, int]]:
        """Return everything up to each end of a slide in which something came, once each."""
        slide = self.standing.windows[0].slide
        places = self._places()
        ends = {(place // slide + 1) * slide for place in places}
        passed = min(arrivals.passed(now) for arrivals in self.arrivals)
        due = []
        for end in sorted(end for end in ends - self.ended if end <= passed):
            if not self.ended or end > max(self.ended):
                due.append((min(places), end))
            self.ended.add(end)
        return due

    def _places(self) -> set[int]:
        """Return where on the axis there are rows, of any stream."""
        return set[int]().union(*(arrivals.places for arrivals in self.arrivals))

    def _due(self, now: float) -> list[tuple[int, int]]:
        """Return the windows that are closed and hold a row, and were not answered as they are."""
        passed = min(arrivals.passed(now) for arrivals in self.arrivals)
        found = [window for window in self._windows() if window[1] <= passed]
        amended = {window for window in self._amended() if window in self.revisions}
        for arrivals in self.arrivals:
            arrivals.amended.clear()
        return sorted(
            (window for window in found if window not in self.revisions or window in amended),
            key=lambda window: (window[1], window[0]),
        )

    def _windows(self) -> set[tuple[int, int]]:
        """Return all windows that hold a row of any stream, closed or not."""
        return {bounds for arrivals in self.arrivals for bounds in holding(arrivals)}

    def _amended(self) -> Iterator[tuple[int, int]]:
        for arrivals in self.arrivals:
            for place in arrivals.amended:
                for start in arrivals.window.starts(place):
                    yield start, start + arrivals.window.size

    def _answer(self, bounds: tuple[int, int]) -> Answer:
        revision = self.revisions.get(bounds, -1) + 1
        if not self._has_landmark():
            self.revisions[bounds] = revision
        condition = f"__place >= {bounds[0]} AND __place < {bounds[1]}"
        relations = [rows_of(number, condition) for number in range(len(self.arrivals))]
        return self._run(relations, bounds[0], bounds[1], revision)

    def _poll_lasting(self) -> list[Answer]:
        """Answer a query that has no windows that close."""
        if self.came == self.seen:
            return []
        relations = [
            self._lasting(number, arrivals) for number, arrivals in enumerate(self.arrivals)
        ]
        self.seen = self.came
        for arrivals in self.arrivals:
            arrivals.amended.clear()
        if not self._has_landmark():
            return self._answer_without_bounds(relations)
        places = self._places()
        return [self._run(relations, min(places), max(places), 0)]

    def _answer_without_bounds(self, relations: list[str]) -> list[Answer]:
        answer = self._run(relations, None, None, 0)
        if self.standing.windows[0].kind != "stream" or not self.standing.is_row_wise:
            return [answer]
        if self.standing.semantics == "append":  # no news without a row
            table = answer.spared if answer.table is None else answer.table
            return [answer] if table is None or table.num_rows else []
        return [answer] if any(self._count(relation) for relation in relations) else []

    def _count(self, relation: str) -> int:
        [(count,)] = self.connection.sql(f"SELECT count(*) FROM {relation}").fetchall()
        return int(count)

    def _lasting(self, number: int, arrivals: Arrivals) -> str:
        """Return the relation that a window function without an end stands for now."""
        window, key = arrivals.window, arrivals.stream.key
        if window.kind == "landmark":
            return rows_of(number, "true")
        conditions = ["true"]
        if window.kind == "stream" and self.standing.semantics == "update":
            conditions.append(f"{newest_by(key)} = 1")
        if window.kind == "stream" and self.standing.is_row_wise:
            conditions.append(f"__position >= {self.seen}")
        if window.kind == "latest":
            conditions.append(f"{newest_by(window.per)} <= {window.rows}")
        return rows_of(number, " AND ".join(conditions))

    def _run(self, relations: list[str], start: int | None, end: int | None, rev: int) -> Answer:
        table = self._evaluate(relations)
        spared = None if table is not None else self._spare(relations)
        return Answer(start, end, rev, table, spared)

    def _evaluate(self, relations: list[str]) -> pa.Table | None:
        """Run the query; None if it fails."""
        try:
            return self.connection.sql(self.standing.template.format(*relations)).to_arrow_table()
        except duckdb.Error:
            return None

    def _spare(self, relations: list[str]) -> pa.Table | None:
        """Run the query without the rows that it fails on if there is no other."""
        if len(relations) > 1:
            return None
        [rows] = relations
        numbers = range(self._count(rows))
        single = [f"(FROM {rows} LIMIT 1 OFFSET {number})" for number in numbers]
        good = [each for each in single if self._evaluate([each]) is not None]
        return self._evaluate([f"({' UNION ALL '.join(good) or f'FROM {rows} LIMIT 0'})"])

    def _create(self, number: int, schema: pa.Schema) -> None:
        ours = [pa.field(name, pa.int64()) for name in OURS]
        self.connection.register("given", pa.schema([*schema, *ours]).empty_table())
        self.connection.execute(f"CREATE TABLE came_{number} AS FROM given")
        self.connection.unregister("given")

    def _append(self, number: int, arrivals: Arrivals, rows: pa.Table, arrival: float) -> None:
        times = times_of(rows, arrivals.stream.time)
        places = [arrivals.arrive(time, arrival) for time in times]
        size = arrivals.window.step or 1 << 62
        steps = [None if place is None else place // size for place in places]
        positions = range(self.came - rows.num_rows, self.came)
        given = rows
        for name, numbers in zip(OURS, (places, steps, positions), strict=True):
            given = given.append_column(name, pa.array(numbers, pa.int64()))
        self.connection.register("given", given)
        self.connection.execute(
            f"INSERT INTO came_{number} FROM given WHERE __place IS NOT NULL ORDER BY __position"
        )
        self.connection.unregister("given")


def holding(arrivals: Arrivals) -> Iterator[tuple[int, int]]:
    """Yield the windows that hold a row that was accepted."""
    window = arrivals.window
    for place in arrivals.places:
        for start in window.starts(place):
            if window.kind != "rows" or start >= 0:  # rows are counted from the first one
                yield start, start + window.size


def rows_of(number: int, condition: str) -> str:
    """Return SQL for the rows at a window for which this holds, in the order that they have."""
    return (
        f"(SELECT * EXCLUDE ({', '.join(OURS)}) FROM came_{number}"
        f" QUALIFY {condition} AND count(*) OVER () > 0 ORDER BY __step, __position)"
    )


def newest_by(key: tuple[str, ...]) -> str:
    """Return SQL that numbers the rows of each key, the newest first, of equal ones the last."""
    partition = f"PARTITION BY {', '.join(key)} " if key else ""
    return f"row_number() OVER ({partition}ORDER BY __place DESC, __position DESC)"


def times_of(rows: pa.Table, column: str | None) -> list[int | None]:
    """Return the times of rows in the unit of their column; None where there is no column."""
    if column is None:
        return [None] * rows.num_rows
    times: list[int | None] = rows[column].cast(pa.int64()).to_pylist()
    return times
