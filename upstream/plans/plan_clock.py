"""The clock of a plan: that of its streams, so that what it measures and what they do agree."""

from __future__ import annotations

from collections.abc import Iterator

from ..clock import Clock, SystemClock
from ..errors import ParameterError
from .plan_tree import Feed, arc_from
from .source import Source


def clock_of(plan: Feed) -> Clock:
    """Return the one clock of a plan's streams; ParameterError if they have several.

    All system clocks are one.
    """
    first, *others = _clocks(plan)
    for other in others:
        is_system = isinstance(first, SystemClock) and isinstance(other, SystemClock)
        if other is not first and not is_system:
            raise ParameterError("clock", None, "given, as the streams have different ones")
    return first


def _clocks(plan: Feed) -> Iterator[Clock]:
    operator = arc_from(plan).operator
    if isinstance(operator, Source):
        yield operator.stream.clock
    for arc in operator.arcs:
        yield from _clocks(arc)
