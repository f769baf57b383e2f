"""A queue of windows as the service's clients see it: each window is one update, its result.

Clients do not need the tuples of a window one by one, so the service aggregates them. A window is
dequeued once it is complete. The update's time is the window's end, and its value has the start,
the end and the result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import msgspec

from upstream import (
    TOMBSTONE,
    Aggregate,
    AggregateFunction,
    Key,
    NotInProcessError,
    Update,
    WindowQueue,
    WindowQueueStatistics,
    WindowResult,
)
from upstream.windows.aggregate_functions import function_from

from .bodies import python_value

LEAST_INTEGER = -(2**63)
MOST_INTEGER = 2**64 - 1
TUPLES_AT_ONCE = 5_000
"""The most tuples that one call aggregates, so that no window blocks the event loop."""


class OfNumbers:
    """An aggregate of the values that are numbers; others are counted and left out.

    A bad value must not stop the windows of its key for ever.
    """

    __slots__ = ("_function", "left_out")

    def __init__(self, function: AggregateFunction[object, object]) -> None:
        self._function = function
        self.left_out = 0

    def initial(self) -> tuple[int, object]:
        """Return the number of numbers, and the state of the aggregate."""
        return 0, self._function.initial()

    def add(self, state: tuple[int, object], value: object) -> tuple[int, object]:
        """Return the state with one more value, if it is a number."""
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            self.left_out += 1
            return state
        numbers, inner = state
        return numbers + 1, self._function.add(inner, value)

    def finish(self, state: tuple[int, object]) -> object:
        """Return the result, or None if there was no number."""
        numbers, inner = state
        if not numbers:
            return None
        result = self._function.finish(inner)
        if isinstance(result, int) and not LEAST_INTEGER <= result <= MOST_INTEGER:
            return float(result)  # the sum of many integers may be too large for MessagePack
        return result


def value_of(field: str | None) -> Callable[[object], object]:
    """Return the part of a stored value that is aggregated: the value itself, or a member of it."""

    def whole(stored: object) -> object:
        return None if stored is TOMBSTONE else python_value(stored)

    def part(stored: object) -> object:
        value = whole(stored)
        return value.get(field) if isinstance(value, dict) else None

    return whole if field is None else part


class WindowResults:
    """A window queue with its aggregate, and the methods of a queue of updates."""

    __slots__ = ("_aggregate", "_numbers", "_results", "_returned", "has_more", "queue")

    def __init__(self, queue: WindowQueue, aggregate: str, *, of: str | None = None) -> None:
        self.queue = queue
        function = function_from(aggregate)
        self._numbers = OfNumbers(function)
        if aggregate == "count" and of is None:
            self._aggregate = Aggregate(function)
        else:
            self._aggregate = Aggregate(self._numbers, of=value_of(of))
        self._results: dict[int, tuple[Update, WindowResult]] = {}
        self._returned: deque[Update] = deque()
        self.has_more = False
        """Whether the last `dequeue` stopped only because it had aggregated enough tuples."""

    @property
    def left_out(self) -> int:
        """How many values were not numbers, and are in no result."""
        return self._numbers.left_out

    def dequeue(self) -> Update | None:
        """Return the result of the next complete window, or None if no window is complete.

        None also after many tuples, to let other tasks run; `has_more` tells the difference.
        """
        if self._returned:
            return self._returned.popleft()
        self.has_more = False
        for _ in range(TUPLES_AT_ONCE):
            window_tuple = self.queue.dequeue()
            if window_tuple is None:
                return None
            result = self._aggregate.process(window_tuple)
            if result is not None:
                return self._update_of(result)
        self.has_more = True
        return None

    def _update_of(self, result: WindowResult) -> Update:
        value = {"start": result.start, "end": result.end, "result": result.value}
        update = Update(result.key, msgspec.json.encode(value), result.end)
        self._results[id(update)] = (update, result)
        return update

    def deliver(self, update: Update) -> None:
        """Note that the application has the result."""
        known = self._results.pop(id(update), None)
        if known is None:
            raise NotInProcessError(update)
        self.queue.deliver(known[1])

    def give_back(self, update: Update) -> None:
        """Let a result wait again, as the next one."""
        if id(update) not in self._results:
            raise NotInProcessError(update)
        self._returned.append(update)

    def waiting_since(self) -> float | None:
        """Return None: windows begin anew with each connection, so no connection can resume."""
        return None

    def queue_staleness(self) -> float:
        """Return the mean queue staleness in seconds."""
        return self.queue.queue_staleness()

    def close(self) -> WindowQueueStatistics:
        """Detach from the stream, release everything, and return the final statistics."""
        self._results.clear()
        self._returned.clear()
        return self.queue.close()

    def read(self, key: Key) -> Update | None:
        """Return the newest tuple of the key's waiting window, or None if it has none."""
        tuples = self.queue.read(key)
        return tuples[-1] if tuples else None

    def __len__(self) -> int:
        return len(self.queue)
