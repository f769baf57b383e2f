"""What a standing query has done so far."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueryStatistics:
    """Counts of a standing query; none ever falls, but for what is waiting and what is held.

    `results_due = results_taken + results_skipped + results_dropped + results_unchanged +
    results_waiting`. Skipped are results that were older than one that was given (update
    semantics, `latest()`, `emit_every`); dropped are those that were not taken in time (append
    semantics); unchanged are those that were as the one before (`emit="changed"`).

    `rows_late` came too late for their windows, or were older than the newest of their key;
    `rows_superseded` were taken the place of by newer ones (update semantics without a window);
    `rows_failed` were left out since the query fails on them, each counted once, or once for each
    window function that reads it: `error` is the last reason. What is held are rows of streams and
    of partials together.
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
