"""Staleness over time, drawn from an event log by the report's definition (section 3.3).

This knows nothing of how the queues integrate staleness, and is what that is checked against:

- application staleness at a time is its distance to the arrival of the oldest update that is newer
  than the newest one delivered;
- queue staleness is its distance to the arrival of the first update after the last one dequeued.

Both are 0 if there is no such update. This holds for queues that serve a key's updates in order and
shed no waiting update.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from upstream import Key
from upstream.events import Event, EventKind

FALLS_AT: Final = {"queue": EventKind.DEQUEUE, "application": EventKind.DELIVERY}


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of time in which staleness counts from one arrival, or is 0.

    It has no duration where an arrival was served at once.
    """

    start: float
    end: float
    since: float | None
    """The arrival from which staleness counts; None where it is 0."""

    @property
    def rises_from(self) -> float:
        """The staleness at the start."""
        return 0.0 if self.since is None else self.start - self.since

    @property
    def rises_to(self) -> float:
        """The staleness at the end."""
        return 0.0 if self.since is None else self.end - self.since

    @property
    def area(self) -> float:
        """The integral over the stretch."""
        return (self.rises_from + self.rises_to) / 2.0 * (self.end - self.start)


def staleness_lines(events: Iterable[Event], *, of: str, end: float) -> dict[Key, list[Segment]]:
    """Return the staleness of each key from its first arrival until `end`. O(events).

    `of` is "queue" or "application". Two segments that follow one another have different `since`.

    >>> from simulator.model.event_log import EventLog
    >>> log = EventLog()
    >>> log.note(1.0, EventKind.ARRIVAL, "IBM", 0)
    >>> log.note(3.0, EventKind.DEQUEUE, "IBM", 0)
    >>> staleness_lines(log, of="queue", end=4.0)["IBM"]
    [Segment(start=1.0, end=3.0, since=1.0), Segment(start=3.0, end=4.0, since=None)]
    """
    falls_at = FALLS_AT[of]
    pens: dict[Key, _Pen] = {}
    for time, kind, key, number in events:
        if kind is EventKind.ARRIVAL:
            pen = pens.get(key)
            if pen is None:
                pen = pens[key] = _Pen(time)
            pen.arrive(time, number)
        elif kind is falls_at:
            pens[key].fall(time, number)
    return {key: pen.finish(end) for key, pen in pens.items()}


def staleness_line(events: Iterable[Event], key: Key, *, of: str, end: float) -> list[Segment]:
    """Return the staleness of one key; [] if it never arrived. O(events)."""
    its_own = (event for event in events if event.key == key)
    return staleness_lines(its_own, of=of, end=end).get(key, [])


def mean_staleness(line: Sequence[Segment]) -> float:
    """Return the mean over time of a line that is not empty.

    >>> mean_staleness([Segment(0.0, 2.0, since=0.0), Segment(2.0, 4.0, since=None)])
    0.5
    """
    elapsed = line[-1].end - line[0].start
    return sum(segment.area for segment in line) / elapsed if elapsed else 0.0


def corners(line: Iterable[Segment]) -> list[tuple[float, float]]:
    """Return the points, each a time and the staleness, that a line is drawn through.

    >>> corners([Segment(0.0, 2.0, since=0.0), Segment(2.0, 4.0, since=1.0)])
    [(0.0, 0.0), (2.0, 2.0), (2.0, 1.0), (4.0, 3.0)]
    """
    points: list[tuple[float, float]] = []
    for segment in line:
        for point in (segment.start, segment.rises_from), (segment.end, segment.rises_to):
            if points[-1:] != [point]:
                points.append(point)
    return points


class _Pen:
    """Draws the line of one key, event by event."""

    __slots__ = ("pending", "segments", "since", "start")

    def __init__(self, start: float) -> None:
        self.start = start
        self.since: float | None = None
        self.pending: deque[tuple[int, float]] = deque()
        """The updates newer than all that were served: number and time, the oldest first."""
        self.segments: list[Segment] = []

    def arrive(self, time: float, number: int) -> None:
        """Note an arrival; the numbers of a key rise."""
        self.pending.append((number, time))
        self._turn(time)

    def fall(self, time: float, number: int) -> None:
        """Note that an update was dequeued or delivered: older ones matter no more."""
        while self.pending and self.pending[0][0] <= number:
            self.pending.popleft()
        self._turn(time)

    def finish(self, end: float) -> list[Segment]:
        """Draw until the end."""
        return [*self.segments, Segment(self.start, end, self.since)]

    def _turn(self, time: float) -> None:
        """Begin a new segment if staleness now counts from another arrival."""
        since = self.pending[0][1] if self.pending else None
        if since == self.since:
            return
        if self.segments or self.since is not None:
            self.segments.append(Segment(self.start, time, self.since))
        self.start, self.since = time, since
