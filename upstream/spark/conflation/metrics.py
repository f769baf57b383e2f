"""The observed metrics of `conflate`: exact counters, and staleness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from typing import Protocol

DEFAULT_NAME = "upstream"


class _Progress(Protocol):
    """A `StreamingQueryProgress`, or any object with the observed metrics of a trigger."""

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
    """Updates that were served."""
    superseded: int
    """Values that waited and were replaced by a newer one."""
    late: int
    """Updates older than the newest known for their key."""
    rejected: int
    """Rows without a key, or without a finite time."""
    waiting: int
    """Keys that wait."""
    keys: int
    """Keys that are known."""
    forgotten: int
    """Keys whose deletion was served."""
    staleness_key_seconds: float
    """The sum of the staleness of all keys at this trigger."""
    staleness_integral: float
    """The integral over time of the staleness of all keys, in key times seconds squared."""
    lifetimes_seconds: float
    """The sum over all keys of the time since their first arrival."""
    buckets: int
    """How many buckets ran in this trigger, one per partition; the sums are over these.

    Every bucket that has received rows runs in every trigger. But if the machine's clock was set
    back, some buckets pause until the clock has caught up.
    """

    @classmethod
    def of(cls, progress: _Progress, name: str = DEFAULT_NAME) -> ConflationMetrics | None:
        """Return the metrics in a query's progress; None if it has none yet.

        `name` is the name that `conflate` was given. Spark calls a `StreamingQueryListener` with
        each progress, and keeps the last ones in `query.recentProgress`.
        """
        observed = progress.observedMetrics.get(name)
        if observed is None:
            return None
        counted = {name: getattr(observed, name) for name in cls.names()}
        if counted["arrived"] is None:
            return None  # no bucket has received rows yet
        return cls(**counted)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the metrics, in order."""
        return [each.name for each in fields(cls)]

    def numbers(self) -> tuple[float, ...]:
        """Return the metrics, in the order of the names."""
        return astuple(self)

    @property
    def is_balanced(self) -> bool:
        """Whether every update is accounted for."""
        gone = self.dequeued + self.superseded + self.late + self.rejected
        return self.arrived == gone + self.waiting

    @property
    def staleness_seconds_mean(self) -> float:
        """The queue staleness, averaged over keys and the time since each first arrived.

        The weight of a key is its age, while `queue_staleness()` of the library's queues gives all
        keys the same weight. For keys of the same age the two are equal.
        """
        return self.staleness_integral / self.lifetimes_seconds if self.lifetimes_seconds else 0.0

    @property
    def staleness_seconds_now(self) -> float:
        """The mean over the keys of the queue staleness at this trigger."""
        return self.staleness_key_seconds / self.keys if self.keys else 0.0
