"""A queue of windows, as consumers of the service see it: each window is one update, its result.

Over HTTP nobody wants the tuples of a window one by one, so the service aggregates them itself. An
update is dequeued once the window is complete: its time is the window's end, and its value tells
start, end and result.
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
"""How many tuples one call aggregates at most, so that no window holds up everybody else."""


class OfNumbers:
    """An aggregate of those values that are numbers; others are counted and left out.

    What a source sends must not stop the windows of its key for ever.
    """

    __slots__ = ("_function", "left_out")

    def __init__(self, function: AggregateFunction[object, object]) -> None:
        self._function = function
        self.left_out = 0

    def initial(self) -> tuple[int, object]:
        """Return how many numbers there were, and the state that they make."""
        return 0, self._function.initial()

    def add(self, state: tuple[int, object], value: object) -> tuple[int, object]:
        """Return the state with one more value, if it is a number."""
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            self.left_out += 1
            return state
        numbers, inner = state
        return numbers + 1, self._function.add(inner, value)

    def finish(self, state: tuple[int, object]) -> object:
        """Return the result, None of no number at all."""
        numbers, inner = state
        if not numbers:
            return None
        result = self._function.finish(inner)
        if isinstance(result, int) and not LEAST_INTEGER <= result <= MOST_INTEGER:
            return float(result)  # the sum of many integers may be one that MessagePack cannot say
        return result


def value_of(field: str | None) -> Callable[[object], object]:
    """Return what is aggregated of a stored value: the value, or a field of it, if it has one."""

    def whole(stored: object) -> object:
        return None if stored is TOMBSTONE else python_value(stored)

    def part(stored: object) -> object:
        value = whole(stored)
        return value.get(field) if isinstance(value, dict) else None

    return whole if field is None else part


class WindowResults:
    """A window queue with its aggregate, with the methods of a queue of updates."""

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
        """Whether the last `dequeue` stopped only because it had done enough at once."""

    @property
    def left_out(self) -> int:
        """How many values were no numbers, and are in no result."""
        return self._numbers.left_out

    def dequeue(self) -> Update | None:
        """Return the result of the next window that is complete, or None if none is yet.

        None also after so many tuples that others should have a turn; `has_more` tells.
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

    def dequeue_many(self, limit: int) -> list[Update]:
        """Return up to `limit` results."""
        updates: list[Update] = []
        while len(updates) < limit and (update := self.dequeue()) is not None:
            updates.append(update)
        return updates

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
        """Hand the result out again, as the next one."""
        if id(update) not in self._results:
            raise NotInProcessError(update)
        self._returned.append(update)

    def waiting_since(self) -> None:
        """Return None: windows begin anew with each connection, so none can be resumed."""

    def queue_staleness(self) -> float:
        """Return the queue staleness in seconds, averaged over time, then over keys."""
        return self.queue.queue_staleness()

    def close(self) -> WindowQueueStatistics:
        """Detach from the stream, free everything, and return the final statistics."""
        self._results.clear()
        self._returned.clear()
        return self.queue.close()

    def read(self, key: Key) -> Update | None:
        """Return the newest tuple of the key's waiting window, or None if none waits."""
        tuples = self.queue.read(key)
        return tuples[-1] if tuples else None

    def __len__(self) -> int:
        return len(self.queue)
