"""The counts of a continuous view."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ViewStatistics:
    """Counts of a view. None of them ever falls, except those of what waits or is held.

    `rows_waiting` were appended and are not in the partials yet. The held rows are those of
    partials; if views share the state of a stream, its rows count in each of them. `rows_failed`
    were left out because the query fails on them, and `error` is the last reason. `refreshes` is
    how often the result was computed. `reads_per_refresh` is an average in which recent results
    count most.
    """

    name: str
    rows_read: int
    rows_waiting: int
    rows_held: int
    rows_failed: int
    reads: int
    refreshes: int
    reads_per_refresh: float
    evaluation_seconds: float
    error: str | None
