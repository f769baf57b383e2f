"""Evaluation over windows that slide: a ring of steps, a partial for each, a merge for each window.

    take_in:   stream -> cut into steps -> rows of steps -> partials, as steps are complete or
               have a chunk's worth of rows -> staged at the running merge of each leaf
    answers:   windows that time has passed -> move the merges to them -> finish

The leaves are moved to a window before it is closed, so that what comes in the meantime is merged
as it comes; that window is the oldest that no answer was about and that can still hold a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ...database.failure import DatabaseError
from ...rows.arrow_data import empty_table
from ..chunks.chunking import Chunking
from ..chunks.step_rows import StepRows
from ..chunks.timeline import OccupiedSteps, Timeline
from ..chunks.window_input import FOREVER, passed_by_all, passed_by_all_at, passes_for_all_at
from ..results.answer import Answer, Answers
from ..results.description import BY_INCREMENTS, OVER_KEPT_ROWS, Description
from ..sql.window_bounds import bounds_table
from .cheaper_way import MOST_ROWS, CheaperWay

if TYPE_CHECKING:
    import pyarrow as pa

    from ...clock import Clock
    from ...database.prepared import Prepared
    from ...rows.window_bound import WindowBound
    from ..chunks.window_input import WindowInput
    from .failing_rows import FailingRows
    from .finish import Finish
    from .step_leaf import LeafEvaluation, Piece

_FIRST: Final = -(1 << 63)

_REVISIONS: Final = 1_000
"""So many revisions are remembered before those are looked for that nobody can ask for."""
_OPEN_ROWS: Final = 65_536
"""So many rows of a step are evaluated although more may come."""


class WindowedEvaluation:
    """Evaluate a query over windows of one size and slide, over one stream or several."""

    __slots__ = (
        "_amended",
        "_bound",
        "_bounds_schemas",
        "_chunking",
        "_clock",
        "_current",
        "_empty",
        "_failing",
        "_finish",
        "_follows_rows",
        "_held_from",
        "_inputs",
        "_last",
        "_last_answer",
        "_lateness",
        "_leaves",
        "_occupied",
        "_position",
        "_reading_seconds",
        "_readings",
        "_revisions",
        "_revisions_kept",
        "_rows",
        "_stopwatch",
        "_timeline",
        "_way",
        "_whole",
        "_work_seconds",
    )

    def __init__(
        self,
        inputs: Sequence[WindowInput],
        schemas: Sequence[pa.Schema],
        *,
        timeline: Timeline,
        leaves: Sequence[tuple[tuple[int, ...], LeafEvaluation]],
        finish: Finish,
        whole: Prepared,
        bounds_schemas: Mapping[str, pa.Schema],
        is_whole: bool | None,
        lateness: int | None,
        bound: Callable[[int], WindowBound],
        clock: Clock,
        stopwatch: Clock,
        failing: FailingRows,
    ) -> None:
        self._inputs = inputs
        self._timeline = timeline
        self._leaves = leaves
        self._finish = finish
        self._whole = whole
        self._bounds_schemas = bounds_schemas
        self._way: CheaperWay | bool | None = is_whole
        """How windows are evaluated: whole, by increments, or whichever is cheaper.

        None where that is to be measured, until there is a window to see how large it is.
        """
        self._lateness = lateness
        self._bound = bound
        self._clock = clock
        self._stopwatch = stopwatch
        self._failing = failing
        self._rows = [StepRows(schema, keeps=is_whole is not False) for schema in schemas]
        self._occupied = OccupiedSteps()
        self._current: int | None = None
        """The window that the leaves are, or are to be, at."""
        self._follows_rows = False
        """Whether the window before that one holds rows, so that it is told even without any."""
        self._held_from = _FIRST
        """What is of steps before this is not held any more."""
        self._position: int | None = None
        """The first step of the window that the leaves are at."""
        self._last: int | None = None
        """The newest window that was closed with rows in it."""
        self._last_answer: Answer | None = None
        """The answer for it, if there was one."""
        self._empty: tuple[int, Answer] | None = None
        """The window without rows that was asked for last, and the answer for it."""
        self._revisions: dict[int, int] = {}
        self._revisions_kept = _REVISIONS
        self._amended: dict[int, float] = {}
        self._chunking = Chunking()
        self._readings = 0
        """How often rows were read since the last answer."""
        self._reading_seconds = self._work_seconds = 0.0
        """What the last reading took, and all readings since the last answer."""

    # Reading

    def take_in(self, now: float) -> None:
        """Read what waits, and feed steps that are complete and chunks to the leaves."""
        started = self._stopwatch.now()
        if self._read(now):
            self._readings += 1
            self._limit_kept_rows()
            if self._current is None:
                self._current = self._next_window(None, passed_by_all(self._inputs, now))
            if self._way is not None and not self._is_whole():
                self._work_ahead()
        self._reading_seconds = self._stopwatch.now() - started
        self._work_seconds += self._reading_seconds

    def _read(self, now: float) -> bool:
        has_rows = False
        for number, window_input in enumerate(self._inputs):
            for cut in window_input.take_in(now):
                has_rows = True
                for step, rows in self._in_time(cut.pieces, cut.amended, window_input):
                    self._rows[number].add(step, rows)
                    self._occupied.add(step)
                for step in cut.amended:
                    self._note_amended(step, window_input.last_arrival)
        return has_rows

    def _in_time(
        self, pieces: list[Piece], amended: tuple[int, ...], window_input: WindowInput
    ) -> Iterator[Piece]:
        """Yield the pieces that are in a window, or may amend one.

        A stream that nobody waited for any more may begin behind windows that were passed.
        """
        if self._current is None or not pieces:
            yield from pieces
            return
        first = self._timeline.steps_of(self._current)[0]
        for step, rows in pieces:
            if step >= first or step in amended:
                yield step, rows
            elif self._lateness is None or step < self._held_from:
                window_input.late += rows.num_rows
            else:
                self._note_amended(step, window_input.last_arrival)
                yield step, rows

    def _note_amended(self, step: int, moment: float) -> None:
        """Note that windows which were passed are not as they were."""
        if self._current is not None:
            for window in self._timeline.covering(step):
                if window < self._current:
                    self._amended.setdefault(window, moment)

    def _limit_kept_rows(self) -> None:
        """Keep no more rows for evaluating whole than that is worth."""
        is_measured = self._way is None or isinstance(self._way, CheaperWay)
        if is_measured and any(rows.rows > 2 * MOST_ROWS for rows in self._rows):
            self._go_by_increments()

    def _go_by_increments(self) -> None:
        self._way = False
        for rows in self._rows:
            rows.let_go()

    def _is_whole(self) -> bool:
        return self._way.is_whole if isinstance(self._way, CheaperWay) else self._way is True

    def _work_ahead(self) -> None:
        """Feed what will not change, and of an open step what has a chunk's rows."""
        if self._current is not None:
            self._advance(*self._timeline.steps_of(self._current))
        for number, window_input in enumerate(self._inputs):
            step = window_input.open_step()
            if step is not None:
                chunk = min(self._chunking.rows(window_input.expected_rows()), _OPEN_ROWS)
                is_chunk = self._rows[number].unfed_rows(step) >= chunk
                self._feed_input(number, step + 1 if is_chunk else step)

    def _feed(self, end: int) -> None:
        for number in range(len(self._inputs)):
            self._feed_input(number, end)

    def _feed_input(self, number: int, end: int) -> None:
        """Give the leaves what they do not have yet of the steps before `end`."""
        pieces = list(self._rows[number].feed(end))
        if pieces:
            self._failing.begin()
            for windows, leaf in self._leaves:
                if number in windows:
                    leaf.feed(number, pieces)

    def _advance(self, first: int, end: int) -> None:
        self._position = first
        for _, leaf in self._leaves:
            leaf.advance(first, end)

    # Answering

    def answers(self, now: float, keep: int) -> Answers:
        """Answer for the newest `keep` windows of those that are due."""
        due = list(self._due(now))
        skipped = max(0, len(due) - keep)
        found: list[Answer] = []
        evaluated, seconds = 0, 0.0
        for window, amended in due[skipped:]:
            started = self._stopwatch.now()
            moment = self._closed_at(window, now) if amended is None else amended
            found.append(self._answer(window, moment))
            if self._is_occupied(window):
                evaluated += 1
                seconds += self._stopwatch.now() - started
        self._measured(evaluated, seconds)
        for window, _ in due[:skipped]:
            self._next_revision(window)
        self._forget()
        return Answers(found, skipped)

    def current(self, now: float) -> Answer | None:
        """Answer for the newest closed window, be it without rows; without a window over no rows.

        The reader is told again what it was told of a window, until the next one is closed.
        """
        passed = passed_by_all(self._inputs, now)
        window = None if passed in (None, FOREVER) else self._timeline.newest_ended(passed or 0)
        if window is None:
            table, error = self._over_no_rows(self._bounds(None, None))
            return Answer(None, None, now, 0, table, error)
        if self._last is not None and window <= self._last:
            return self._last_answer or self._answer(self._last, None)
        if self._empty is None or self._empty[0] != window:
            self._empty = window, self._answer(window, None)
        return self._empty[1]

    def due_at(self) -> float | None:
        """Return when the clock alone will close the window that is open, if it will."""
        if self._current is None:
            return None
        if self._follows_rows:
            return passes_for_all_at(self._inputs, self._timeline.end_of(self._current))
        step = self._occupied.first_from(self._timeline.steps_of(self._current)[0])
        if step is None:
            return None
        end = self._timeline.end_of(max(self._current, self._timeline.oldest_covering(step)))
        return passes_for_all_at(self._inputs, end)

    def reset_landmark(self) -> None:
        """Fail: there is none."""
        raise AssertionError("windows that slide have no landmark")

    def _closed_at(self, window: int, now: float) -> float:
        return passed_by_all_at(self._inputs, self._timeline.end_of(window), now)

    def _due(self, now: float) -> Iterator[tuple[int, float | None]]:
        """Pass closed windows, and yield those that hold rows, and the first after each of these.

        Those after that would say the same as the first, and are passed over. With each window that
        was passed before comes the moment at which a late row amended it.
        """
        boundary = passed_by_all(self._inputs, now)
        if boundary is None:
            return
        end_of = self._timeline.end_of
        for window in sorted(window for window in self._amended if end_of(window) <= boundary):
            if self._last is None or window >= self._last:
                self._last, self._last_answer = window, None
            moment = self._amended.pop(window)
            yield window, moment
            yield from self._newly_followed(window, moment)
        while self._current is not None and end_of(self._current) <= boundary:
            window = self._current
            is_occupied = self._is_occupied(window)
            if is_occupied:
                self._last, self._last_answer = window, None
            if is_occupied or self._follows_rows:
                yield window, None
            self._follows_rows = is_occupied
            self._current = window + 1 if is_occupied else self._next_window(window, boundary)

    def _newly_followed(self, window: int, moment: float) -> Iterator[tuple[int, float]]:
        """Yield the window after one that late rows came for, if it has none and is not told yet.

        If it is still open, it will be.
        """
        after = window + 1
        if after == self._current:
            self._follows_rows = True
        elif not (self._is_occupied(after) or after in self._revisions):
            yield after, moment

    def _is_occupied(self, window: int) -> bool:
        return self._occupied.has_any(*self._timeline.steps_of(window))

    def _next_window(self, window: int | None, boundary: int | None) -> int | None:
        """Return the oldest window after this one that holds a row, or still can."""
        if boundary is None:
            return None
        first = _FIRST if window is None else self._timeline.steps_of(window + 1)[0]
        occupied = self._occupied.first_from(first)
        open_step = boundary // self._timeline.step
        step = open_step if occupied is None else min(occupied, open_step)
        oldest = self._timeline.oldest_covering(step)
        return oldest if window is None else max(window + 1, oldest)

    def _answer(self, window: int, due: float | None) -> Answer:
        first, end = self._timeline.steps_of(window)
        is_occupied = self._is_occupied(window)
        step = self._timeline.step
        bounds = self._bounds(window * self._timeline.per_slide * step, end * step)
        if is_occupied:
            table, error = self._over_rows(first, end, bounds)
        else:
            table, error = self._over_no_rows(bounds)
        failed, failure = self._failing.between(first, end)
        answer = Answer(
            self._bound(window * self._timeline.per_slide * step),
            self._bound(end * step),
            self._clock.now() if due is None else due,
            self._next_revision(window) if due is not None else self._revisions.get(window, 0),
            table,
            error,
            failed,
            failure,
        )
        if window == self._last:
            self._last_answer = answer
        return answer

    def _bounds(self, start: int | None, end: int | None) -> dict[str, pa.Table]:
        """Return the bounds of a window as tables."""
        schemas = self._bounds_schemas.items()
        return {name: bounds_table(schema, start, end) for name, schema in schemas}

    def _over_rows(
        self, first: int, end: int, bounds: dict[str, pa.Table]
    ) -> tuple[pa.Table, str | None]:
        """Evaluate a window, or say why that fails."""
        try:
            return self._evaluate(first, end, bounds), None
        except DatabaseError as failure:
            return empty_table(self._finish.schema), self._finish.said(failure)

    def _over_no_rows(self, bounds: dict[str, pa.Table]) -> tuple[pa.Table, str | None]:
        """Evaluate the query as it is where there are no rows."""
        try:
            return self._whole.run(**bounds), None
        except DatabaseError as failure:
            return empty_table(self._finish.schema), self._finish.said(failure)

    def _evaluate(self, first: int, end: int, bounds: dict[str, pa.Table]) -> pa.Table:
        if self._way is None:
            rows = sum(each.count_between(first, end) for each in self._rows)
            self._way = CheaperWay(window_rows=rows)
        if self._is_whole():
            try:
                chunks = {
                    f"chunk_{i}": rows.between(first, end) for i, rows in enumerate(self._rows)
                }
                return self._whole.run(**chunks, **bounds)
            except DatabaseError:
                self._go_by_increments()  # which can leave out the rows that fail
        self._feed(end)
        if self._position is not None and first < self._position:
            merged = [leaf.merged_of(first, end) for _, leaf in self._leaves]
        else:
            self._advance(first, end)
            merged = [leaf.merged() for _, leaf in self._leaves]
        return self._finish.run(merged, bounds)

    def _measured(self, answers: int, seconds: float) -> None:
        """Learn from what the answers cost."""
        if not answers:
            return
        if answers == 1 and self._readings > 1:  # else there were no chunks
            self._chunking.responded(self._reading_seconds + seconds)
        if isinstance(self._way, CheaperWay):
            self._way.measured((self._work_seconds + seconds) / answers)
        self._readings = 0
        self._work_seconds = 0.0

    # Forgetting

    def _next_revision(self, window: int) -> int:
        """Count an answer for a window, also one that was skipped."""
        if self._lateness is None:
            return 0
        revision = self._revisions.get(window, -1) + 1
        self._revisions[window] = revision
        return revision

    def _forget(self) -> None:
        """Let go what no window can need any more."""
        if self._current is None:
            return
        before = self._timeline.steps_of(self._current)[0]
        if self._last is not None and self._last_answer is None:
            before = min(before, self._timeline.steps_of(self._last)[0])
        if self._lateness is not None:
            before = min(before, self._oldest_that_can_be_amended())
        if self._position is not None and not self._is_whole():
            for _, leaf in self._leaves:
                leaf.forget(before)
        for rows in self._rows:
            rows.forget(before)
        self._occupied.forget(before)
        self._failing.forget(before)
        self._held_from = max(before, self._held_from)
        for window_input in self._inputs:
            window_input.forget(self._timeline.end_of(self._current - 1))
        if len(self._revisions) > self._revisions_kept:
            steps_of = self._timeline.steps_of
            self._revisions = {
                window: revision
                for window, revision in self._revisions.items()
                if steps_of(window)[0] >= before
            }
            self._revisions_kept = max(_REVISIONS, 2 * len(self._revisions))

    def _oldest_that_can_be_amended(self) -> int:
        """Return the first step of the oldest window that a late row can still fall into."""
        assert self._lateness is not None
        began = [each.newest for each in self._inputs if each.newest is not None]
        newest = min(began)  # those that never began are not waited for
        step = (newest - self._lateness) // self._timeline.step
        return self._timeline.steps_of(self._timeline.oldest_covering(step))[0]

    # What it is like

    def late_rows(self) -> int:
        """Return how many rows came too late for their windows."""
        return sum(window_input.late for window_input in self._inputs)

    def superseded_rows(self) -> int:
        """Return 0: every row counts."""
        return 0

    def memory_rows(self) -> int:
        """Return how many rows are held: of streams, and of partials."""
        rows = sum(each.rows for each in self._rows)
        return rows + sum(leaf.memory_rows() for _, leaf in self._leaves)

    def delivered(self) -> None:
        """Do nothing: each answer stands alone."""

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._whole.close()
        self._finish.close()
        for _, leaf in self._leaves:
            leaf.close()

    def describe(self) -> Description:
        """Return how it is evaluated at the moment, in words."""
        if self._way is True:
            return Description("windows are evaluated whole")
        keeps_rows = all(leaf.keeps_rows for _, leaf in self._leaves)
        parts = OVER_KEPT_ROWS if keeps_rows else BY_INCREMENTS
        if isinstance(self._way, CheaperWay):
            instead = ", not in these parts" if self._way.is_whole else ""
            way = f"{self._way.describe(parts)} at the moment{instead}"
        elif self._way is None:
            way = f"as is measured to be cheaper, whole or {parts}, once there is a window"
        else:
            way = parts
        chunks = self._chunking.chunks
        more = f"; the open step in {chunks} chunks as it comes" if chunks > 1 else ""
        merges = tuple(leaf.describe() for _, leaf in self._leaves)
        return Description(f"windows are evaluated {way}{more}", merges)
