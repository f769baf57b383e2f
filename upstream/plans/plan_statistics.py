"""What a plan did: the counts of rows in its operators, and the statistics of its arcs.

As in queues, every row is counted. For every operator, at every moment between two runs,

    taken + made = delivered + filtered + dropped + failed + absorbed

where each fate is counted where it happens, in a `Tally`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Final, ParamSpec, TypeVar

from ..statistics import QueueStatistics
from ..windows import WindowQueueStatistics

Given = ParamSpec("Given")
Made = TypeVar("Made")


class Failed(Enum):
    """The type of :data:`FAILED`: an enumeration with one member, for type checkers."""

    FAILED = "failed"


FAILED: Final = Failed.FAILED
"""Stands for the result of a function that raised."""


@dataclass(frozen=True, slots=True)
class OperatorStatistics:
    """The exact counters of one operator at one moment."""

    name: str
    taken: int
    """Rows taken from the arcs that feed it."""
    made: int
    """Complete windows; operators other than Aggregate make no rows of their own."""
    delivered: int
    """Rows put into the arc after it."""
    filtered: int
    """Rows that did not pass: of a filter, or of a join because they had no match."""
    dropped: int
    """Rows that were older than what was delivered for their key, or is delivered with them."""
    failed: int
    """Rows, or windows, for which a user's function raised."""
    absorbed: int
    """Tuples that went into windows."""
    evicted: int
    """Rows that a join dropped before their time, because it keeps a limited number per key."""
    error: Exception | None
    """The first failure."""

    @property
    def is_balanced(self) -> bool:
        """Whether every row is accounted for."""
        fates = self.delivered + self.filtered + self.dropped + self.failed + self.absorbed
        return self.taken + self.made == fates


@dataclass(frozen=True, slots=True)
class ArcStatistics:
    """One arc at one moment: the exact counters of its queue, and its mean staleness."""

    source: str
    """The operator that puts updates into it."""
    target: str
    """The operator that takes them, or `application`."""
    policy: str
    queue: QueueStatistics | WindowQueueStatistics
    queue_staleness: float
    application_staleness: float


@dataclass(frozen=True, slots=True)
class PlanStatistics:
    """The exact counters of a query at one moment."""

    name: str
    runs: int
    operators: tuple[OperatorStatistics, ...]
    """In the order in which they run; the callback, if there is one, is last."""
    arcs: tuple[ArcStatistics, ...]
    """Each arc stands after the arcs that feed it; the results are last."""

    @property
    def is_balanced(self) -> bool:
        """Whether every update is accounted for."""
        operators = all(operator.is_balanced for operator in self.operators)
        return operators and all(arc.queue.is_balanced for arc in self.arcs)


@dataclass(slots=True)
class Tally:
    """The counters in which an operator at work counts: those of `OperatorStatistics`.

    >>> tally = Tally()
    >>> tally.attempt(float, "1.5"), tally.attempt(float, "high")
    (1.5, <Failed.FAILED: 'failed'>)
    >>> tally.error
    ValueError("could not convert string to float: 'high'")
    """

    taken: int = 0
    made: int = 0
    delivered: int = 0
    filtered: int = 0
    dropped: int = 0
    failed: int = 0
    absorbed: int = 0
    evicted: int = 0
    error: Exception | None = None

    def attempt(
        self, function: Callable[Given, Made], *args: Given.args, **kwargs: Given.kwargs
    ) -> Made | Failed:
        """Call a user's function; if it raises, keep the first error and return `FAILED`.

        The caller counts what became of the row.
        """
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever it raises stops nothing else
            if self.error is None:
                self.error = error
            return FAILED

    def statistics(self, name: str) -> OperatorStatistics:
        """Return the current counters."""
        counters = {each.name: getattr(self, each.name) for each in fields(self)}
        return OperatorStatistics(name=name, **counters)
