"""Helpers of the tests of operators: streams on one clock, and the counters of a query."""

from __future__ import annotations

from collections.abc import Iterable

from upstream import ManualClock, Stream, Update
from upstream.plans import ArcStatistics, OperatorStatistics, PlanQuery


class Streams:
    """Two streams on one clock."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.left = Stream(clock=self.clock)
        self.right = Stream(clock=self.clock)


def number_of(update: Update) -> float:
    """Return the value of an update; TypeError if it is no number."""
    if isinstance(update.value, int | float):
        return update.value
    raise TypeError(f"{update.value!r} is no number")


def values_of(updates: Iterable[Update]) -> list[object]:
    """Return the values of updates."""
    return [update.value for update in updates]


def rows_of(updates: Iterable[Update]) -> list[tuple[object, ...]]:
    """Return updates as plain tuples."""
    return [tuple(update) for update in updates]


def operator_of(query: PlanQuery, name: str) -> OperatorStatistics:
    """Return the counters of one operator."""
    [found] = [each for each in query.statistics().operators if each.name == name]
    return found


def arc_of(query: PlanQuery, source: str) -> ArcStatistics:
    """Return the counters of the arc after an operator."""
    [found] = [each for each in query.statistics().arcs if each.source == source]
    return found
