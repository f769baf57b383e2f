"""What an evaluation gives: answers to a query, and what all kinds of evaluation have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...rows.arrow_data import empty_table

if TYPE_CHECKING:
    import pyarrow as pa

    from ...rows.stream_times import WindowBound


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for a window, or for now where there are no windows (then without bounds).

    `due` is the moment at which a fresher answer was due than any before: when the window closed,
    or when the first row came that no answer was about. `table` is empty where there is an `error`.
    `rows_failed` rows are left out of it because the query fails on them, and `failure` says how it
    fails on one of them.
    """

    start: WindowBound
    end: WindowBound
    due: float
    revision: int
    table: pa.Table
    error: str | None = None
    rows_failed: int = 0
    failure: str | None = None
    delivered: Callable[[], None] | None = None
    """What is to be called when the answer was taken."""

    def or_failed(self) -> Answer:
        """Return the answer or, if rows had to be left out of it, an error instead of it."""
        if not self.rows_failed or self.error is not None:
            return self
        rows = "1 row fails" if self.rows_failed == 1 else f"{self.rows_failed} rows fail"
        empty = empty_table(self.table.schema)
        return replace(self, table=empty, error=f"{rows}: {self.failure}")


@dataclass(frozen=True, slots=True)
class Answers:
    """The newest answers that were asked for, oldest first, and how many older ones were due.

    Nothing has changed until `commit` is called: an evaluation that is interrupted before gives the
    same answers again.
    """

    answers: Sequence[Answer] = ()
    skipped: int = 0
    commit: Callable[[], None] = lambda: None


class Counts(NamedTuple):
    """What became of rows: too late for their windows, superseded by newer ones, and held."""

    late: int = 0
    superseded: int = 0
    held: int = 0


BY_INCREMENTS = "by increments"
OVER_KEPT_ROWS = "over kept rows"


@dataclass(frozen=True, slots=True)
class Description:
    """What `explain` says of an evaluation.

    `merges` tells for each leaf how its partials are merged; None where the query is not run in
    parts.
    """

    now: str
    merges: tuple[str, ...] | None = None


class Evaluation(Protocol):
    """How one standing query is evaluated.

    An exception in any of this leaves the evaluation as it was, or further on by whole batches.
    """

    def take_in(self, now: float) -> None:
        """Read what the streams have, and work as far ahead as can be."""

    def answers(self, now: float, keep: int) -> Answers:
        """Give the newest `keep` of the answers that are due, and count the others as skipped."""

    def current(self, now: float) -> Answer | None:
        """Answer as things are at a moment, after `answers` for the same moment.

        For the newest window that is closed, with rows in it or without, or for all rows; None if
        nothing is remembered that could be asked for.
        """

    def due_at(self) -> float | None:
        """Return when the clock alone will make an answer due, if it will."""

    def counts(self) -> Counts:
        """Return what became of rows so far."""

    def describe(self) -> Description:
        """Return how it is evaluated at the moment, in words."""

    def close(self) -> None:
        """Give back what it has of DuckDB."""
