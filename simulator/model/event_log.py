"""The events of a run in memory: enough to compute staleness anew.

The number of an arrival is also the value of its update, so a dequeued update tells which arrival
it is. Events go to an `EventSink` as they happen: the log here, or files.
"""

from __future__ import annotations

from upstream import AppendQueue, Clock, Key, RandomShedding
from upstream.events import Event, EventKind, EventSink
from upstream.policies import SHEDDING_CAPACITY


class EventLog(list[Event]):
    """The events of one subscriber in the order in which they happened.

    >>> log = EventLog()
    >>> log.note(0.0, EventKind.ARRIVAL, "IBM", 0)
    >>> log
    [Event(time=0.0, kind=<EventKind.ARRIVAL: 'arrival'>, key='IBM', number=0)]
    """

    __slots__ = ()

    def note(self, time: float, kind: EventKind, key: Key, number: int) -> None:
        """Add one event."""
        self.append(Event(time, kind, key, number))

    def of_kind(self, kind: EventKind) -> list[Event]:
        """Return the events of one kind."""
        return [event for event in self if event.kind is kind]


class NotedShedding(RandomShedding):
    """Random load shedding that remembers its last choice until `take_choice`.

    The queue counts what it sheds and does not say which updates these were. An event log needs to
    know, so the choices are remembered and applied to the numbers of the waiting updates.
    """

    __slots__ = ("_choice",)

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._choice: int | None = None

    def victim(self, waiting: int) -> int:
        """Return which of `waiting` updates to drop, or `waiting` for the new one."""
        self._choice = super().victim(waiting)
        return self._choice

    def take_choice(self) -> int | None:
        """Return the choice since this was last called, None if nothing was shed."""
        choice, self._choice = self._choice, None
        return choice


class SheddingNotes:
    """Passes events on to a sink; adds what was shed, after the arrival that caused it."""

    __slots__ = ("_shedding", "_sink", "_waiting")

    def __init__(self, shedding: NotedShedding, sink: EventSink) -> None:
        self._shedding = shedding
        self._sink = sink
        self._waiting: list[tuple[Key, int]] = []
        """The waiting updates, oldest first: at most the queue's capacity plus one."""

    def note(self, time: float, kind: EventKind, key: Key, number: int) -> None:
        """Take one event."""
        self._sink.note(time, kind, key, number)
        if kind is EventKind.DEQUEUE:
            served = self._waiting.pop(0)
            assert served == (key, number), "an append queue that is not first in, first out"
        elif kind is EventKind.ARRIVAL:
            self._waiting.append((key, number))
            choice = self._shedding.take_choice()
            if choice is not None:
                self._sink.note(time, EventKind.SHED, *self._waiting.pop(choice))


def noted_shedding(
    clock: Clock, sink: EventSink, *, capacity: int | None, seed: int
) -> tuple[AppendQueue, EventSink]:
    """Return a queue of the policy append-shedding, and the sink that takes its events.

    It behaves as the queue of `make_queue`. It is not given rates and costs, which it does not use.
    """
    shedding = NotedShedding(seed)
    capacity = SHEDDING_CAPACITY if capacity is None else capacity
    queue = AppendQueue(clock=clock, capacity=capacity, shedding=shedding)
    return queue, SheddingNotes(shedding, sink)
