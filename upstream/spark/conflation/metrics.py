"""What `conflate` counts, as a streaming query reports it: exact counters, and staleness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from typing import Protocol

DEFAULT_NAME = "upstream"


class _Progress(Protocol):
    """A `StreamingQueryProgress`, or what else has the observed metrics of a trigger."""

    @property
    def observedMetrics(self) -> Mapping[str, object]: ...  # noqa: N802 - as Spark calls it


@dataclass(frozen=True, slots=True)
class ConflationMetrics:
    """The counters of a query so far, or of one of its buckets.

    At every trigger `arrived` equals `dequeued + superseded + late + rejected + waiting`.
    """

    arrived: int
    """Updates that reached the queue."""
    dequeued: int
    """Updates let through."""
    superseded: int
    """Values that waited and were replaced by a newer one."""
    late: int
    """Updates older than the newest known for their key."""
    rejected: int
    """Rows with no key, or with no time that is a finite number."""
    waiting: int
    """Keys that wait."""
    keys: int
    """Keys that are known."""
    forgotten: int
    """Keys whose deletion was let through."""
    staleness_key_seconds: float
    """The staleness of all keys at this trigger, added up."""
    staleness_integral: float
    """The integral over time of the staleness of all keys, in key times seconds squared."""
    lifetimes_seconds: float
    """The time since its first arrival, of all keys together."""
    buckets: int
    """Those that had a turn, one per partition; the sums are over these.

    All that have seen anything have one in each trigger, unless the clock of the machine was set
    back: then some rest until it has caught up.
    """

    @classmethod
    def of(cls, progress: _Progress, name: str = DEFAULT_NAME) -> ConflationMetrics | None:
        """Return what a query's progress says, None if it does not yet.

        `name` is what `conflate` was given. Spark calls a `StreamingQueryListener` with each
        progress, and keeps the last ones in `query.recentProgress`.
        """
        observed = progress.observedMetrics.get(name)
        if observed is None:
            return None
        counted = {name: getattr(observed, name) for name in cls.names()}
        if counted["arrived"] is None:
            return None  # no bucket has seen anything yet
        return cls(**counted)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of what is counted, in order."""
        return [each.name for each in fields(cls)]

    def numbers(self) -> tuple[float, ...]:
        """Return what is counted, in the order of the names."""
        return astuple(self)

    @property
    def is_balanced(self) -> bool:
        """Whether every update is accounted for."""
        gone = self.dequeued + self.superseded + self.late + self.rejected
        return self.arrived == gone + self.waiting

    @property
    def staleness_seconds_mean(self) -> float:
        """The queue staleness, averaged over keys and the time since each first arrived.

        Each key weighs as much as it is old, while `queue_staleness()` of the library's queues
        gives all keys the same weight; for keys that are equally old the two are the same.
        """
        return self.staleness_integral / self.lifetimes_seconds if self.lifetimes_seconds else 0.0

    @property
    def staleness_seconds_now(self) -> float:
        """The mean over the keys of the queue staleness at this trigger."""
        return self.staleness_key_seconds / self.keys if self.keys else 0.0
