"""What standing queries mean, worked out row by row and as plainly as can be.

Nothing here comes from the engine, and nothing is incremental. Rows arrive one by one at each
window of a query, which finds the late ones. What has come is kept for ever, and a window is
evaluated by running the query, as it is, over the rows with `start <= time < end`.

Where the windows of a query differ, it is answered at each end of any of them, over the newest
window of each that has ended by then: from the earliest of their starts to the latest of their
ends, which is the end at which it is answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import duckdb
import pyarrow as pa

from .arrivals import LASTING, NEVER, Arrivals, Row, Standing, StreamOf
from .comparison import handed_out


@dataclass(frozen=True, slots=True)
class Answer:
    """What the query gives for a window; no table if it fails for it.

    `due` is when it could have been there first, if that is known. If there is no table, `spared`
    is what the query gives for those of the rows that do not make it fail by themselves.
    """

    start: int | None
    end: int | None
    revision: int
    table: pa.Table | None
    spared: pa.Table | None = None
    due: float | None = None

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """The window."""
        return (self.start, self.end)


class Reference:
    """Answer a standing query by evaluating it anew, over everything that came, for each window."""

    def __init__(
        self,
        standing: Standing,
        streams: Mapping[str, StreamOf],
        connection: duckdb.DuckDBPyConnection,
    ) -> None:
        self.standing = standing
        self.arrivals = [
            Arrivals(window, streams[window.stream], standing) for window in standing.windows
        ]
        self.kind = standing.windows[0].kind
        self.slide = standing.windows[0].slide  # of landmarks, which are alike
        self.connection = connection  # which has the tables that are no streams
        self.revisions: dict[int, int] = {}  # by end
        self.ended: set[int] = set()  # the slides after a landmark that were answered, or passed
        self.newest: int | None = None  # the end of the newest window that was due
        self.seen = [0] * len(self.arrivals)  # rows that the last answer without bounds was about
        self.news_since: float | None = None  # when the first row came that it was not about
        self.skipped = 0

    @property
    def late(self) -> int:
        """How many rows were dropped as late, at all windows."""
        return sum(arrivals.late for arrivals in self.arrivals)

    def append(self, stream: str, rows: pa.Table, arrival: float) -> None:
        """Let rows arrive, one after the other."""
        for arrivals in self.arrivals:
            if arrivals.stream.name == stream:
                arrivals.append(rows, arrival)
                if self.news_since is None and rows.num_rows:
                    self.news_since = arrival

    def poll(self, now: float, *, newest_only: bool = False) -> list[Answer]:
        """Answer for each window that is due, oldest first; under update semantics the newest."""
        if self._is_lasting():
            return self._poll_lasting()
        due = self._due_landmarks(now) if self.kind == "landmark" else self._due(now)
        before = self.newest
        for end in due:
            self.revisions[end] = self.revisions.get(end, -1) + 1
            self.newest = end if self.newest is None else max(self.newest, end)
        if due and (newest_only or self.standing.semantics == "update"):
            self.skipped += len(due) - 1
            due = due[-1:]
        if self.standing.semantics == "update" and before is not None:
            newer = [end for end in due if end >= before]
            self.skipped += len(due) - len(newer)  # an older window, answered again
            due = newer
        return [self._answer(end) for end in due]

    def ask(self, now: float) -> Answer:
        """Answer for the newest window that is closed, or for all that came, as things are now."""
        if self._is_lasting():
            return self._lasting_now()
        self.poll(now)
        newest = self.newest if self.kind == "landmark" else self._newest_closed(now)
        return self._over_nothing() if newest is None else self._answer(newest)

    def reset(self) -> None:
        """Set the landmark anew: what came so far counts no more."""
        for arrivals in self.arrivals:
            arrivals.rows.clear()
        self.ended.clear()
        self.newest = None

    def _is_lasting(self) -> bool:
        """Tell whether there are no windows that close."""
        return self.kind in LASTING and not self.slide

    # Windows that close

    def _due(self, now: float) -> list[int]:
        """Return the ends that are passed, and were not answered as their windows are.

        Those are meant at which a window holds a row, and those that come right after one of them:
        of several without a row in sequence the first.
        """
        passed = min(arrivals.passed(now) for arrivals in self.arrivals)
        holding = {
            end
            for arrivals in self.arrivals
            for row in arrivals.rows
            for end in arrivals.ends_with(row.place)
        }
        holding |= {self.standing.next_end(end) for end in holding}
        amended = set(self._amended())
        for arrivals in self.arrivals:
            arrivals.amended.clear()
        due = (each for each in holding if each not in self.revisions or each in amended)
        return sorted(each for each in due if each <= passed)

    def _newest_closed(self, now: float) -> int | None:
        """Return the newest end that time has passed, be the windows without rows."""
        passed = min(arrivals.passed(now) for arrivals in self.arrivals)
        if passed == NEVER or passed < self.standing.first_end:
            return None
        newest = max(end for _, end in self.standing.spans(passed))
        return max(newest, self.standing.first_end)

    def _over_nothing(self) -> Answer:
        """Answer where there is no window yet."""
        nothing = [arrivals.tables[0] for arrivals in self.arrivals]
        return self._evaluated(nothing, None, None, 0, None)

    def _amended(self) -> Iterator[int]:
        for arrivals in self.arrivals:
            for place in arrivals.amended:
                yield from arrivals.ends_with(place)

    def _due_landmarks(self, now: float) -> list[int]:
        """Return each end of a slide in which something came, once."""
        ends = {(place // self.slide + 1) * self.slide for place in self._places()}
        passed = min(arrivals.passed(now) for arrivals in self.arrivals)
        due = []
        for end in sorted(end for end in ends - self.ended if end <= passed):
            if not self.ended or end > max(self.ended):
                due.append(end)
            self.ended.add(end)
        return due

    def _places(self) -> list[int]:
        """Return where on the axis there are rows, of any stream."""
        return [row.place for arrivals in self.arrivals for row in arrivals.rows]

    def _answer(self, end: int) -> Answer:
        is_landmark = self.kind == "landmark"
        spans = (
            [(min(self._places()), end)] * len(self.arrivals)
            if is_landmark
            else self.standing.spans(end)
        )
        tables = [
            arrivals.taken(partial(_is_within, span))
            for arrivals, span in zip(self.arrivals, spans, strict=True)
        ]
        start = min(first for first, _ in spans)
        revision = 0 if is_landmark else self.revisions.get(end, 0)
        return self._evaluated(tables, start, end, revision, self._closed_at(end))

    def _closed_at(self, end: int) -> float | None:
        """Return when a window was closed by a row or by arrival."""
        if self.standing.close_after is not None or self.standing.allowed_lateness is not None:
            return None
        closed = max(arrivals.closed_at(end) for arrivals in self.arrivals)
        if self.kind != "landmark":
            return closed
        news = [
            row.arrival
            for arrivals in self.arrivals
            for row in arrivals.rows
            if end - self.slide <= row.place < end
        ]
        return max(closed, min(news, default=closed))

    # What lasts

    def _lasting_now(self) -> Answer:
        """Answer for all that came."""
        if not any(arrivals.rows for arrivals in self.arrivals):
            return self._over_nothing()
        tables = [self._lasting(arrivals, 0) for arrivals in self.arrivals]
        places = self._places()
        if self.kind == "landmark":
            return self._evaluated(tables, min(places), max(places), 0, None)
        return self._evaluated(tables, None, None, 0, None)

    def _poll_lasting(self) -> list[Answer]:
        """Answer if anything came since the last answer."""
        came = [arrivals.came for arrivals in self.arrivals]
        if came == self.seen:
            return []
        pairs = zip(self.arrivals, self.seen, strict=True)
        tables = [self._lasting(arrivals, seen) for arrivals, seen in pairs]
        self.seen = came
        due, self.news_since = self.news_since, None
        if self.kind == "landmark":
            places = self._places()
            return [self._evaluated(tables, min(places), max(places), 0, due)]
        answer = self._evaluated(tables, None, None, 0, due)
        return [answer] if self._is_news(answer, tables) else []

    def _lasting(self, arrivals: Arrivals, seen: int) -> pa.Table:
        """Return what a window function without an end stands for now."""
        window = arrivals.window
        if window.kind == "latest":
            newest = arrivals.newest_by(window.per, window.rows)
            return arrivals.taken(lambda row: row.number in newest)
        if window.kind == "landmark":
            return arrivals.taken(lambda _: True)
        first = seen if self.standing.is_row_wise else 0
        if self.standing.semantics == "append":
            return arrivals.taken(lambda row: row.number >= first)
        newest = arrivals.newest_by(arrivals.stream.key, 1)
        return arrivals.taken(lambda row: row.number in newest and row.number >= first)

    def _is_news(self, answer: Answer, tables: list[pa.Table]) -> bool:
        """Tell whether there is a row to tell of, where each row of a stream stands alone."""
        if self.kind != "stream" or not self.standing.is_row_wise:
            return True
        if self.standing.semantics == "update":
            return any(table.num_rows for table in tables)
        table = answer.spared if answer.table is None else answer.table
        return table is None or bool(table.num_rows)

    # The query

    def _evaluated(
        self,
        tables: list[pa.Table],
        start: int | None,
        end: int | None,
        revision: int,
        due: float | None,
    ) -> Answer:
        table = self._run(tables)
        spared = self._without_failing_rows(tables) if table is None else None
        return Answer(start, end, revision, table, spared, due)

    def _run(self, tables: list[pa.Table]) -> pa.Table | None:
        """Run the query over these rows, one table for each window; None if it fails."""
        names = [f"window_{number}" for number in range(len(tables))]
        for name, table in zip(names, tables, strict=True):
            self.connection.register(name, table)
        try:
            return handed_out(self.connection.sql(self.standing.template.format(*names)))
        except duckdb.Error:
            return None

    def _without_failing_rows(self, tables: list[pa.Table]) -> pa.Table | None:
        """Run the query without the rows that it fails on if there is no other."""
        if len(tables) > 1:
            return None
        [rows] = tables
        numbers = range(rows.num_rows)
        good = [number for number in numbers if self._run([rows.slice(number, 1)]) is not None]
        return self._run([rows.take(pa.array(good, pa.int64()))])


def _is_within(span: tuple[int, int], row: Row) -> bool:
    return span[0] <= row.place < span[1]
