"""Which rows are the newest of each group, by numbers; the rows are kept elsewhere.

`NewestOfGroup` knows the newest row of each group, which is two assignments for a whole batch;
`NewestChains` the newest n rows. What a batch changes is computed first, and then swapped in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..rows.arrow_words import grown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..rows.arrow_words import Integers

_NONE: Final = -1
"""Stands for a row, and for a slot, that is not there."""
_BEFORE_ALL: Final = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class RowChange:
    """The rows of a batch that are to be kept, and what becomes of others."""

    chosen: Integers
    """Which rows of the batch, in the order of arrival."""
    superseded: Integers
    """The numbers of rows that were kept so far."""
    late: int
    swap_in: Callable[[int], None]
    """Make the change; the chosen rows have numbers from this one on."""


class NewestOfGroup:
    """The number and the time of the newest row of each group."""

    __slots__ = ("_chosen", "_latest", "_numbers", "_times", "kept")

    def __init__(self) -> None:
        self._numbers = np.empty(0, dtype=np.int64)
        self._times = np.empty(0, dtype=np.int64)
        self._chosen = np.empty(0, dtype=np.int64)
        """Which row of a batch was chosen; it has a meaning only within one call."""
        self._latest = _BEFORE_ALL
        """No group has a row of a later time, so that rows from then on need no look at it."""
        self.kept = 0

    def make_room(self, groups: int) -> None:
        """Learn that groups have numbers below this one."""
        self._numbers = grown(self._numbers, groups, _NONE)
        self._times = grown(self._times, groups, _BEFORE_ALL)
        self._chosen = grown(self._chosen, groups)

    def change(self, groups: Integers, times: Integers | None) -> RowChange:
        """Return what a batch changes; without times each row is newer than all before it."""
        accepted = self._accepted(groups, times)
        if self._numbers.size == 1:  # all rows are of one group, so only the last matters
            chosen = accepted[-1:]
        else:
            of_accepted = groups if accepted.size == groups.size else groups[accepted]
            self._chosen[of_accepted] = accepted  # of several assignments to a place the last stays
            chosen = accepted[self._chosen[of_accepted] == accepted]
        latest = self._latest if times is None else max(self._latest, int(times.max()))
        changed = groups[chosen]
        numbers = self._numbers[changed]
        superseded = numbers[numbers != _NONE]
        kept = self.kept + chosen.size - superseded.size

        def swap_in(first: int) -> None:
            self._numbers[changed] = np.arange(first, first + chosen.size)
            if times is not None:
                self._times[changed] = times[chosen]
            self._latest = latest
            self.kept = kept

        return RowChange(chosen, superseded, groups.size - accepted.size, swap_in)

    def _accepted(self, groups: Integers, times: Integers | None) -> Integers:
        """Return the rows that are no older than any before them of their group."""
        if times is None:
            return np.arange(groups.size)
        if bool((times[1:] >= times[:-1]).all()):
            if times[0] >= self._latest:
                return np.arange(groups.size)
            return np.flatnonzero(times >= self._times[groups])
        order = np.argsort(groups, kind="stable")
        by_group = groups[order]
        is_accepted = _newest_so_far(by_group, times[order], self._times[by_group])
        return np.sort(order[is_accepted])

    def numbers_of(self, groups: Integers) -> Integers:
        """Return the numbers of the newest rows of these groups, ascending."""
        numbers = self._numbers[groups]
        return np.sort(numbers[numbers != _NONE])


def _newest_so_far(groups: Integers, times: Integers, known: Integers) -> NDArray[np.bool_]:
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


class NewestChains:
    """The numbers and the times of the newest `rows` rows of each group.

    Each group is a chain from its newest row to its oldest. A row that counts has a slot, which is
    used again once the row is superseded: `_newest` has the first slot of each group, and `_older`
    the slot behind each slot.
    """

    __slots__ = (
        "_codes",
        "_free",
        "_newest",
        "_numbers",
        "_older",
        "_rows",
        "_times",
        "kept",
    )

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._newest = np.empty(0, dtype=np.int64)  # by group
        self._codes = np.empty(0, dtype=np.int64)  # by group, with a meaning within one call only
        self._older = np.empty(0, dtype=np.int64)  # by slot, as what follows
        self._numbers = np.empty(0, dtype=np.int64)
        self._times = np.empty(0, dtype=np.int64)
        self._free = np.empty(0, dtype=np.int64)
        """The slots below `kept` + so many that have no row."""
        self.kept = 0

    def make_room(self, groups: int) -> None:
        """Learn that groups have numbers below this one."""
        self._newest = grown(self._newest, groups, _NONE)
        self._codes = grown(self._codes, groups)

    def change(self, groups: Integers, times: Integers | None) -> RowChange:
        """Return what a batch changes; without times each row is newer than all before it."""
        if times is None:
            times = np.zeros(groups.size, dtype=np.int64)
        known, codes = self._numbered(groups)
        stored, stored_codes = self._chains_of(known)
        stored_times = self._times[stored]
        all_codes = np.concatenate((stored_codes, codes))
        chained = self._newest_of(all_codes, np.concatenate((stored_times, times)))
        is_new = chained >= stored.size
        chosen = np.sort(chained[is_new]) - stored.size
        dropped = np.delete(stored, chained[~is_new])
        slots, free = self._slots_for(chosen.size)
        all_slots = np.concatenate((stored, np.full(codes.size, _NONE)))
        all_slots[chosen + stored.size] = slots
        chain, chain_codes = all_slots[chained], all_codes[chained]
        is_oldest = np.diff(chain_codes, prepend=_NONE) != 0
        older = np.where(is_oldest, _NONE, np.roll(chain, 1))
        chosen_times = times[chosen]
        free = np.concatenate((free, dropped))

        def swap_in(first: int) -> None:
            self._numbers[slots] = np.arange(first, first + slots.size)
            self._times[slots] = chosen_times
            self._older[chain] = older
            self._newest[known[chain_codes]] = chain  # the last of each group stays
            self._free = free
            self.kept += chosen.size - dropped.size

        needed = self._needed_times(stored_codes, stored_times, known.size)
        late = int((times < needed[codes]).sum())
        return RowChange(chosen, self._numbers[dropped], late, swap_in)

    def numbers_of(self, groups: Integers) -> Integers:
        """Return the numbers of the newest rows of these groups, ascending."""
        slots, _ = self._chains_of(groups)
        return np.sort(self._numbers[slots])

    def _numbered(self, groups: Integers) -> tuple[Integers, Integers]:
        """Return the different groups of a batch, and which of them each row is of."""
        rows = np.arange(groups.size)
        self._codes[groups] = rows  # of several assignments to a place the last stays
        known = groups[self._codes[groups] == rows]
        self._codes[known] = rows[: known.size]
        return known, self._codes[groups]

    def _newest_of(self, codes: Integers, times: Integers) -> Integers:
        """Return which rows are the newest of each code, by code and from the oldest on."""
        order = np.lexsort((times, codes))
        to_the_end = np.cumsum(np.bincount(codes))[codes[order]] - np.arange(order.size)
        return order[to_the_end <= self._rows]

    def _needed_times(self, codes: Integers, times: Integers, groups: int) -> Integers:
        """Return the time before which rows are late: the oldest of each group that is full."""
        needed = np.full(groups, _BEFORE_ALL)
        needed[codes[::-1]] = times[::-1]  # of several assignments to a place the last stays
        needed[np.bincount(codes, minlength=groups) < self._rows] = _BEFORE_ALL
        return needed

    def _slots_for(self, count: int) -> tuple[Integers, Integers]:
        """Return slots without a row, and those that are left then."""
        used = self.kept + self._free.size
        more = max(count - self._free.size, 0)
        self._numbers = grown(self._numbers, used + more)
        self._times = grown(self._times, used + more)
        self._older = grown(self._older, used + more)
        slots = np.concatenate((self._free[:count], np.arange(used, used + more)))
        return slots, self._free[count:]

    def _chains_of(self, groups: Integers) -> tuple[Integers, Integers]:
        """Return the slots of these groups, and to which place in `groups` each belongs.

        Of each group older ones come first, and of one time those that came first.
        """
        slots, places = self._newest[groups], np.arange(groups.size)
        chains = [(slots[:0], places[:0])]
        while slots.size:
            is_there = slots != _NONE
            slots, places = slots[is_there], places[is_there]
            chains.append((slots, places))
            slots = self._older[slots]
        all_slots, all_places = zip(*reversed(chains), strict=True)
        return np.concatenate(all_slots), np.concatenate(all_places)
