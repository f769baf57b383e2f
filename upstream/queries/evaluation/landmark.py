"""Evaluation over everything since a landmark: one partial that only grows.

With a slide there is an answer whenever time has passed another multiple of it and a row came in
between; without one, whenever it is evaluated, if a row came. No row is too late here: nothing has
left. Rows after the end of the window that is answered for wait for the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ...database.failure import DatabaseError
from ...rows.arrow_data import empty_table
from ..chunks.window_input import passed_by_all, passed_by_all_at, passes_for_all_at
from ..results.answer import Answer, Answers
from ..results.description import Description

if TYPE_CHECKING:
    from ...database.prepared import Prepared
    from ...rows.window_bound import WindowBound
    from ..chunks.window_input import WindowInput
    from .failing_rows import FailingRows
    from .finish import Finish
    from .step_leaf import StepLeaf

_FIRST: Final = -(1 << 63)
_LAST: Final = (1 << 63) - 1


class LandmarkEvaluation:
    """Evaluate a query over all rows since a landmark."""

    __slots__ = (
        "_bound",
        "_end",
        "_failing",
        "_finish",
        "_inputs",
        "_leaves",
        "_newest",
        "_occupied",
        "_oldest",
        "_slide",
        "_unanswered",
        "_whole",
    )

    def __init__(
        self,
        inputs: Sequence[WindowInput],
        leaves: Sequence[StepLeaf],
        *,
        finish: Finish,
        whole: Prepared,
        bound: Callable[[int], WindowBound],
        failing: FailingRows,
    ) -> None:
        self._inputs = inputs
        self._leaves = leaves
        self._finish = finish
        self._whole = whole
        self._failing = failing
        self._slide = inputs[0].clause.slide
        self._bound = bound
        self._occupied: dict[int, float] = {}
        """The slides with rows that no answer was about, and when the first of these came."""
        self._end: int | None = None
        """The end of the newest window that was due, in slides."""
        self._unanswered: float | None = None
        """When the first row came that no answer was about."""
        self._oldest: int | None = None
        self._newest: int | None = None

    def take_in(self, now: float) -> None:
        """Read what waits into the partials."""
        for number, window_input in enumerate(self._inputs):
            for cut in window_input.take_in(now):
                if not cut.pieces:
                    continue
                arrival = window_input.last_arrival
                if self._unanswered is None or arrival < self._unanswered:
                    self._unanswered = arrival
                for step, _ in cut.pieces:
                    self._occupied[step] = min(arrival, self._occupied.get(step, arrival))
                known = (cut.oldest, cut.newest)
                self._oldest = min(known if self._oldest is None else (*known, self._oldest))
                self._newest = max(known if self._newest is None else (*known, self._newest))
                self._failing.begin()
                for leaf in self._leaves:
                    if leaf.window == number:
                        leaf.feed(number, cut.pieces)

    def answers(self, now: float, keep: int) -> Answers:
        """Answer for the newest `keep` windows of those that are due."""
        due = list(self._due(now))
        skipped = max(0, len(due) - keep)
        answers = [self._answer(end, moment) for end, moment in due[skipped:]]
        if due and not answers:
            self._advance(due[-1][0])  # so that partials are merged, although nobody asks
        return Answers(answers, skipped)

    def current(self, now: float) -> Answer | None:
        """Answer for the newest window that was due; without a slide, for everything so far."""
        return self._over_no_rows(now) if self._end is None else self._answer(self._end, now)

    def due_at(self) -> float | None:
        """Return when the clock alone will close the window that is open, if it will."""
        if not self._slide or not self._occupied:
            return None
        end = (min(self._occupied) + 1) * self._slide
        return passes_for_all_at(self._inputs, end)

    def reset_landmark(self) -> None:
        """Forget everything that was read."""
        for leaf in self._leaves:
            leaf.reset()
        self._failing.forget(_LAST)
        self._occupied.clear()
        self._end = self._unanswered = self._oldest = self._newest = None

    def late_rows(self) -> int:
        """Return 0: no row is too late."""
        return sum(window_input.late for window_input in self._inputs)

    def superseded_rows(self) -> int:
        """Return 0: every row counts."""
        return 0

    def memory_rows(self) -> int:
        """Return how many rows of partials are held."""
        return sum(leaf.memory_rows() for leaf in self._leaves)

    def delivered(self) -> None:
        """Do nothing: each answer stands alone."""

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._whole.close()
        self._finish.close()
        for leaf in self._leaves:
            leaf.close()

    def describe(self) -> Description:
        """Return how it is evaluated, in words."""
        merges = tuple(leaf.describe() for leaf in self._leaves)
        return Description("everything since the landmark is in one partial", merges)

    def _due(self, now: float) -> Iterator[tuple[int, float]]:
        """Yield the ends of windows that are due, with the moments at which they were."""
        if not self._slide:
            if self._unanswered is not None:
                self._end = 1
                yield 1, self._unanswered
                self._unanswered = None
            return
        passed = passed_by_all(self._inputs, now)
        if passed is None:
            return
        closed = passed // self._slide
        for step in sorted(step for step in self._occupied if step < closed):
            arrival = self._occupied.pop(step)
            if self._end is None or step >= self._end:
                self._end = step + 1
                end = self._end * self._slide
                moment = passed_by_all_at(self._inputs, end, now)
                yield self._end, max(moment, arrival)
        for window_input in self._inputs:
            window_input.forget(closed * self._slide)

    def _advance(self, end: int) -> None:
        for leaf in self._leaves:
            leaf.advance(_FIRST, end)

    def _answer(self, end: int, due: float) -> Answer:
        error = None
        try:
            self._advance(end)
            table = self._finish.run([leaf.merged() for leaf in self._leaves])
        except DatabaseError as failure:
            table, error = empty_table(self._finish.schema), self._finish.said(failure)
        assert self._oldest is not None
        assert self._newest is not None
        until = end * self._slide if self._slide else self._newest
        bounds = self._bound(self._oldest), self._bound(until)
        return Answer(*bounds, due, 0, table, error, *self._failing.between(_FIRST, end))

    def _over_no_rows(self, due: float) -> Answer:
        """Answer as long as there is no window."""
        table, error = empty_table(self._finish.schema), None
        try:
            table = self._whole.run()
        except DatabaseError as failure:
            error = self._finish.said(failure)
        return Answer(None, None, due, 0, table, error)
