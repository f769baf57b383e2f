"""The exact counters of queues of all kinds, as JSON objects."""

from __future__ import annotations

from dataclasses import asdict

from upstream import QueueStatistics, WindowQueueStatistics

Counters = dict[str, int | dict[str, int]]


def counters_of(statistics: object) -> Counters:
    """Return the counters by name; those of windows and their tuples are two objects more."""
    assert isinstance(statistics, QueueStatistics | WindowQueueStatistics)
    counters: Counters = asdict(statistics)
    return counters
