"""Which groups are to leave because nothing has arrived for them for a while.

Groups wait in the order of their last arrival. A further row of a group puts it at the end, and its
former place stays empty until it is passed or the places are put together.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ..rows.arrow_words import grown

if TYPE_CHECKING:
    from ..rows.arrow_words import Integers

    Moments = NDArray[np.float64]

_NOWHERE: Final = -1
_SLACK: Final = 1024
"""The number of empty places that is allowed in addition to twice the number of groups."""
_AT_ONCE: Final = 1024
"""This many places are looked at together when empty ones are passed."""


class ExpiryOrder:
    """Groups in the order of their last arrival; they are due `seconds` after it."""

    __slots__ = ("_arrivals", "_chosen", "_count", "_end", "_groups", "_place", "_start", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._groups = np.empty(0, dtype=np.int64)  # by place, with spare room
        self._arrivals = np.empty(0, dtype=np.float64)
        self._start = self._end = 0
        self._place = np.empty(0, dtype=np.int64)  # indexed by group
        self._chosen = np.empty(0, dtype=np.int64)  # valid within one call only
        self._count = 0
        """How many groups have a place."""

    def make_room(self, groups: int) -> None:
        """Make room for groups with numbers below this one."""
        self._place = grown(self._place, groups, _NOWHERE)
        self._chosen = grown(self._chosen, groups)

    def renewal(self, groups: Integers, arrivals: Moments) -> Callable[[], None]:
        """Prepare to put the groups of rows at the end.

        Their arrivals never go back. An arrival before one that is known counts as that one.

        The returned function makes the change and cannot fail.
        """
        if self._end - self._start > 2 * self._count + _SLACK or self._start > _SLACK + self._count:
            self._put_together()
        rows = np.arange(groups.size)
        self._chosen[groups] = rows  # of several assignments to a place the last one stays
        last = np.flatnonzero(self._chosen[groups] == rows)
        renewed = groups[last]
        end = self._end + last.size
        self._groups, self._arrivals = grown(self._groups, end), grown(self._arrivals, end)
        self._groups[self._end : end] = renewed
        known = self._arrivals[self._end - 1] if self._end else -inf
        self._arrivals[self._end : end] = np.maximum(arrivals[last], known)
        places = np.arange(self._end, end)
        count = self._count + int(np.count_nonzero(self._place[renewed] == _NOWHERE))

        def swap_in() -> None:
            self._place[renewed] = places
            self._end, self._count = end, count

        return swap_in

    def removal(self, groups: Integers) -> Callable[[], None]:
        """Prepare to remove groups, none of them twice. The returned function cannot fail."""
        count = self._count - int(np.count_nonzero(self._place[groups] != _NOWHERE))

        def swap_in() -> None:
            self._place[groups] = _NOWHERE
            self._count = count

        return swap_in

    def first_due(self) -> float | None:
        """Return when the first group is due, or None. Amortized O(1) per row that arrived."""
        while self._start < self._end:
            until = min(self._start + _AT_ONCE, self._end)
            found = self._occupied(self._start, until)
            self._start = int(found[0]) if found.size else until
            if found.size:
                return float(self._arrivals[self._start]) + self.seconds
        return None

    def arrivals_of(self, groups: Integers) -> Moments:
        """Return the last arrival of each of these groups, all of which wait."""
        arrivals: Moments = self._arrivals[self._place[groups]]
        return arrivals

    def due(self, now: float) -> Integers:
        """Return the groups that are due at a moment. O(log places + places that are due)."""
        start, end = self._start, self._end
        while start < end:
            middle = (start + end) // 2
            if float(self._arrivals[middle]) + self.seconds <= now:
                start = middle + 1
            else:
                end = middle
        return self._groups[self._occupied(self._start, start)]

    def renumbered(self, groups: Integers, numbers: Integers, count: int) -> ExpiryOrder:
        """Return the same order for other numbers of these groups, which are all that wait."""
        found = self._occupied(self._start, self._end)
        number_of = np.empty(self._place.size, dtype=np.int64)
        number_of[groups] = numbers
        renumbered = ExpiryOrder(self.seconds)
        renumbered.make_room(count)
        renumbered._groups = number_of[self._groups[found]]
        renumbered._arrivals = self._arrivals[found]
        renumbered._place[renumbered._groups] = np.arange(found.size)
        renumbered._end = renumbered._count = found.size
        return renumbered

    def _occupied(self, start: int, end: int) -> Integers:
        """Return the places in a range that are not empty."""
        places = np.arange(start, end)
        found: Integers = places[self._place[self._groups[start:end]] == places]
        return found

    def _put_together(self) -> None:
        """Remove the empty places."""
        found = self._occupied(self._start, self._end)
        groups, arrivals = self._groups[found], self._arrivals[found]
        place, end = np.full(self._place.size, _NOWHERE), groups.size
        place[groups] = np.arange(end)
        # one statement, so that an exception leaves all as it was
        self._groups, self._arrivals, self._place, self._start, self._end = (
            *(groups, arrivals, place),
            *(0, end),
        )

    def _check(self) -> None:
        """Assert every invariant."""
        found = self._occupied(self._start, self._end)
        assert found.size == self._count == np.count_nonzero(self._place != _NOWHERE)
        assert bool((np.diff(self._arrivals[found]) >= 0).all())
