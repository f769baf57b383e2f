"""The tuple of an update stream: a new value for a key, at a time of its source.

An update is a named tuple and not a frozen dataclass. One is made for every dequeue, and a
dataclass takes four times as long to make (DECISIONS.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

Key = Hashable
"""What an update is about: any hashable value that equals itself."""


class Tombstone(Enum):
    """The type of :data:`TOMBSTONE`. It is an enumeration, so the value survives pickling."""

    TOMBSTONE = "tombstone"

    def __repr__(self) -> str:
        return "TOMBSTONE"


TOMBSTONE: Final = Tombstone.TOMBSTONE
"""The value that deletes a key. It is delivered like any other; then the key is forgotten."""


class Update(NamedTuple):
    """One tuple of an update stream: at `time`, in seconds, the value of `key` became `value`.

    >>> Update("IBM", 24.0, 0.0)
    Update(key='IBM', value=24.0, time=0.0)
    """

    key: Key
    value: object
    time: float


class Outcome(Enum):
    """What happened to an update when it was enqueued."""

    WAITING = "waiting"
    """Its key was not waiting and waits now."""
    SUPERSEDED = "superseded"
    """Its key was already waiting. The update replaced the older value that waited."""
    LATE = "late"
    """It is older than the newest update known for its key. It was dropped."""
    REJECTED = "rejected"
    """There was no room for it. It was dropped."""
    OUTSIDE = "outside"
    """It is in no open window of a window queue. It was dropped."""


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
