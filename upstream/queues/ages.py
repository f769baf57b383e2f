"""What falls due as time passes: expiry, and the retirement of keys that have been quiet."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MethodType
from typing import Protocol
from weakref import ref

from ..errors import ParameterError
from ..keys import ArrivalOrder, KeyCell, Marker
from ..statistics import is_quantity


class DueSource(Protocol):
    """Something that has to be done at moments that can be foretold."""

    age: float
    """An arrival lets nothing fall due sooner than so many seconds after it."""

    def next_due(self) -> float:
        """Return when something falls due next, infinity if never."""
        ...

    def fall_due(self, due: float) -> None:
        """Do what falls due at `due`, which `next_due` returned."""
        ...


DueMethod = Callable[[KeyCell, float], None]
"""A method that is called with a key and the moment at which it fell due."""

Action = tuple["ref[object]", Callable[[object, KeyCell, float], None]]
"""Such a method, and its object."""


class AgeCursor:
    """A marker in the order of arrival, behind which lie the keys older than `age` seconds.

    Each action that was added, a method, is called with each key, and the due time, when it gets
    there; the object of the method is not kept alive. O(actions).
    """

    __slots__ = ("_actions", "_marker", "_order", "age")

    def __init__(self, order: ArrivalOrder, age: float) -> None:
        self.age = age
        self._actions: list[Action] = []
        self._order = order
        self._marker = Marker()
        order.prepend(self._marker)

    def add(self, action: DueMethod) -> None:
        """Call `action` from now on."""
        self._actions.append(_weak(action))

    def remove(self, action: DueMethod) -> None:
        """Call `action` no more."""
        self._actions.remove(_weak(action))

    def calls(self, action: DueMethod) -> bool:
        """Tell whether `action` was added."""
        return _weak(action) in self._actions

    @property
    def is_idle(self) -> bool:
        """Whether it has nothing to call."""
        return not self._actions

    def next_due(self) -> float:
        """Return when the next key falls due, infinity if there is none."""
        cell = self._order.next_cell(self._marker)
        return math.inf if cell is None else cell.arrival + self.age

    def fall_due(self, due: float) -> None:
        """Pass the next key, and call the actions with it."""
        cell = self._order.next_cell(self._marker)
        assert cell is not None, "a key that is due and is not there"
        self._order.move_past(self._marker, cell)
        for its_object, function in list(self._actions):
            target = its_object()
            if target is not None:
                function(target, cell, due)

    def close(self) -> None:
        """Take the marker out."""
        self._order.remove(self._marker)


def _weak(action: DueMethod) -> Action:
    assert isinstance(action, MethodType), "an action is a method"
    return ref(action.__self__), action.__func__


def check_age(name: str, seconds: object) -> float | None:
    """Return `seconds` as a float, or None; ParameterError unless it is finite and above zero."""
    if seconds is None:
        return None
    if not (is_quantity(seconds) and seconds > 0):
        raise ParameterError(name, seconds, "a finite number of seconds above zero, or None")
    return float(seconds)
