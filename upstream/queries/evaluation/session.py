"""Evaluation over sessions: each session of a group is a window, answered when it has ended.

Rows are kept until their session is closed. Sessions that close together are evaluated in one
statement, each as a chunk of its own, in the order in which they ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ...held_interrupt import HeldInterrupt
from ..chunks.cutter import microseconds
from ..chunks.windows import Span
from ..results.answer import Answer, Answers, Counts, Description
from ..sql.window_bounds import bounds_name, bounds_table
from ..sql.window_clause import Axis

if TYPE_CHECKING:
    from ...rows.stream_definition import StreamDefinition
    from ...rows.stream_times import WindowBound
    from ...tables.log import Batch, LogReader
    from ..chunks.progress import Progress
    from ..chunks.sessions import Session, SessionCut, Sessions
    from ..results.failing_rows import FailingRows
    from .finish import Finish
    from .increments import Increments


class SessionEvaluation:
    """Evaluate a query over the sessions of one stream.

    `failing_now` counts the failing rows of the sessions that are being evaluated, possibly more
    than once. `failing` counts them once.
    """

    __slots__ = (
        "_bounds_schema",
        "_closed",
        "_definition",
        "_failing",
        "_failing_now",
        "_finish",
        "_increments",
        "_last",
        "_last_answer",
        "_late",
        "_numbers",
        "_progress",
        "_reader",
        "_sessions",
        "_value",
    )

    def __init__(
        self,
        definition: StreamDefinition,
        reader: LogReader,
        progress: Progress,
        sessions: Sessions,
        increments: Increments,
        *,
        finish: Finish,
        bounds_schema: pa.Schema | None,
        value: Callable[[int], WindowBound],
        failing: FailingRows,
        failing_now: FailingRows,
    ) -> None:
        self._definition = definition
        self._reader = reader
        self._progress = progress
        self._sessions = sessions
        self._increments = increments
        self._finish = finish
        self._bounds_schema = bounds_schema
        self._value = value
        self._failing = failing
        self._failing_now = failing_now
        self._late = 0
        self._closed: list[Session] = []
        """The sessions that have ended and have no answer yet."""
        self._last: Session | None = None
        """The last session that had an answer, or would have had one."""
        self._last_answer: Answer | None = None
        self._numbers = count()
        """Each evaluation of a session uses a chunk with a new number."""

    def take_in(self, now: float) -> None:
        """Read what waits, and close the sessions that have ended."""
        for batch in self._reader.peek():
            passed = self._progress.passed(batch.arrival)
            if passed is not None:
                self._close(passed)
            cut = self._cut(batch)
            with HeldInterrupt():
                self._take(batch, cut)
        passed = self._progress.passed(now)
        if passed is not None:
            self._close(passed)
        self._sessions.settle()

    def answers(self, now: float, keep: int) -> Answers:
        """Give answers for the newest `keep` sessions that have ended."""
        if not self._closed:
            return Answers()
        due = sorted(self._closed, key=self._order)
        left_out = max(0, len(due) - keep)
        found = self._answered(due[left_out:], now)

        def commit() -> None:
            self._count(due[left_out:], found)
            self._closed = []
            self._sessions.release(due[:-1] if self._last is None else [self._last, *due[:-1]])
            self._last, self._last_answer = due[-1], found[-1] if found else None

        return Answers(found, left_out, commit)

    def current(self, now: float) -> Answer | None:
        """Return the answer for the session that ended last; without one, over no rows."""
        newest = max(self._closed, key=self._order, default=self._last)
        if newest is None:
            return self._over_no_rows(now)
        if newest is self._last and self._last_answer is not None:
            return self._last_answer
        [answer] = self._answered([newest], now)
        self._count([newest], [answer])
        if newest is self._last:
            self._last_answer = answer
        return answer

    def due_at(self) -> float | None:
        """Return when the clock alone will end a session, or None."""
        end = self._sessions.first_end()
        return None if end is None else self._progress.passes_at(end)

    def counts(self) -> Counts:
        """Return what became of rows so far."""
        held = self._sessions.rows + self._increments.rows
        return Counts.of_late([(self._definition.name, self._late)], held=held)

    def describe(self) -> Description:
        """Describe how the query is evaluated."""
        words = "rows are kept until their session ends; those that end together share a statement"
        return Description(words, self._increments.describe())

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._increments.close()

    # Reading

    def _cut(self, batch: Batch) -> SessionCut:
        newest = self._progress.newest
        if self._progress.axis is Axis.ARRIVAL:
            time = microseconds(batch.arrival)
            time = time if newest is None else max(time, newest)
            times = np.full(batch.rows.num_rows, time, np.int64)
        else:
            times = self._definition.times(batch.rows)
        return self._sessions.cut(batch.rows, times, newest)

    def _take(self, batch: Batch, cut: SessionCut) -> None:
        self._closed += self._sessions.take(cut)
        self._late += cut.late
        self._progress.came(cut.progress, cut.newest, batch.arrival)
        self._reader.take(batch.rows.num_rows)

    def _close(self, passed: int) -> None:
        with HeldInterrupt():
            self._closed += self._sessions.close(passed)

    def _order(self, session: Session) -> tuple[int, int, int]:
        return session.last, session.start, session.number

    # Answering

    def _answered(self, sessions: Sequence[Session], now: float) -> list[Answer]:
        """Return answers for sessions that have ended."""
        numbers = [next(self._numbers) for _ in sessions]
        pieces = [
            (number, pa.concat_tables(each.pieces))
            for number, each in zip(numbers, sessions, strict=True)
        ]
        if not pieces:
            return []
        take = self._increments.prepared(0, pieces)
        with HeldInterrupt():
            take()
        try:
            pairs = zip(numbers, sessions, strict=True)
            return [self._answer(number, each, now) for number, each in pairs]
        finally:
            self._increments.forget([numbers[-1] + 1])

    def _count(self, sessions: Sequence[Session], answers: Sequence[Answer]) -> None:
        """Count the rows that failed, once for each session."""
        for session, answer in zip(sessions, answers, strict=True):
            if not session.is_told:
                session.is_told = True
                self._failing.count_more(answer.rows_failed, answer.failure)

    def _answer(self, number: int, session: Session, now: float) -> Answer:
        spans = (Span(number, number + 1),)
        end = self._sessions.end_of(session)
        bounds = self._bounds(session.start, end)
        table, error = self._finish.attempt(lambda: self._increments.table(spans, bounds))
        failed, failure = self._failing_now.within(spans)
        start_and_end = self._value(session.start), self._value(end)
        due = self._progress.passed_at(end, now)
        return Answer(*start_and_end, due, 0, table, error, failed, failure)

    def _over_no_rows(self, due: float) -> Answer:
        """Return the answer as long as no session has ended."""
        return Answer(None, None, due, 0, *self._finish.over_no_rows(self._bounds(None, None)))

    def _bounds(self, start: int | None, end: int | None) -> dict[str, pa.Table]:
        if self._bounds_schema is None:
            return {}
        return {bounds_name(0): bounds_table(self._bounds_schema, start, end)}
