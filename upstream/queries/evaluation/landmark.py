"""Evaluation over everything since a landmark: one partial that only grows.

With a slide, there is an answer whenever time has passed a multiple of it and a row has arrived
since the last answer. Without a slide, there is an answer at each evaluation, if a row has arrived.
No row is too late here, because nothing leaves. Rows after the end of the answered window wait for
the next window.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from ...held_interrupt import HeldInterrupt
from ..chunks.grid import FOREVER
from ..chunks.reading import Inputs
from ..chunks.ring import Ring
from ..chunks.windows import Span
from ..results.answer import Answer, Answers, Counts, Description

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...rows.stream_times import WindowBound
    from ..chunks.cutter import Cut
    from ..chunks.reading import Input
    from ..results.failing_rows import FailingRows
    from .finish import Finish
    from .increments import ChunkLeaf, Increments

_FIRST: Final = -(1 << 63)
_LAST: Final = (1 << 63) - 1


class _So(NamedTuple):
    """How far answers have come."""

    end: int | None = None
    """The chunk after the newest window that was due."""
    unanswered: float | None = None
    """When the first row arrived that is in no answer yet."""


class LandmarkEvaluation:
    """Evaluate a query over all rows since a landmark."""

    __slots__ = (
        "_answered",
        "_failing",
        "_finish",
        "_has_slide",
        "_increments",
        "_inputs",
        "_leaves",
        "_newest",
        "_occupied",
        "_oldest",
        "_so",
        "_value",
    )

    def __init__(
        self,
        inputs: Sequence[Input],
        increments: Increments,
        leaves: Sequence[ChunkLeaf],
        *,
        has_slide: bool,
        finish: Finish,
        value: Callable[[int], WindowBound],
        failing: FailingRows,
    ) -> None:
        self._inputs = Inputs(inputs)
        self._increments = increments
        self._leaves = leaves
        self._finish = finish
        self._failing = failing
        self._has_slide = has_slide
        self._value = value
        self._occupied = Ring[float]()
        """The slides with rows that are in no answer yet, and when the first of these rows
        arrived."""
        self._so = _So()
        self._answered: dict[int, Answer] = {}
        """Answers by the ends of their windows, until they are given."""
        self._oldest: int | None = None
        self._newest: int | None = None

    def take_in(self, now: float) -> None:
        """Read what waits into the partials."""
        for number, each in enumerate(self._inputs.inputs):
            for batch, cut in each.waiting():
                take = self._increments.prepared(number, cut.pieces)
                with HeldInterrupt():
                    each.took(batch, cut)
                    take()
                    if cut.pieces:
                        self._note(cut, batch.arrival)
        self._increments.settle()

    def answers(self, now: float, keep: int) -> Answers:
        """Answer for the newest `keep` windows of those that are due."""
        due, passed = self._due(now)
        skipped = max(0, len(due) - keep)
        for end, moment in due[skipped:]:
            if end not in self._answered:  # the partial cannot go back to the end of this one
                self._answered[end] = self._answer(end, moment)
        answers = [self._answered[end] for end, _ in due[skipped:]]
        if due and not answers:
            # merged although no answer is requested
            self._increments.advance(self._spans(due[-1][0]))
        return Answers(answers, skipped, partial(self._commit, due, passed))

    def current(self, now: float) -> Answer | None:
        """Return the answer for the newest window that was due; without a slide, for all rows."""
        due, _ = self._due(now)
        end = due[-1][0] if due else self._so.end
        return self._over_no_rows(now) if end is None else self._answer(end, now)

    def due_at(self) -> float | None:
        """Return when the clock alone will close the open window, or None."""
        first = self._occupied.first_from(_FIRST) if self._has_slide else None
        if first is None:
            return None
        return self._inputs.passes_at(first + 1)

    def reset(self) -> None:
        """Forget everything that was read."""
        with HeldInterrupt():
            for leaf in self._leaves:
                leaf.reset()
            self._failing.forget([_LAST] * len(self._inputs.inputs))
            self._occupied.forget(_LAST)
            self._so = _So()
            self._oldest = self._newest = None
            self._answered.clear()

    def counts(self) -> Counts:
        """Return what became of rows so far; no row is too late."""
        late = ((each.stream, each.late) for each in self._inputs.inputs)
        return Counts.of_late(late, held=self._increments.rows)

    def describe(self) -> Description:
        """Describe how the query is evaluated."""
        words = "all rows since the landmark are in one partial"
        return Description(words, self._increments.describe())

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._increments.close()

    def _spans(self, end: int) -> tuple[Span, ...]:
        return (Span(_FIRST, end),) * len(self._inputs.inputs)

    def _note(self, cut: Cut, arrival: float) -> None:
        """Note that rows arrived."""
        unanswered = self._so.unanswered
        first = arrival if unanswered is None else min(arrival, unanswered)
        self._so = self._so._replace(unanswered=first)
        for chunk, _ in cut.pieces if self._has_slide else ():
            is_first = self._occupied.add_first(chunk, arrival)
            if not is_first and arrival < self._occupied.of(chunk)[0]:
                self._occupied.replace(chunk, [arrival])
        known = (cut.oldest, cut.newest)
        self._oldest = min(known if self._oldest is None else (*known, self._oldest))
        self._newest = max(known if self._newest is None else (*known, self._newest))

    def _due(self, now: float) -> tuple[list[tuple[int, float]], int]:
        """Return the ends of due windows, since when each is due, and the passed chunks."""
        if not self._has_slide:
            unanswered = self._so.unanswered
            return ([] if unanswered is None else [(1, unanswered)]), _LAST
        passed = self._inputs.passed(now)
        if passed is None:
            return [], _FIRST
        found: list[tuple[int, float]] = []
        newest = self._so.end
        for chunk in self._occupied.chunks(_FIRST, passed):
            if newest is None or chunk >= newest:
                newest = chunk + 1
                moment = self._inputs.passed_at(newest, now)
                found.append((newest, max(moment, *self._occupied.of(chunk))))
        return found, passed

    def _commit(self, due: Sequence[tuple[int, float]], passed: int) -> None:
        if due:
            self._so = _So(due[-1][0])
        self._answered.clear()
        self._occupied.forget(passed)
        if self._has_slide and passed not in (_FIRST, FOREVER):
            self._inputs.forget_times(passed)

    def _answer(self, end: int, due: float) -> Answer:
        spans = self._spans(end)
        table, error = self._finish.attempt(lambda: self._increments.table(spans, {}))
        assert self._oldest is not None
        assert self._newest is not None
        until = self._inputs.grid.start_of(end) if self._has_slide else self._newest
        bounds = self._value(self._oldest), self._value(until)
        return Answer(*bounds, due, 0, table, error, *self._failing.within(spans))

    def _over_no_rows(self, due: float) -> Answer:
        """Return the answer as long as there is no window."""
        return Answer(None, None, due, 0, *self._finish.over_no_rows({}))
