"""Which keys have not updated for so long that something falls due: expiry and retirement."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..errors import ParameterError
from ..keys import ArrivalOrder, KeyCell, Marker


class AgeCursor:
    """A marker in the order of arrival, behind which lie the keys older than `age` seconds.

    O(1) per key that falls due.
    """

    __slots__ = ("_marker", "_order", "age")

    def __init__(self, order: ArrivalOrder, age: float) -> None:
        self.age = age
        self._order = order
        self._marker = Marker()
        order.prepend(self._marker)

    def due(self, now: float) -> Iterator[KeyCell]:
        """Pass, and yield, the keys whose last arrival is at least `age` before `now`."""
        while True:
            cell = self._order.next_cell(self._marker)
            if cell is None or cell.arrival + self.age > now:
                return
            self._order.move_past(self._marker, cell)
            yield cell

    def next_due(self) -> float:
        """Return when the next key falls due, infinity if there is none."""
        cell = self._order.next_cell(self._marker)
        return math.inf if cell is None else cell.arrival + self.age

    def close(self) -> None:
        """Take the marker out."""
        self._order.remove(self._marker)


def check_age(name: str, seconds: float | None) -> None:
    """Raise ParameterError unless `seconds` is None or a finite number above zero."""
    if seconds is not None and not 0 < seconds < math.inf:
        raise ParameterError(name, seconds, "a finite number of seconds above zero, or None")
