"""What becomes of windows and of tuples, counted where it happens. Two laws always hold.

    windows   opened  = committed + superseded + shed + rejected + held
    tuples    arrived = used + dropped + outside + late + rejected + held

A window has one fate. A tuple may be in several windows, so what counts is its first fate: it is
*used* when it leaves for the first time, and *dropped* if the last window that held it went before.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..keys import DuePlaces


class WindowCounts:
    """The counters that all window buffers of one queue count in."""

    __slots__ = (
        "arrived",
        "committed",
        "dropped",
        "ends",
        "late",
        "opened",
        "outside",
        "pool_capacity",
        "refused",
        "rejected",
        "shed",
        "superseded",
        "used",
    )

    def __init__(self) -> None:
        self.opened = self.committed = self.superseded = self.shed = self.rejected = 0
        self.arrived = self.used = self.dropped = self.outside = self.late = 0
        self.refused = 0
        """Tuples that memory refused; `rejected` counts windows."""
        self.pool_capacity = 0
        """The size of the pool that had no room for the last of them."""
        self.ends: DuePlaces | None = None
        """The keys with open windows by when the first of these ends, once that was asked for."""


@dataclass(frozen=True, slots=True)
class WindowStatistics:
    """What has become of windows. `held` may fall, the others never do."""

    opened: int
    """Windows whose first tuple has arrived."""
    committed: int
    """Windows that were given to the consumer, whether it has all of their tuples yet or not."""
    superseded: int
    """Windows that gave way to a newer one of their key, or whose key was forgotten."""
    shed: int
    """Windows dropped at random."""
    rejected: int
    """Windows of which memory refused a tuple before they were committed."""
    held: int
    """Windows that wait, or are still open and may come to wait."""

    @property
    def is_balanced(self) -> bool:
        """Whether every window is accounted for."""
        fates = self.committed + self.superseded + self.shed + self.rejected
        return self.opened == fates + self.held


@dataclass(frozen=True, slots=True)
class TupleStatistics:
    """What has become of tuples, each by its first fate. `held` may fall, the others never do."""

    arrived: int
    used: int
    """Tuples that left in a committed window, once or more often."""
    dropped: int
    """Tuples that no window needed any more before they had left."""
    outside: int
    """Tuples in no window: between windows, or before the first window of their key."""
    late: int
    """Tuples older than the newest of their key, or in a tick that was closed already."""
    rejected: int
    """Tuples that memory refused."""
    held: int
    """Tuples that have not left yet, and that some window needs."""

    @property
    def is_balanced(self) -> bool:
        """Whether every tuple is accounted for."""
        fates = self.used + self.dropped + self.outside + self.late + self.rejected
        return self.arrived == fates + self.held


@dataclass(frozen=True, slots=True)
class WindowQueueStatistics:
    """The exact counters of a window queue at one moment."""

    windows: WindowStatistics
    tuples: TupleStatistics
    waiting: int
    """Keys of which a window waits."""
    under_processing: int
    """Keys that are READY: a window is committed, and has more to give."""
    idle: int
    """Keys that are IDLE: a window is committed, and its next tuple has not come."""
    in_process: int
    """Windows that have left in full, and were not delivered."""
    delivered: int
    """Windows delivered, taken as delivered among them."""
    taken_as_delivered: int
    """Windows taken as delivered because more were in process than the queue remembers."""
    aborted: int
    """Committed windows that were given up: memory refused one of their tuples, or their key was
    forgotten, or the consumer asked for it."""
    keys: int
    """Keys that have arrived and were not forgotten."""
    forgotten: int
    """Keys forgotten since, each time counted."""

    @property
    def is_balanced(self) -> bool:
        """Whether every window and every tuple is accounted for."""
        return self.windows.is_balanced and self.tuples.is_balanced
