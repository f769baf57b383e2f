"""Counters of a queue that was detached for a while, as if it had been one queue all the time."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TypeVar

from upstream import QueueStatistics, WindowQueueStatistics

AnyStatistics = QueueStatistics | WindowQueueStatistics
Counted = TypeVar("Counted")


def sum_of(past: Counted, present: Counted) -> Counted:
    """Return counters that are the sums of those of two lives, of the first of which nothing waits.

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
