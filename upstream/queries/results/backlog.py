"""Results of a standing query, those that wait to be taken, and the counts of all of them.

A slow reader never makes the backlog grow without bound: if there are more results than are kept,
the oldest is dropped, and the next one that is taken says how many are missing before it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...rows.stream_times import WindowBound, is_before

if TYPE_CHECKING:
    import pyarrow as pa

    from .answer import Answer


@dataclass(frozen=True, slots=True)
class Result:
    """The result for one window or, without windows, for the moment.

    `window_start` and `window_end` have the type of the time column; the window is `[window_start,
    window_end)`. They are counts of rows for windows over rows, datetimes (UTC) for windows over
    arrival, and None without a window. A landmark's window begins at the oldest row and, if it has
    no slide, ends at the newest.

    `staleness` is how many seconds ago the result became possible when it is taken: since the
    arrival of the row that closed the window or, without a window, of the first row that no result
    before contained. `revision` counts the earlier results for this window, which late rows made
    outdated. `error` says why there is no result for this window; the table is then empty. `missed`
    is how many results between the previously taken one and this one were dropped. `rows_failed` is
    how many rows this result leaves out because the query fails on them, as a cast does on a text
    that is not a number.
    """

    window_start: WindowBound
    window_end: WindowBound
    staleness: float
    table: pa.Table
    revision: int = 0
    error: str | None = None
    missed: int = 0
    rows_failed: int = 0

    @classmethod
    def of(cls, answer: Answer, now: float, missed: int = 0) -> Result:
        """Return an answer as a result at this moment."""
        return cls(
            answer.start,
            answer.end,
            max(0.0, now - answer.due),
            answer.table,
            answer.revision,
            answer.error,
            missed,
            answer.rows_failed,
        )


@dataclass(frozen=True, slots=True)
class QueryStatistics:
    """Counts of a standing query. None of them ever falls, except those of what waits or is held.

    `results_due = results_taken + results_skipped + results_dropped + results_unchanged +
    results_waiting`. Skipped results were older than one that was given (update semantics,
    `latest()`, `emit_every`). Dropped results were not taken in time (append semantics). Unchanged
    results were the same as the one before (`emit="changed"`).

    `rows_late` arrived too late for their windows, or were older than the newest row of their key.
    `rows_superseded` were replaced by newer ones (update semantics without a window, `latest`).
    `rows_deleted` were the newest when their key was deleted, and `rows_expired` when it expired
    (`expire_after`). `rows_failed` were left out because the query fails on them. Each counts once,
    or once for each window function that reads it, and `error` is the last reason. The held rows
    are rows of streams and of partials together.

    The last three count what a query did to the stream that it fills: rows of results that were
    appended, rows that were left out because their key or time is NULL, and keys that were deleted.
    """

    name: str
    semantics: str
    results_due: int
    results_taken: int
    results_skipped: int
    results_dropped: int
    results_unchanged: int
    results_waiting: int
    rows_read: int
    rows_waiting: int
    rows_late: int
    rows_superseded: int
    rows_failed: int
    rows_held: int
    evaluations: int
    evaluation_seconds: float
    staleness_seconds_mean: float
    callback_failures: int
    error: str | None
    rows_deleted: int = 0
    rows_expired: int = 0
    rows_appended: int = 0
    rows_refused: int = 0
    keys_deleted: int = 0

    @property
    def is_balanced(self) -> bool:
        """Whether every result that was due is accounted for, as it always is."""
        return self.results_due == (
            self.results_taken
            + self.results_skipped
            + self.results_dropped
            + self.results_unchanged
            + self.results_waiting
        )


class Backlog:
    """The newest results that were not taken yet."""

    __slots__ = ("_answers", "_keep", "_missed", "lost", "staleness_seconds", "taken")

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._answers: deque[tuple[Answer, int]] = deque()
        self._missed = 0
        self.taken = 0
        """How many results were taken."""
        self.lost = 0
        """How many were dropped for newer ones."""
        self.staleness_seconds = 0.0
        """The sum of the staleness of the taken results."""

    def __len__(self) -> int:
        """Return how many results wait."""
        return len(self._answers)

    def add(self, answer: Answer) -> None:
        """Add a result as the newest; drop the oldest if there are too many."""
        self._answers.append((answer, self._missed))
        self._missed = 0
        if len(self._answers) > self._keep:
            _, missed = self._answers.popleft()
            self.lost += 1
            self._pass_on(missed + 1)

    def miss(self, results: int) -> None:
        """Note that results were due and never made; they would have come after all that wait."""
        self._missed += results

    def skip_to_newest(self) -> int:
        """Keep only the result for the newest window, and return how many were dropped."""
        if not self._answers:
            return 0
        newest = 0
        for place, (answer, _) in enumerate(self._answers):
            if not is_before(answer.end, self._answers[newest][0].end):
                newest = place
        answer, own = self._answers[newest]
        before = sum(missed + 1 for _, missed in list(self._answers)[:newest])
        after = len(self._answers) - 1 - newest  # older windows with new answers
        self._missed += after
        self._answers = deque([(answer, before + own)])
        return newest + after

    def oldest(self) -> Answer | None:
        """Return the next result to be taken."""
        return self._answers[0][0] if self._answers else None

    def take_all(self, now: float) -> list[Result]:
        """Take all results, oldest first."""
        taken = []
        while (result := self.take(now)) is not None:
            taken.append(result)
        return taken

    def take(self, now: float) -> Result | None:
        """Take the oldest result."""
        if not self._answers:
            return None
        answer, missed = self._answers.popleft()
        result = Result.of(answer, now, missed)
        if answer.delivered is not None:
            answer.delivered()
        self.taken += 1
        self.staleness_seconds += result.staleness
        return result

    def _pass_on(self, missed: int) -> None:
        """Make the next result say how many are missing before it."""
        if self._answers:
            answer, before = self._answers[0]
            self._answers[0] = (answer, before + missed)
        else:
            self._missed += missed
