"""An append queue with random load shedding that tells which updates it drops.

The queue counts what it sheds and names nothing, which is all that it needs to. A log of events
needs the names: so its choices are noted, and applied to the numbers of what waits.
"""

from __future__ import annotations

from upstream import AppendQueue, Clock, Key, RandomShedding
from upstream.policies import SHEDDING_CAPACITY

from .event_log import EventKind, EventSink


class NotedShedding(RandomShedding):
    """Random load shedding that remembers its last choice until it is asked for."""

    __slots__ = ("_choice",)

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._choice: int | None = None

    def victim(self, waiting: int) -> int:
        """Return which of `waiting` updates to drop, or `waiting` for the one that comes."""
        self._choice = super().victim(waiting)
        return self._choice

    def take_choice(self) -> int | None:
        """Return the choice since this was last called, None if nothing was shed."""
        choice, self._choice = self._choice, None
        return choice


class SheddingNotes:
    """Passes events on to a sink, and notes what was shed after the arrival that was the cause."""

    __slots__ = ("_shedding", "_sink", "_waiting")

    def __init__(self, shedding: NotedShedding, sink: EventSink) -> None:
        self._shedding = shedding
        self._sink = sink
        self._waiting: list[tuple[Key, int]] = []
        """What waits, the oldest first: at most the queue's capacity, and one."""

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
    """Return the queue of the policy append-shedding, and what takes its events.

    It does what the one of `make_queue` does; rates and costs, which it does not use, are not told.
    """
    shedding = NotedShedding(seed)
    capacity = SHEDDING_CAPACITY if capacity is None else capacity
    queue = AppendQueue(clock=clock, capacity=capacity, shedding=shedding)
    return queue, SheddingNotes(shedding, sink)
