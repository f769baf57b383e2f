"""The counters of streams and queues: summed, complete, or as the page shows them."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from typing import TypeVar

from upstream import QueueStatistics, StreamStatistics, WindowQueueStatistics

AnyStatistics = QueueStatistics | WindowQueueStatistics
Counters = dict[str, int | dict[str, int]]
Counted = TypeVar("Counted")


def sum_of(past: Counted, present: Counted) -> Counted:
    """Return the sums of the counters of a queue from before it was detached and from after.

    >>> from upstream.windows import TupleStatistics
    >>> counts = TupleStatistics(2, 1, 0, 0, 1, 0, 0)
    >>> sum_of(counts, counts).arrived
    4
    """
    if is_dataclass(past) and not isinstance(past, type):
        pairs = {
            field.name: sum_of(getattr(past, field.name), getattr(present, field.name))
            for field in fields(past)
        }
        return type(past)(**pairs)
    return past + present  # type: ignore[operator,no-any-return]  # they are numbers


def counters_of(statistics: AnyStatistics) -> Counters:
    """Return all counters by name; those of windows and of their tuples are two objects."""
    counters: Counters = asdict(statistics)
    return counters


def stream_counters(counts: StreamStatistics) -> dict[str, int]:
    """Return the counters of a stream that the page shows."""
    return {name: getattr(counts, name) for name in ("keys", "arrived", "late", "rejected")}


def queue_counters(counts: AnyStatistics) -> dict[str, int]:
    """Return the counters of a queue that the page shows, under the same names for every kind.

    A window queue takes in tuples, and conflates, sheds and delivers windows.
    """
    if isinstance(counts, WindowQueueStatistics):
        taken_in = {
            "arrived": counts.tuples.arrived,
            "late": counts.tuples.late,
            "rejected": counts.tuples.rejected,
            "dequeued": counts.tuples.used,
            "expired": counts.tuples.outside,
            "superseded": counts.windows.superseded,
            "shed": counts.windows.shed,
        }
    else:
        names = ("arrived", "late", "rejected", "dequeued", "expired", "superseded", "shed")
        taken_in = {name: getattr(counts, name) for name in names}
    others = ("delivered", "waiting", "in_process", "keys")
    return taken_in | {name: getattr(counts, name) for name in others}
