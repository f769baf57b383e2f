"""Which rows are the newest of each group, by their numbers; the rows are stored elsewhere.

`NewestOfGroup` knows the newest row of each group, and needs two assignments for a whole batch.
`NewestRuns` knows the newest n rows. The effect of a batch is computed first, and then applied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..rows.arrow_words import grown

if TYPE_CHECKING:
    from ..rows.arrow_words import Integers

_NO_ROW: Final = -1
_BEFORE_ALL: Final = np.iinfo(np.int64).min
_SLACK: Final = 1024
"""The number of unused rows of runs that is allowed in addition to as many as are in use."""


@dataclass(frozen=True, slots=True)
class RowChange:
    """The rows of a batch that are to be kept, and what happens to others."""

    chosen: Integers
    """The rows of the batch that are kept, in the order of arrival."""
    superseded: Integers
    """The numbers of earlier rows that are no longer kept."""
    late: int
    swap_in: Callable[[int], None]
    """Makes the change; the kept rows get numbers from the given one on."""


@dataclass(frozen=True, slots=True)
class RowRemoval:
    """Rows that are taken away."""

    emptied: Integers
    """The groups that have no row any more."""
    swap_in: Callable[[], None]
    """Makes the change."""


class NewestOfGroup:
    """The number and the time of the newest row of each group."""

    __slots__ = ("_chosen", "_latest", "_numbers", "_times", "kept")

    def __init__(self) -> None:
        self._numbers = np.empty(0, dtype=np.int64)
        self._times = np.empty(0, dtype=np.int64)
        self._chosen = np.empty(0, dtype=np.int64)
        """The row of a batch that was chosen for a group; it has a meaning only within one call."""
        self._latest = _BEFORE_ALL
        """No group has a row with a later time, so later rows need no comparison."""
        self.kept = 0

    def make_room(self, groups: int) -> None:
        """Make room for groups with numbers below this one."""
        self._numbers = grown(self._numbers, groups, _NO_ROW)
        self._times = grown(self._times, groups, _BEFORE_ALL)
        self._chosen = grown(self._chosen, groups)

    def change(self, groups: Integers, times: Integers | None) -> RowChange:
        """Return the effect of a batch; without times, each row is newer than all before it."""
        accepted = self._accepted(groups, times)
        late = 0 if accepted is None else groups.size - accepted.size
        if self._numbers.size == 1:  # all rows are of one group, so only the last matters
            chosen = np.array([groups.size - 1]) if accepted is None else accepted[-1:]
        else:
            of_accepted = groups if accepted is None else groups[accepted]
            accepted = np.arange(groups.size) if accepted is None else accepted
            # of several assignments to a place the last one stays
            self._chosen[of_accepted] = accepted
            chosen = accepted[self._chosen[of_accepted] == accepted]
        latest = self._latest if times is None else max(self._latest, int(times.max()))
        changed = groups[chosen]
        numbers = self._numbers[changed]
        superseded = numbers[numbers != _NO_ROW]
        kept = self.kept + chosen.size - superseded.size

        def swap_in(first: int) -> None:
            self._numbers[changed] = np.arange(first, first + chosen.size)
            if times is not None:
                self._times[changed] = times[chosen]
            self._latest = latest
            self.kept = kept

        return RowChange(chosen, superseded, late, swap_in)

    def _accepted(self, groups: Integers, times: Integers | None) -> Integers | None:
        """Return the rows that are no older than earlier rows of their group; None means all."""
        if times is None:
            return None
        if bool((times[1:] >= times[:-1]).all()):
            if times[0] >= self._latest:
                return None
            return np.flatnonzero(times >= self._times[groups])
        # From the newest row of each group on, a row is accepted if none before it in this order
        # arrived earlier. Groups descend, so one running minimum serves all of them: a group is
        # `size` places.
        order = np.lexsort((times, groups))[::-1]
        places = groups[order] * order.size + order
        is_accepted = times >= self._times[groups]
        is_accepted[order] &= places == np.minimum.accumulate(places)
        return np.flatnonzero(is_accepted)

    def numbers_of(self, groups: Integers) -> Integers:
        """Return the numbers of the newest rows of these groups, in ascending order."""
        numbers = self._numbers[groups]
        return np.sort(numbers[numbers != _NO_ROW])

    def removal(self, groups: Integers, numbers: Integers) -> RowRemoval:
        """Return the effect of taking rows away, which are among the newest rows of these groups.

        No group is given twice.
        """
        emptied = groups[np.isin(self._numbers[groups], numbers)]
        kept = self.kept - emptied.size

        def swap_in() -> None:
            self._numbers[emptied] = _NO_ROW
            self._times[emptied] = _BEFORE_ALL
            self.kept = kept

        return RowRemoval(emptied, swap_in)

    def occupied(self) -> tuple[Integers, Integers]:
        """Return the groups that have rows, and the number of one row of each. O(groups)."""
        groups = np.flatnonzero(self._numbers != _NO_ROW)
        return groups, self._numbers[groups]

    def renumbered(self, groups: Integers, numbers: Integers, count: int) -> NewestOfGroup:
        """Return the same rows for other numbers of these groups, which are all that have rows."""
        renumbered = NewestOfGroup()
        renumbered.make_room(count)
        renumbered._numbers[numbers] = self._numbers[groups]
        renumbered._times[numbers] = self._times[groups]
        renumbered._latest, renumbered.kept = self._latest, self.kept
        return renumbered


class NewestRuns:
    """The numbers and the times of the newest `rows` rows of each group.

    Those of one group are a run, from the oldest row to the newest, in columns that all groups
    share. A run that changes is written again at the end. When more is unused than in use, the runs
    are copied together.
    """

    __slots__ = ("_codes", "_counts", "_end", "_numbers", "_rows", "_starts", "_times", "kept")

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._starts = np.empty(0, dtype=np.int64)  # indexed by group, like the following
        self._counts = np.empty(0, dtype=np.int64)
        self._codes = np.empty(0, dtype=np.int64)  # valid within one call only
        self._numbers = np.empty(0, dtype=np.int64)  # by row of a run, with spare room
        self._times = np.empty(0, dtype=np.int64)
        self._end = self.kept = 0

    def make_room(self, groups: int) -> None:
        """Make room for groups with numbers below this one."""
        self._starts = grown(self._starts, groups)
        self._counts = grown(self._counts, groups)
        self._codes = grown(self._codes, groups)

    def change(self, groups: Integers, times: Integers | None) -> RowChange:
        """Return the effect of a batch; without times, each row is newer than all before it."""
        if self._end > 2 * self.kept + _SLACK:
            self._put_together()
        if times is None:
            times = np.zeros(groups.size, dtype=np.int64)
        known, codes = self._numbered(groups)
        counts = self._counts[known]
        stored = places_of_runs(self._starts[known], counts)
        all_codes = np.concatenate((np.repeat(np.arange(known.size), counts), codes))
        all_times = np.concatenate((self._times[stored], times))
        order = np.lexsort((all_times, all_codes))
        all_counts = np.bincount(all_codes)
        to_the_end = np.cumsum(all_counts)[all_codes[order]] - np.arange(order.size)
        run = order[to_the_end <= self._rows]  # by group, from its oldest row on
        is_new = run >= stored.size
        chosen = np.sort(run[is_new]) - stored.size
        numbers = self._numbers[stored]
        superseded = np.delete(numbers, run[~is_new])
        is_full = counts == self._rows
        needed = np.full(known.size, _BEFORE_ALL)
        needed[is_full] = self._times[self._starts[known[is_full]]]
        late = int((times < needed[codes]).sum())
        counts = np.minimum(all_counts, self._rows)
        starts = self._end + np.cumsum(counts) - counts
        end = self._end + run.size
        self._numbers, self._times = grown(self._numbers, end), grown(self._times, end)
        self._times[self._end : end] = all_times[run]
        places = np.zeros(groups.size, dtype=np.int64)
        places[chosen] = np.arange(chosen.size)

        def swap_in(first: int) -> None:
            self._numbers[self._end : end] = np.concatenate((numbers, first + places))[run]
            self._starts[known] = starts
            self._counts[known] = counts
            self._end = end
            self.kept += chosen.size - superseded.size

        return RowChange(chosen, superseded, late, swap_in)

    def numbers_of(self, groups: Integers) -> Integers:
        """Return the numbers of the newest rows of these groups, in ascending order."""
        return np.sort(self._numbers[places_of_runs(self._starts[groups], self._counts[groups])])

    def removal(self, groups: Integers, numbers: Integers) -> RowRemoval:
        """Return the effect of taking rows away, which are among the newest rows of these groups.

        No group is given twice.
        """
        counts = self._counts[groups]
        places = places_of_runs(self._starts[groups], counts)
        is_left = ~np.isin(self._numbers[places], numbers)
        left = places[is_left]
        of_left = np.repeat(np.arange(groups.size), counts)[is_left]
        left_counts = np.bincount(of_left, minlength=groups.size)
        end = self._end + left.size
        starts = self._end + np.cumsum(left_counts) - left_counts
        self._numbers, self._times = grown(self._numbers, end), grown(self._times, end)
        self._numbers[self._end : end] = self._numbers[left]
        self._times[self._end : end] = self._times[left]
        kept = self.kept - (places.size - left.size)

        def swap_in() -> None:
            self._starts[groups] = starts
            self._counts[groups] = left_counts
            self._end, self.kept = end, kept

        return RowRemoval(groups[(left_counts == 0) & (counts > 0)], swap_in)

    def occupied(self) -> tuple[Integers, Integers]:
        """Return the groups that have rows, and the number of one row of each. O(groups)."""
        groups = np.flatnonzero(self._counts)
        return groups, self._numbers[self._starts[groups]]

    def renumbered(self, groups: Integers, numbers: Integers, count: int) -> NewestRuns:
        """Return the same rows for other numbers of these groups, which are all that have rows."""
        renumbered = NewestRuns(self._rows)
        renumbered.make_room(count)
        renumbered._starts[numbers] = self._starts[groups]
        renumbered._counts[numbers] = self._counts[groups]
        renumbered._numbers, renumbered._times = self._numbers, self._times
        renumbered._end, renumbered.kept = self._end, self.kept
        return renumbered

    def _numbered(self, groups: Integers) -> tuple[Integers, Integers]:
        """Return the different groups of a batch, and the group of each row among them."""
        rows = np.arange(groups.size)
        self._codes[groups] = rows  # of several assignments to a place the last one stays
        known = groups[self._codes[groups] == rows]
        self._codes[known] = rows[: known.size]
        return known, self._codes[groups]

    def _put_together(self) -> None:
        """Remove what is in no run any more."""
        places = places_of_runs(self._starts, self._counts)
        numbers, times = self._numbers[places], self._times[places]
        starts, end = np.cumsum(self._counts) - self._counts, places.size
        self._starts, self._numbers, self._times, self._end = starts, numbers, times, end


def places_of_runs(starts: Integers, counts: Integers) -> Integers:
    """Return the places of runs, one run after the other."""
    ends = np.cumsum(counts)
    return np.arange(counts.sum()) + np.repeat(starts - ends + counts, counts)
