"""Windows from their commit to the delivery of their result.

A window is in process from the moment when it has left completely until its result is delivered.
Results that are never delivered must not make the queue grow. So the number is bounded: beyond it,
the oldest window is taken as delivered.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress

from ...errors import WindowNotInProcessError
from ...staleness import StalenessSums
from ...statistics import ProcessingCost
from ...updates import Key
from ...windows import WindowResult
from .window_place import KeptWindows, KeyProgress, WindowPlace


class CommittedWindow:
    """One window from its commit to its delivery."""

    __slots__ = ("end", "name", "place", "seconds", "version")

    place: WindowPlace[KeptWindows, KeyProgress]
    version: int
    end: float
    name: tuple[int, float]
    """The name of its result: the hash of its key, and its end. The key is not hashed again,
    because that may fail, and windows leave in the middle of a change."""
    seconds: float
    """How long the consumer has worked on it so far."""

    def __init__(
        self, place: WindowPlace[KeptWindows, KeyProgress], version: int, end: float
    ) -> None:
        self.place = place
        self.version = version
        self.end = end
        self.name = place.key_hash, end
        self.seconds = 0.0


class InProcessWindows:
    """The windows in process of one queue, at most `limit`, and the counts of those that left."""

    __slots__ = (
        "_by_name",
        "_cost",
        "_limit",
        "_sums",
        "_unclaimed",
        "_windows",
        "aborted",
        "delivered",
        "served",
        "served_at",
        "taken_as_delivered",
    )

    def __init__(self, sums: StalenessSums, cost: ProcessingCost, *, limit: int) -> None:
        self._sums = sums
        self._cost = cost
        self._limit = limit
        self._windows: OrderedDict[int, CommittedWindow] = OrderedDict()
        """The windows that have left and are not delivered, by identity, oldest first."""
        self._by_name: dict[tuple[int, float], list[CommittedWindow]] = {}
        """The same windows by their names."""
        self._unclaimed = 0
        """The number of windows that were taken as delivered and may still be delivered."""
        self.delivered = self.taken_as_delivered = 0
        self.aborted = 0
        """The number of committed windows that were aborted."""
        self.served: CommittedWindow | None = None
        """The window of the tuple that left last."""
        self.served_at = 0.0

    def __len__(self) -> int:
        return len(self._windows)

    def __iter__(self) -> Iterator[CommittedWindow]:
        """Iterate over the windows, oldest first."""
        return iter(self._windows.values())

    def note_service(self, now: float) -> None:
        """Count the time since the last tuple left as spent on its window."""
        window = self.served
        if window is not None:
            window.seconds += now - self.served_at
            self.served = None

    def add(self, window: CommittedWindow, now: float) -> None:
        """Note that a window has left completely and that its result will be delivered."""
        older: CommittedWindow | None = None
        alike = self._by_name.get(window.name)
        if alike is None:
            self._by_name[window.name] = [window]
        else:
            key = window.place.cell.key
            # The key was forgotten and has arrived again.
            older = next((one for one in alike if _is_equal(one.place.cell.key, key)), None)
            alike.append(window)
        self._windows[id(window)] = window
        if older is None and len(self._windows) > self._limit:
            older = next(iter(self._windows.values()))
        if older is not None:
            self._remove(older)
            self.taken_as_delivered += 1
            self._unclaimed += 1
            self._note_delivery(older, now)

    def deliver(self, result: WindowResult, now: float) -> None:
        """Note that the application has the result of a window, found by its key and end."""
        try:
            name = hash(result.key), result.end
            alike = self._by_name.get(name, ())
            window = next((one for one in alike if one.place.cell.key == result.key), None)
        except (AttributeError, TypeError):
            raise WindowNotInProcessError(result) from None
        if window is not None:
            self._remove(window)
            self._note_delivery(window, now)
        elif self._unclaimed:
            self._unclaimed -= 1  # it was taken as delivered
        else:
            raise WindowNotInProcessError(result)

    def clear(self) -> None:
        """Forget all windows, because the queue is closed."""
        self._windows.clear()
        self._by_name.clear()
        self.served = None

    def _remove(self, window: CommittedWindow) -> None:
        del self._windows[id(window)]
        alike = self._by_name.pop(window.name)
        if len(alike) > 1:
            self._by_name[window.name] = [one for one in alike if one is not window]

    def _note_delivery(self, window: CommittedWindow, now: float) -> None:
        self.delivered += 1
        self._cost.took(window.seconds)
        window.place.note_delivery(window.version, self._sums, now)


def _is_equal(one: Key, other: Key) -> bool:
    """Tell whether two keys are equal; False if the comparison fails."""
    with suppress(Exception):
        return one is other or bool(one == other)
    return False
