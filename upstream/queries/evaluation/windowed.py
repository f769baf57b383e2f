"""Evaluation over sliding windows: in full, or incrementally.

    take_in:   streams -> chunks of rows -> partials, as chunks are complete -> running merges
    answers:   a walk over the windows that time has passed -> the result of each

Windows of few rows are evaluated in full. Larger windows, and those that read tables, are evaluated
incrementally. For joins in between, the cheaper way is used (`ChosenWay`). Leaves move to a window
before it is closed, so that rows are merged as they arrive.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from ...database.failure import DatabaseError
from ...held_interrupt import HeldInterrupt
from ..chunks.grid import FOREVER
from ..chunks.walk import Due
from ..results.answer import Answer, Answers, Counts, Description

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from ...clock import Clock
    from ...tables.appended import Lead
    from ..chunks.chunk_rows import ChunkRows
    from ..chunks.reading import Reading
    from ..chunks.walk import Walk
    from ..chunks.windows import Span, Spans
    from ..results.failing_rows import FailingRows
    from .answer_ahead import AnswerAhead
    from .bounds import WindowBounds
    from .chosen_way import ChosenWay, Portions
    from .epoch_feed import EpochFeed
    from .finish import Finishing


class WindowIncrements(Protocol):
    """What evaluates windows incrementally: partials and their merges, or pairs of rows."""

    @property
    def rows(self) -> int:
        """How many rows are held."""

    @property
    def way(self) -> str:
        """The name of this way of evaluation."""

    @property
    def can_skip(self) -> bool:
        """Whether rows that are only in windows without an answer need not be taken in."""

    def feed(self, number: int, rows: ChunkRows, end: int) -> None:
        """Take in the rows of an input before a chunk that were not taken in yet."""

    def advance(self, spans: Sequence[Span]) -> None:
        """Move to a window, and merge what has arrived for it."""

    def table(self, spans: Sequence[Span], bounds: Mapping[str, pa.Table]) -> pa.Table:
        """Return the result for a window."""

    def forget(self, before: Sequence[int]) -> None:
        """Forget earlier chunks, by input."""

    def describe(self) -> tuple[str, ...]:
        """Describe how rows are taken in."""

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""


class WindowedEvaluation:
    """Evaluate a query over windows of one or more inputs."""

    __slots__ = (
        "_about",
        "_ahead",
        "_bounds",
        "_empty",
        "_failing",
        "_finish",
        "_increments",
        "_last_answer",
        "_lateness",
        "_noun",
        "_portions",
        "_reading",
        "_readings",
        "_skips",
        "_started",
        "_stopwatch",
        "_walk",
        "_way",
        "feed",
    )

    def __init__(
        self,
        reading: Reading,
        walk: Walk,
        increments: WindowIncrements,
        *,
        finish: Finishing,
        way: ChosenWay,
        lateness: int | None,
        bounds: WindowBounds,
        portions: Portions,
        stopwatch: Clock,
        failing: FailingRows,
        ahead: AnswerAhead | None = None,
        skips: bool = False,
        about: tuple[str, ...] = (),
        noun: str = "window",
        feed: EpochFeed | None = None,
    ) -> None:
        self.feed = feed
        """From which rows on the streams can be read again, for epochs."""
        self._reading = reading
        self._walk = walk
        self._increments = increments
        self._finish = finish
        self._way = way
        self._lateness = lateness
        self._bounds = bounds
        self._stopwatch = stopwatch
        self._failing = failing
        self._ahead = ahead
        """The result of the open epoch, if it can be computed before its end."""
        self._about = about
        """The lines with which a description begins."""
        self._noun = noun
        """The word for a window in descriptions."""
        self._skips = skips
        """Whether only the newest of several due windows is answered, and no rows are taken into
        the others."""
        self._last_answer: Answer | None = None
        """The answer for the newest passed window with rows, if there was one."""
        self._empty: tuple[tuple[int, int], Answer] | None = None
        """The answer for a window that was requested before it was due. The key is the window's
        end, with the number of rows that had been read."""
        self._portions = portions
        self._readings = 0
        """How often rows were read since the last answer."""
        self._started = 0.0
        """When rows were last read, by the stopwatch."""

    def take_in(self, now: float) -> None:
        """Read what waits; feed complete chunks, and portions of the open one."""
        way = self._way
        if way.is_measured or not way.is_whole:
            self._started = self._stopwatch.now()
        self._read(now)
        if way.keeps_rows and max(each.rows for each in self._reading.rows) > 2 * way.most_rows:
            self._outgrow()
        if self._skips:
            self._skip(now)
        if not way.is_whole:
            self._work_ahead()
            if self._ahead is not None:
                self._answer_ahead(self._ahead, now)

    def _read(self, now: float) -> None:
        if self._reading.read(self._walk):
            self._readings += 1
        if self._walk.open is None and self._reading.position():
            self._walk.begin(self._reading.passed(now))
        self._reading.note_leads(self._walk)

    def answers(self, now: float, keep: int) -> Answers:
        """Give answers for the newest `keep` due windows."""
        passed = self._reading.passed(now)
        walk = None if passed is None else self._walk.forked(passed)
        if passed is None or walk is None:
            self._reading.resume(self._walk)
            return Answers()
        due, skipped = walk.due(passed, keep)
        if self._lateness is not None:
            walk.count([each.end for each in due])
        left_out = max(0, len(due) - keep)
        found = [self._answer(walk, each, now) for each in due[left_out:]]
        if due and not found and not self._increments.can_skip:
            self._feed(due[-1].spans)
        last = self._last_answer
        if walk.last != self._walk.last or any(each.end == walk.last for each in due):
            ends = zip(due[left_out:], found, strict=True)
            last = next((answer for each, answer in ends if each.end == walk.last), None)
        is_timed = self._way.is_measured or not self._way.is_whole
        seconds = self._stopwatch.now() - self._started if is_timed else 0.0

        def commit() -> None:
            self._walk, self._last_answer = walk, last
            self._forget()
            self._reading.resume(walk)
            self._reading.note_leads(walk)
            if is_timed:
                self._learn(sum(each.is_occupied for each in due[left_out:]), seconds)

        return Answers(found, skipped + left_out, commit)

    def current(self, now: float) -> Answer | None:
        """Return the answer for the newest closed window, with rows or without.

        Before any window is closed, it is the result over no rows. It stays the same until the
        next window is closed.
        """
        passed, last = self._reading.passed(now), self._walk.last
        is_open = passed is not None and passed < FOREVER
        end = self._walk.schedule.newest_end(passed or 0) if is_open else None
        if end is None:
            return Answer(None, None, now, 0, *self._over_no_rows(None))
        if last is not None and end <= last:
            if self._last_answer is None:
                self._last_answer = self._asked(last, now)
            return self._last_answer
        at = end, self._reading.position()
        if self._empty is None or self._empty[0] != at:
            self._empty = at, self._asked(end, now)
        return self._empty[1]

    def due_at(self) -> float | None:
        """Return when the clock alone will close the open window, or None."""
        if not self._reading.passes_by_clock:
            return None
        end = self._walk.due_from()
        return None if end is None else self._reading.passes_at(end)

    def leads(self) -> tuple[Lead, ...]:
        """Return how far each input of epochs is ahead of the others."""
        return self._reading.leads

    def counts(self) -> Counts:
        """Return what became of rows so far."""
        held = self._reading.held_rows() + self._increments.rows
        late = ((each.stream, each.late) for each in self._reading.inputs)
        return Counts.of_late(late, held=held)

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._increments.close()
        self._finish.close()
        self._reading.close()

    def describe(self) -> Description:
        """Describe how the query is evaluated at the moment."""
        way, count = self._way, self._portions.count
        words = way.describe(self._increments.way, self._noun)
        if way.is_whole and way.most_rows == FOREVER:
            return Description(words, about=self._about)
        if count > 1 and not way.is_whole:
            words += f"; the open chunk is evaluated in {count} portions"
        return Description(words, self._increments.describe(), self._about, self._noun)

    # Working ahead

    def _work_ahead(self) -> None:
        """Feed chunks that will not change, and portions of the open chunk."""
        for number, rows in enumerate(self._reading.rows):
            end = self._reading.portion(number, self._portions.count, self._walk)
            self._increments.feed(number, rows, end)
        if self._walk.spans is not None:
            self._increments.advance(self._walk.spans)

    def _skip(self, now: float) -> None:
        """Drop the rows that are only in windows which will not be answered.

        A newer window with rows is due already.
        """
        passed = self._reading.passed(now)
        newest = None if passed is None else self._walk.schedule.newest_end(passed)
        if newest is None or self._walk.open is None or newest <= self._walk.open:
            return
        spans = self._walk.schedule.at(newest)
        if self._walk.is_occupied(spans):
            for rows, span in zip(self._reading.rows, spans, strict=True):
                rows.forget(span.first)

    def _answer_ahead(self, ahead: AnswerAhead, now: float) -> None:
        """Compute the result of the open epoch if it is nearly over."""
        open_, spans, reading = self._walk.open, self._walk.spans, self._reading
        passed = reading.passed(now)
        if open_ is None or spans is None or passed is None or passed >= open_:
            return
        if any(rows.are_complete_late for rows in reading.rows):
            return
        if all(each.is_nearly_complete(open_ - 1) for each in reading.inputs):
            run = partial(self._by_increments, spans)
            ahead.compute(spans, reading.rows_in_time, run)

    def _outgrow(self) -> None:
        with HeldInterrupt():
            self._way.outgrown()
            self._release_rows()

    def _go_by_increments(self) -> None:
        with HeldInterrupt():
            self._way.settle()
            self._release_rows()

    def _release_rows(self) -> None:
        """Stop keeping rows that are kept only for evaluation in full."""
        if not self._way.keeps_rows:
            self._readings = 0
            for rows in self._reading.rows:
                rows.release_fed()

    def _learn(self, answers: int, seconds: float) -> None:
        """Note how long it took from reading the last rows to the answers."""
        if answers == 1 and self._readings > 1:  # otherwise there were no portions
            self._portions.responded(seconds)
        self._readings = 0 if answers else self._readings
        if answers == 1 and self._way.is_measured:
            self._way.cost(seconds)
            self._release_rows()

    # Answering

    def _asked(self, end: int, now: float) -> Answer:
        spans = self._walk.schedule.at(end)
        window = Due(end, spans, self._walk.is_occupied(spans))
        return self._answer_at(now, window, self._walk)

    def _answer(self, walk: Walk, due: Due, now: float) -> Answer:
        moment = due.amended
        if moment is None:
            moment = self._reading.passed_at(due.end, now)
        return self._answer_at(moment, due, walk)

    def _answer_at(self, due: float, window: Due, walk: Walk) -> Answer:
        spans = window.spans
        table, error = self._over_rows(spans) if window.is_occupied else self._over_no_rows(spans)
        failed, failure = self._failing.within(spans) if self._failing.count else (0, None)
        revision = 0 if self._lateness is None else walk.revision(window.end)
        bounds = self._bounds.of(spans)
        return Answer(
            *bounds,
            due,
            revision,
            table,
            error,
            failed,
            failure,
            spans=spans,
            epoch=self._bounds.epoch(spans),
        )

    def _over_rows(self, spans: Spans) -> tuple[pa.Table, str | None]:
        """Evaluate a window, or say why that fails."""
        try:
            return self._evaluated(spans), None
        except DatabaseError as failure:
            return self._finish.failed(failure)

    def _over_no_rows(self, spans: Spans | None) -> tuple[pa.Table, str | None]:
        """Evaluate the unchanged query over no rows."""
        return self._finish.over_no_rows(self._tables(spans))

    def _evaluated(self, spans: Spans) -> pa.Table:
        rows, way = self._reading.rows, self._way
        if way.is_whole and way.most_rows < max(each.rows for each in rows):
            pairs = zip(rows, spans, strict=True)
            if max(each.count_between(*span) for each, span in pairs) > way.most_rows:
                self._outgrow()
        if way.is_whole:
            try:
                chunks = {
                    f"chunk_{i}": each.between(*span)
                    for i, (each, span) in enumerate(zip(rows, spans, strict=True))
                }
                return self._finish.in_full({**chunks, **self._tables(spans)})
            except DatabaseError:
                self._go_by_increments()  # can leave out the rows that fail
        if self._ahead is not None:
            known = self._ahead.result(spans, self._reading.rows_in_time)
            if known is not None:
                return known
        return self._by_increments(spans)

    def _by_increments(self, spans: Spans) -> pa.Table:
        self._feed(spans)
        return self._increments.table(spans, self._tables(spans))

    def _feed(self, spans: Spans) -> None:
        for number, each in enumerate(self._reading.rows):
            self._increments.feed(number, each, spans[number].end)

    def _tables(self, spans: Spans | None) -> dict[str, pa.Table]:
        return self._bounds.tables(spans) if self._bounds.are_read else {}

    # Forgetting

    def _forget(self) -> None:
        """Forget what no window can need any more."""
        walk = self._walk
        if walk.open is None or walk.spans is None:
            return
        needed = [walk.spans]
        if walk.last is not None and self._last_answer is None:
            needed.append(walk.schedule.at(walk.last))
        if self._lateness is not None:
            needed.append(self._oldest_that_can_be_amended())
        before = [min(span.first for span in spans) for spans in zip(*needed, strict=True)]
        if not self._way.is_whole:
            self._increments.forget(before)
        elif self._failing.count:
            self._failing.forget(before)
        self._reading.forget(before, walk.open - 1)
        if self._lateness is not None:
            walk.forget(min(before))

    def _oldest_that_can_be_amended(self) -> Spans:
        """Return the oldest window that a late row can still fall into."""
        assert self._lateness is not None
        progress = self._reading.progress
        began = [each.newest for each in progress if each.newest is not None]
        newest = min(began)  # inputs that have not begun are not waited for
        chunk = self._reading.grid.chunk_of(newest - self._lateness)
        schedule = self._walk.schedule
        end = min(schedule.end_covering(i, chunk) for i in range(len(schedule.windows)))
        return schedule.at(end)
