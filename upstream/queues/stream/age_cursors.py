"""Keys that reach an age. At some ages updates expire, and at another quiet keys are forgotten.

For each age there is a cursor in the stream's arrival order. The keys on its older side had reached
the age when the cursor passed them. A key that is updated moves to the newest end, which is ahead
of all cursors. So an update costs the same for any number of ages.

Several cursors may be between the same two keys. They share one marker there, so that finding the
next key does not step over each of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...keys import ArrivalOrder, KeyCell, Link
from .kept_order import KeptOrder

if TYPE_CHECKING:
    from .deadlines import DueSource

Action = Callable[[KeyCell, float], None]
"""A function that is called with a key and the time at which the key reached an age."""


class _Gap(Link):
    """The marker of all cursors between the same two keys."""

    __slots__ = ("cursors",)

    def __init__(self) -> None:
        super().__init__()
        self.cursors: set[AgeCursor] = set()


class AgeCursor:
    """Call the actions with each key that reaches `age` seconds. O(actions) per key, amortised.

    >>> from upstream.keys import KeyTable
    >>> table = KeyTable()
    >>> cell = table.add("IBM", time=0.0, arrival=2.0)
    >>> cursor = AgeCursor(5.0, KeptOrder(table).keep())
    >>> cursor.next_due()
    7.0
    """

    __slots__ = ("_gap", "_order", "actions", "age")

    def __init__(self, age: float, order: ArrivalOrder) -> None:
        self.age = age
        self.actions: list[Action] = []
        """The functions to call, in this order."""
        self._order = order
        self._gap = _Gap()
        self._gap.cursors.add(self)
        order.prepend(self._gap)

    def next_due(self) -> float:
        """Return when the next key reaches the age; infinity if there is none."""
        cell = self._next_cell()
        return math.inf if cell is None else cell.arrival + self.age

    def fall_due(self, due: float) -> None:
        """Pass the next key, and call the actions with it."""
        cell = self._next_cell()
        assert cell is not None, "no key is due"
        self.close()
        following = cell.newer
        if isinstance(following, _Gap):
            self._gap = following
        else:
            self._gap = _Gap()
            self._order.insert_after(cell, self._gap)
        self._gap.cursors.add(self)
        for action in list(self.actions):
            action(cell, due)

    def _next_cell(self) -> KeyCell | None:
        """Return the first key that was not passed, and join the gaps before it."""
        link = self._gap.newer
        while not isinstance(link, KeyCell):
            if link is self._order.end:
                return None
            following = link.newer
            if isinstance(link, _Gap):
                self._join(link)
            link = following
        return link

    def _join(self, other: _Gap) -> None:
        """Join two gaps without a key between them. The cursors of the smaller one move."""
        kept, gone = self._gap, other
        if len(gone.cursors) > len(kept.cursors):
            kept, gone = gone, kept
        for cursor in gone.cursors:
            cursor._gap = kept
        kept.cursors |= gone.cursors
        self._order.remove(gone)

    def close(self) -> None:
        """Leave the arrival order."""
        gap = self._gap
        gap.cursors.remove(self)
        if not gap.cursors:
            self._order.remove(gap)


class AgeCursors:
    """The cursors of one stream, one for each age."""

    __slots__ = ("_cursors", "_kept")

    def __init__(self, kept: KeptOrder) -> None:
        self._kept = kept
        self._cursors: dict[float, AgeCursor] = {}

    def add(self, age: float, action: Action) -> DueSource | None:
        """Start calling `action` at `age`. Return the cursor if it is new and must be watched."""
        cursor = self._cursors.get(age)
        is_new = cursor is None
        if cursor is None:
            cursor = self._cursors[age] = AgeCursor(age, self._kept.keep())
        cursor.actions.append(action)
        return cursor if is_new else None

    def remove(self, age: float, action: Action) -> DueSource | None:
        """Stop calling `action`. Return the cursor if this was its last action."""
        cursor = self._cursors[age]
        cursor.actions.remove(action)
        if cursor.actions:
            return None
        del self._cursors[age]
        cursor.close()
        self._kept.release()
        return cursor

    def clear(self) -> None:
        """Release all cursors and their actions, which are no longer used."""
        while self._cursors:
            _, cursor = self._cursors.popitem()
            cursor.actions.clear()
            cursor.close()

    def __del__(self) -> None:
        self.clear()  # a gap and its cursors refer to one another
