"""Counters for what happens to windows and tuples. Two equations always hold.

    windows   opened  = committed + superseded + shed + rejected + held
    tuples    arrived = used + dropped + outside + late + rejected + held

Each window is counted once. A tuple may be in several windows, so only the first thing that happens
to it counts: it is *used* when it leaves for the first time, and *dropped* if the last window that
held it was dropped before.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..keys import DuePlaces


class WindowCounts:
    """The counters that all window buffers of one queue share."""

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
        """Tuples for which memory had no room; `rejected` counts windows."""
        self.pool_capacity = 0
        """The size of the pool that had no room for the last of them."""
        self.ends: DuePlaces | None = None
        """The keys by the first end of an open window; None until these times are needed."""


@dataclass(frozen=True, slots=True)
class WindowStatistics:
    """What has happened to windows. Only `held` can fall."""

    opened: int
    """Windows whose first tuple has arrived."""
    committed: int
    """Windows that were given to the consumer, even if some of their tuples are still missing."""
    superseded: int
    """Windows that were replaced by a newer one of their key, or whose key was forgotten."""
    shed: int
    """Windows that were dropped at random."""
    rejected: int
    """Windows that were dropped before a commit because memory had no room for a tuple."""
    held: int
    """Windows that wait, or are still open and may come to wait."""

    @property
    def is_balanced(self) -> bool:
        """Whether every window is accounted for."""
        fates = self.committed + self.superseded + self.shed + self.rejected
        return self.opened == fates + self.held


@dataclass(frozen=True, slots=True)
class TupleStatistics:
    """What has happened to tuples; the first event counts. Only `held` can fall."""

    arrived: int
    used: int
    """Tuples that left in a committed window, once or several times."""
    dropped: int
    """Tuples that had not left when the last window with them was dropped."""
    outside: int
    """Tuples in no window: between windows, or before the first window of their key."""
    late: int
    """Tuples that were older than the newest of their key, or in a closed tick."""
    rejected: int
    """Tuples for which memory had no room."""
    held: int
    """Tuples that have not left yet and that some window needs."""

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
    """Keys with a waiting window."""
    under_processing: int
    """Keys that are READY: a window is committed and has more tuples to give."""
    idle: int
    """Keys that are IDLE: a window is committed and its next tuple has not arrived."""
    in_process: int
    """Windows that have left completely and are not delivered."""
    delivered: int
    """Windows that were delivered or taken as delivered."""
    taken_as_delivered: int
    """Windows taken as delivered because more were in process than the queue may remember."""
    aborted: int
    """Committed windows that ended without a result: memory had no room for one of their tuples,
    their key was forgotten, or the consumer aborted them."""
    keys: int
    """Keys that have arrived and are not forgotten."""
    forgotten: int
    """How many times a key was forgotten."""

    @property
    def is_balanced(self) -> bool:
        """Whether every window and every tuple is accounted for."""
        return self.windows.is_balanced and self.tuples.is_balanced
