"""What happened in a run, event by event: enough to compute staleness anew.

An arrival is known by its number, which is also the value of its update: so what is dequeued says
which arrival it is. Events go to an `EventSink` as they happen: lists in memory, or files.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple, Protocol

from upstream import Key


class EventKind(IntEnum):
    """What may happen to an update."""

    ARRIVAL = 0
    DEQUEUE = 1
    DELIVERY = 2
    REJECTED = 3
    """It found the queue full, and never was in it."""
    SHED = 4
    """It was dropped by a full append queue, of which it was the one that came or one that waited.
    """


class Event(NamedTuple):
    """One thing that happened to the update with this number."""

    time: float
    kind: EventKind
    key: Key
    number: int


class EventSink(Protocol):
    """What takes events, in the order in which they happen."""

    def note(self, time: float, kind: EventKind, key: Key, number: int) -> None:
        """Take one event."""
        ...


class EventLog:
    """The events of one subscriber in the order in which they happened.

    >>> log = EventLog()
    >>> log.note(0.0, EventKind.ARRIVAL, "IBM", 0)
    >>> log.events()
    [Event(time=0.0, kind=<EventKind.ARRIVAL: 0>, key='IBM', number=0)]
    """

    __slots__ = ("keys", "kinds", "numbers", "times")

    def __init__(self) -> None:
        self.times: list[float] = []
        self.kinds: list[EventKind] = []
        self.keys: list[Key] = []
        self.numbers: list[int] = []

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Event]:
        return map(Event, self.times, self.kinds, self.keys, self.numbers)

    def note(self, time: float, kind: EventKind, key: Key, number: int) -> None:
        """Add one event."""
        self.times.append(time)
        self.kinds.append(kind)
        self.keys.append(key)
        self.numbers.append(number)

    def events(self, kind: EventKind | None = None) -> list[Event]:
        """Return the events, those of one kind if `kind` is given."""
        return [event for event in self if kind is None or event.kind is kind]
