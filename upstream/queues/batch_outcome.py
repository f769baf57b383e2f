"""The outcomes of the rows of a batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..updates import Outcome


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """How many rows of a batch had each outcome. The sum is the number of rows."""

    waiting: int
    superseded: int
    late: int
    rejected: int
    rejected_rows: tuple[int, ...] = ()
    """The rows that were rejected, counted from 0."""
    outside: int = 0
    """Rows that are in no open window; only queues of windows have them."""


def count_outcomes(outcomes: list[Outcome]) -> BatchOutcome:
    """Count how many rows had each outcome."""
    counts = Counter(outcomes)
    return BatchOutcome(
        waiting=counts[Outcome.WAITING],
        superseded=counts[Outcome.SUPERSEDED],
        late=counts[Outcome.LATE],
        rejected=counts[Outcome.REJECTED],
        rejected_rows=tuple(
            row for row, outcome in enumerate(outcomes) if outcome is Outcome.REJECTED
        ),
        outside=counts[Outcome.OUTSIDE],
    )
