"""What became of the rows that an operator took, and what functions of users raised.

Nothing is lost uncounted, as in queues. For every operator, at every moment between two runs,

    taken + made = delivered + filtered + dropped + failed + absorbed

where each fate is counted where it happens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


class Failed(Enum):
    """The type of :data:`FAILED`; an enumeration of one, so that type checkers can tell it."""

    FAILED = "failed"


FAILED: Final = Failed.FAILED
"""What stands for the result of a function that raised."""


@dataclass(frozen=True, slots=True)
class OperatorStatistics:
    """The exact counters of one operator at one moment."""

    name: str
    taken: int
    """Rows taken from the arcs that feed it."""
    made: int
    """Windows that were complete; other operators make nothing that they were not given."""
    delivered: int
    """Rows put into the arc after it."""
    filtered: int
    """Rows that did not pass: of a filter, or of a join for want of a match."""
    dropped: int
    """Rows that were older than what was delivered, or is delivered with them, for their key."""
    failed: int
    """Rows, or windows, for which a function of the user raised."""
    absorbed: int
    """Tuples that went into windows."""
    evicted: int
    """Rows that a join let go of before their time, since it keeps no more of one key."""
    error: Exception | None
    """What the first failure was."""

    @property
    def is_balanced(self) -> bool:
        """Whether every row is accounted for."""
        fates = self.delivered + self.filtered + self.dropped + self.failed + self.absorbed
        return self.taken + self.made == fates


class Tally:
    """The counters in which an operator at work counts.

    >>> tally = Tally()
    >>> tally.attempt(float, "1.5"), tally.attempt(float, "high")
    (1.5, <Failed.FAILED: 'failed'>)
    >>> tally.error
    ValueError("could not convert string to float: 'high'")
    """

    __slots__ = (
        "absorbed",
        "delivered",
        "dropped",
        "error",
        "evicted",
        "failed",
        "filtered",
        "made",
        "taken",
    )

    def __init__(self) -> None:
        self.taken = self.made = self.delivered = self.filtered = self.dropped = 0
        self.failed = self.absorbed = self.evicted = 0
        self.error: Exception | None = None

    def attempt(
        self, function: Callable[Given, Made], *args: Given.args, **kwargs: Given.kwargs
    ) -> Made | Failed:
        """Call a user's function; if it raises, note that, and return `FAILED`."""
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever it raises stops nothing else
            self.note_error(error)
            return FAILED

    def note_error(self, error: Exception) -> None:
        """Keep the first of the errors; what became of the row is for the caller to count."""
        if self.error is None:
            self.error = error

    def statistics(self, name: str) -> OperatorStatistics:
        """Return the counters as they are now."""
        return OperatorStatistics(
            name=name,
            taken=self.taken,
            made=self.made,
            delivered=self.delivered,
            filtered=self.filtered,
            dropped=self.dropped,
            failed=self.failed,
            absorbed=self.absorbed,
            evicted=self.evicted,
            error=self.error,
        )
