"""Which keys have not updated for so long that something falls due: expiry and retirement."""

from __future__ import annotations

import math

from ..errors import ParameterError
from ..keys import ArrivalOrder, KeyCell, Marker
from ..statistics import is_quantity


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

    def take_due(self, now: float) -> KeyCell | None:
        """Pass, and return, the next key whose last arrival is at least `age` before `now`."""
        cell = self._order.next_cell(self._marker)
        if cell is None or cell.arrival + self.age > now:
            return None
        self._order.move_past(self._marker, cell)
        return cell

    def next_due(self) -> float:
        """Return when the next key falls due, infinity if there is none."""
        cell = self._order.next_cell(self._marker)
        return math.inf if cell is None else cell.arrival + self.age

    def close(self) -> None:
        """Take the marker out."""
        self._order.remove(self._marker)


def check_age(name: str, seconds: object) -> None:
    """Raise ParameterError unless `seconds` is None or a finite number above zero."""
    if seconds is not None and not (is_quantity(seconds) and seconds > 0):
        raise ParameterError(name, seconds, "a finite number of seconds above zero, or None")
