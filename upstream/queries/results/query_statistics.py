"""What a standing query has done so far."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueryStatistics:
    """Counts of a standing query. None of them ever falls, except those of what waits or is held.

    `results_due = results_taken + results_skipped + results_dropped + results_unchanged +
    results_waiting`. Skipped results were older than one that was given (update semantics,
    `latest()`, `emit_every`). Dropped results were not taken in time (append semantics). Unchanged
    results were the same as the one before (`emit="changed"`).

    `rows_late` arrived too late for their windows, or were older than the newest row of their key.
    `rows_superseded` were replaced by newer ones (update semantics without a window). `rows_failed`
    were left out because the query fails on them. Each counts once, or once for each window
    function that reads it, and `error` is the last reason. The held rows are rows of streams and of
    partials together.
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
