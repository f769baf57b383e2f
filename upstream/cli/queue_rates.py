"""How fast things happen in a queue: the difference of two looks at its counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from upstream.client import Counters, Staleness

COUNTERS: Final = ("in", "out", "superseded", "dropped")
"""What only grows as long as a queue lives."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a queue had counted and measured at one moment."""

    at: float
    counters: Counters
    staleness: Staleness


@dataclass(frozen=True, slots=True)
class QueueRates:
    """A queue between two looks. Rates are per second, None if they are not known.

    That is so after the first look, and after a queue was removed and made again.
    """

    queue: str
    waiting: int
    in_per_second: float | None
    out_per_second: float | None
    superseded_per_second: float | None
    dropped_per_second: float | None
    staleness: float | None
    """Mean queue staleness so far, in seconds."""
    present_staleness: float | None
    """The same at this moment."""
    lower_bound: float | None
    times_the_bound: float | None
    is_warming_up: bool
    """Whether staleness has not been measured for long enough to compare it with the bound."""


def rates_between(queue: str, before: Look | None, now: Look) -> QueueRates:
    """Return the rates between two looks, of which the former may be missing."""
    counted = _counted(now.counters)
    seconds = 0.0 if before is None else now.at - before.at
    earlier = {} if before is None else _counted(before.counters)

    is_another = any(counted[name] < earlier.get(name, 0) for name in COUNTERS)

    def rate(name: str) -> float | None:
        if seconds <= 0 or is_another:
            return None
        return (counted[name] - earlier[name]) / seconds

    return QueueRates(
        queue=queue,
        waiting=counted["waiting"],
        in_per_second=rate("in"),
        out_per_second=rate("out"),
        superseded_per_second=rate("superseded"),
        dropped_per_second=rate("dropped"),
        staleness=now.staleness.queue_staleness,
        present_staleness=now.staleness.present_queue_staleness,
        lower_bound=now.staleness.lower_bound,
        times_the_bound=now.staleness.ratio,
        is_warming_up=now.staleness.is_warming_up,
    )


def _counted(counters: Counters) -> Mapping[str, int]:
    """Return what queues of every kind count, updates or, of a queue of windows, windows."""
    windows, tuples = counters.windows, counters.tuples
    if windows is None or tuples is None:
        dropped = counters.late + counters.expired + counters.shed + counters.rejected
        return {
            "waiting": counters.waiting,
            "in": counters.arrived,
            "out": counters.dequeued,
            "superseded": counters.superseded,
            "dropped": dropped,
        }
    return {
        "waiting": windows.get("held", 0),
        "in": tuples.get("arrived", 0),
        "out": windows.get("committed", 0),
        "superseded": windows.get("superseded", 0),
        "dropped": windows.get("shed", 0) + windows.get("rejected", 0),
    }
