"""Which rows are the newest one of each group, by numbers; the rows are kept elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..rows.arrow_words import grown
from .row_change import RowChange

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_NO_ROW: Final = -1
_BEFORE_ALL: Final = np.iinfo(np.int64).min


class NewestOfGroup:
    """The number and the time of the newest row of each group."""

    __slots__ = ("_chosen", "_numbers", "_times", "groups", "kept", "latest")

    def __init__(self) -> None:
        self._numbers = np.empty(0, dtype=np.int64)
        self._times = np.empty(0, dtype=np.int64)
        self._chosen = np.empty(0, dtype=np.int64)
        """Which row of a batch was chosen; it has a meaning only within one call."""
        self.latest = _BEFORE_ALL
        """No group has a row of a later time, so that rows from then on need no look at it."""
        self.groups = self.kept = 0

    def make_room(self, groups: int) -> None:
        """Learn that groups have numbers below this one."""
        self._numbers = grown(self._numbers, groups, _NO_ROW)
        self._times = grown(self._times, groups, _BEFORE_ALL)
        self._chosen = grown(self._chosen, groups)

    def change(self, groups: Integers, times: Integers | None) -> RowChange:
        """Return what a batch changes; without times each row is newer than all before it."""
        accepted = self._accepted(groups, times)
        groups_accepted = groups if accepted.size == groups.size else groups[accepted]
        self._chosen[groups_accepted] = accepted  # of several assignments to a place the last stays
        chosen = accepted[self._chosen[groups_accepted] == accepted]
        latest = self.latest if times is None else max(self.latest, int(times.max()))
        changed = groups[chosen]
        numbers = self._numbers[changed]
        superseded = numbers[numbers != _NO_ROW]
        kept = self.kept + chosen.size - superseded.size

        def swap_in(first: int) -> None:
            self._numbers[changed] = np.arange(first, first + chosen.size)
            if times is not None:
                self._times[changed] = times[chosen]
            self.latest = latest
            self.groups = self.kept = kept

        return RowChange(chosen, changed, superseded, groups.size - accepted.size, swap_in)

    def _accepted(self, groups: Integers, times: Integers | None) -> Integers:
        """Return the rows that are no older than any before them of their group."""
        if times is None:
            return np.arange(groups.size)
        if bool((times[1:] >= times[:-1]).all()):
            if times[0] >= self.latest:
                return np.arange(groups.size)
            return np.flatnonzero(times >= self._times[groups])
        order = np.argsort(groups, kind="stable")
        by_group = groups[order]
        is_accepted = _newest_so_far(by_group, times[order], self._times[by_group])
        return np.sort(order[is_accepted])

    def numbers_of(self, groups: Integers) -> Integers:
        """Return the numbers of the newest rows of these groups, ascending."""
        numbers = self._numbers[groups]
        return np.sort(numbers[numbers != _NO_ROW])


def _newest_so_far(groups: Integers, times: Integers, known: Integers) -> Flags:
    """Tell, of rows by group, which are older than none before them, nor than what was known.

    One running maximum does for all groups, since the numbers of a later one are all greater.
    Times are replaced by their ranks if the numbers would not fit otherwise.
    """
    number = np.cumsum(np.diff(groups, prepend=groups[0]) != 0)
    low, high = int(times.min()), int(times.max())
    if (high - low + 2) * (int(number[-1]) + 1) >= 1 << 62:
        _, ranks = np.unique(np.concatenate((known, times)), return_inverse=True)
        known, times = ranks[: known.size], ranks[known.size :]
        low, high = 0, int(ranks.max())
    floor = number * (high - low + 2)
    values = floor + (times - low)
    known_values = floor + (np.clip(known, low, high + 1) - low)
    return np.asarray(values == np.maximum.accumulate(np.maximum(values, known_values)))
