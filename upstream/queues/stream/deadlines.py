"""What becomes due as time passes: updates that expire, and keys that have been quiet too long.

A source says when it is due next. The deadlines keep one bound per source; nothing is due in the
source before its bound. The bound is the time that the source returned when it was asked last, but
at most `age` seconds after that call, because an update that arrived since may be due then. So an
enqueue does not have to note anything, and a source is asked again only at its bound.
"""

from __future__ import annotations

import math
from typing import Final, Protocol

from sortedcontainers import SortedList

from ...errors import ClosedError, ParameterError
from ...statistics import is_quantity

NEVER: Final = math.inf
AT_ONCE: Final = -math.inf


class DueSource(Protocol):
    """Something that has work to do at times that are known in advance."""

    age: float
    """An arrival makes nothing due sooner than this many seconds after it."""

    def next_due(self) -> float:
        """Return when something is due next; infinity if never."""
        ...

    def fall_due(self, due: float) -> None:
        """Do what is due at `due`, which `next_due` returned."""
        ...


Bound = tuple[float, float, int, DueSource]
"""When to ask a source, its age, a number that makes entries differ, and the source."""


class Deadlines:
    """The sources of one stream, ordered by when they are due. O(log sources) for each change.

    >>> deadlines = Deadlines()
    >>> deadlines.due_at
    inf
    """

    __slots__ = ("_bounds", "_closed", "_numbers", "_ordered", "due_at")

    def __init__(self) -> None:
        self._bounds: dict[DueSource, Bound] = {}
        self._ordered: SortedList[Bound] = SortedList()
        self._numbers = 0
        self._closed: str | None = None
        self.due_at = NEVER
        """Nothing is due before this time. A closed stream is always due, and then raises."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing can become due, and the stream is not closed."""
        return not self._bounds and self._closed is None

    @property
    def is_closed(self) -> bool:
        """Whether the stream is closed."""
        return self._closed is not None

    def watch(self, source: DueSource, now: float) -> None:
        """Start to watch `source`."""
        self._numbers += 1
        due = min(source.next_due(), _horizon(source, now))
        bound = self._bounds[source] = (due, source.age, self._numbers, source)
        self._ordered.add(bound)
        self._note_first()

    def stop_watching(self, source: DueSource) -> None:
        """Stop watching `source`. It is no error if it is not watched."""
        bound = self._bounds.pop(source, None)
        if bound is not None:
            self._ordered.remove(bound)
            self._note_first()

    def reconsider(self, source: DueSource, now: float) -> None:
        """Ask `source` again, because something may be due sooner than it said."""
        if source in self._bounds:
            self.stop_watching(source)
            self.watch(source, now)

    def catch_up_to(self, now: float) -> None:
        """Do what is due by `now`, in the order of time; a closed stream raises ClosedError."""
        if now < self.due_at:
            return
        if self._closed is not None:
            raise ClosedError(self._closed)
        ordered = self._ordered
        while ordered and ordered[0][0] <= now:
            bound, _, _, source = ordered[0]
            due = source.next_due()
            if due <= bound:
                source.fall_due(due)
            elif source in self._bounds:  # its own work may have stopped the watch
                self._move(source, min(due, _horizon(source, now)))
        self._note_first()

    def close(self, what: str) -> None:
        """Make nothing due any more. From now on every use raises ClosedError(`what`)."""
        self.clear()
        self._closed = what
        self.due_at = AT_ONCE

    def clear(self) -> None:
        """Stop watching all sources."""
        self._bounds.clear()
        self._ordered.clear()
        self._note_first()

    def _move(self, source: DueSource, due: float) -> None:
        old = self._bounds[source]
        self._ordered.remove(old)
        bound = self._bounds[source] = (due, *old[1:])
        self._ordered.add(bound)

    def _note_first(self) -> None:
        if self._closed is None:
            self.due_at = self._ordered[0][0] if self._ordered else NEVER

    def _check(self) -> None:
        assert sorted(self._bounds.values()) == list(self._ordered)
        assert self.is_closed or self.due_at == min((b[0] for b in self._ordered), default=NEVER)


def _horizon(source: DueSource, now: float) -> float:
    """Return the earliest time at which an arrival after `now` can make something due."""
    return max(now + source.age, math.nextafter(now, math.inf))


def check_age(name: str, seconds: object) -> float | None:
    """Return `seconds` as a float, or None; ParameterError unless it is finite and above 0."""
    if seconds is None:
        return None
    if not (is_quantity(seconds) and seconds > 0):
        raise ParameterError(name, seconds, "a finite number of seconds above 0, or None")
    return float(seconds)
