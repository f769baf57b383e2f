"""The first rows of each group, in some order, among rows that come and go.

    of each group:   kept, in order:  first rows | spare ones        not kept: all after these

Only the first `count` rows of a group are wanted, but some more are kept: when one of the first
goes, the next takes its place. If all rows of a group are kept, the group is complete. Of another
one, every row that is not kept comes after every row that is. So a new row is kept only if it comes
before a kept one. When fewer rows are left than are wanted, the group has to be read again.

This knows groups by codes, and leaves it to the caller to put rows in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import grown
from ...tables.live_rows import LiveRows
from ...tables.newest_numbers import places_of_runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...rows.arrow_words import Integers

_SLACK: Final = 1024
"""The number of unused places of runs that is allowed in addition to as many as are in use."""


class NumberedRows(NamedTuple):
    """Rows with the codes of their groups, and with numbers that ascend with their arrival."""

    rows: pa.Table
    codes: Integers
    numbers: Integers

    def of(self, is_wanted: NDArray[np.bool_]) -> NumberedRows:
        """Return some of the rows."""
        if is_wanted.all():
            return self
        rows = self.rows.filter(pa.array(is_wanted))
        return NumberedRows(rows, self.codes[is_wanted], self.numbers[is_wanted])


class _Sequence(NamedTuple):
    """Rows in the order of their groups, and in order within each.

    `groups` are indices. `slots` are where kept rows are; for the row i that comes it is ~i.
    """

    groups: Integers
    slots: Integers
    numbers: Integers

    def of(self, rows: Integers | NDArray[np.bool_]) -> _Sequence:
        """Return some of the rows."""
        return _Sequence(self.groups[rows], self.slots[rows], self.numbers[rows])

    def ranks(self, counts: Integers) -> Integers:
        """Return the place of each row within its group; `counts` are the lengths of groups."""
        starts = np.cumsum(counts) - counts
        ranks: Integers = np.arange(self.groups.size) - starts[self.groups]
        return ranks


InOrder = Callable[[pa.Table, "Integers"], "Integers"]
"""Returns the places of rows in their order.

Equal rows are in the order of their numbers, and those with one number in that of their places.
"""


class RankedRows:
    """The first `count` rows of each group, and up to twice as many more as `spare`.

    Kept rows are stored in the order in which they came here, each in a slot. The slots of a group
    are a run, in order; a run that changes is written again at the end.

    >>> ranked = RankedRows(pa.schema([("x", pa.int64())]), count=1, spare=1)
    >>> def rows(values, numbers):
    ...     table = pa.table({"x": pa.array(values, pa.int64())})
    ...     return NumberedRows(table, np.zeros(len(values), np.int64), np.array(numbers, np.int64))
    >>> def in_order(rows, numbers):
    ...     return np.lexsort((numbers, rows["x"].to_numpy()))
    >>> ranked.change(rows([5, 3, 4], [0, 1, 2]), rows([], []), in_order)()
    >>> ranked.change(rows([], []), rows([3], [1]), in_order)()
    >>> ranked.first()["x"].to_pylist()
    [4]
    """

    __slots__ = (
        "_count",
        "_counts",
        "_end",
        "_is_complete",
        "_numbers",
        "_schema",
        "_slots",
        "_spare",
        "_starts",
        "_stored",
        "groups",
    )

    def __init__(self, schema: pa.Schema, count: int, spare: int) -> None:
        self._schema = schema
        self._count = count
        self._spare = spare
        self._stored = LiveRows(schema)
        self._starts = np.empty(0, np.int64)  # by group, like the next two
        self._counts = np.empty(0, np.int64)
        self._is_complete = np.empty(0, np.bool_)
        self._slots = np.empty(0, np.int64)  # by the places of runs, with spare room
        self._numbers = np.empty(0, np.int64)
        self._end = 0
        self.groups = 0
        """How many groups have rows here."""

    def empty(self) -> RankedRows:
        """Return the same without rows."""
        return RankedRows(self._schema, self._count, self._spare)

    @property
    def names(self) -> list[str]:
        """The names of the columns of rows."""
        names: list[str] = self._schema.names
        return names

    @property
    def rows(self) -> int:
        """How many rows are kept."""
        return self._stored.count

    @property
    def most_read(self) -> int:
        """How many rows of a group are read again, unless it has fewer."""
        return self._count + self._spare

    def change(
        self, added: NumberedRows, removed: NumberedRows, in_order: InOrder
    ) -> Callable[[], None]:
        """Prepare to take in rows, and to let others go.

        The returned function makes the change and cannot fail; nothing may change in between. The
        cost depends on the number of these rows, and on how many are kept of the groups that
        change.
        """
        added, removed = self._that_matter(added, removed, in_order)
        groups = np.unique(np.concatenate((added.codes, removed.codes)))
        kept = self._kept(groups)
        kept = kept.of(~np.isin(kept.numbers, removed.numbers))
        is_ranked = np.isin(groups, added.codes)[kept.groups]
        ranked = self._ranked(groups, kept.of(is_ranked), added, in_order)
        left = _together(ranked, kept.of(~is_ranked))
        counts = np.bincount(left.groups, minlength=groups.size)
        is_long = counts > self._count + 2 * self._spare
        most = np.where(is_long, self.most_read, counts)
        left = left.of(left.ranks(counts) < most[left.groups])
        return self._writing(groups, left, self._is_complete[groups] & ~is_long, added.rows)

    def read_again(
        self, groups: Integers, rows: NumberedRows, in_order: InOrder
    ) -> Callable[[], None]:
        """Prepare to replace what is kept of groups by their first rows, `most_read` of each.

        The returned function is like that of `change`.
        """
        self._make_room(groups)
        nothing = _Sequence(*(np.empty(0, np.int64),) * 3)
        ranked = self._ranked(groups, nothing, rows, in_order)
        counts = np.bincount(ranked.groups, minlength=groups.size)
        return self._writing(groups, ranked, counts < self.most_read, rows.rows)

    def short(self) -> Integers:
        """Return the codes of the groups that have to be read again. O(groups)."""
        return np.flatnonzero((self._counts < self._count) & ~self._is_complete)

    def first(self) -> pa.Table:
        """Return the first rows of all groups, in the order of arrival. O(these rows)."""
        places = places_of_runs(self._starts, np.minimum(self._counts, self._count))
        slots, numbers = self._slots[places], self._numbers[places]
        by_slot = np.argsort(slots)
        rows = self._stored.take(slots[by_slot])
        return rows.take(pa.array(np.argsort(numbers[by_slot], kind="stable")))

    def first_of(self, codes: Integers) -> pa.Table:
        """Return the first row of each of these groups; NULLs if it has none."""
        self._make_room(codes)
        has_rows = self._counts[codes] > 0
        slots = self._slots[self._starts[codes[has_rows]]]
        in_order = np.sort(slots)
        places = np.zeros(codes.size, np.int64)
        places[has_rows] = np.searchsorted(in_order, slots)
        return self._stored.take(in_order).take(pa.array(places, mask=~has_rows))

    def _make_room(self, codes: Integers) -> None:
        """Make room for the groups of these codes, of which nothing is known so far."""
        size = int(codes.max()) + 1 if codes.size else 0
        self._starts = grown(self._starts, size)
        self._counts = grown(self._counts, size)
        self._is_complete = grown(self._is_complete, size, fill=True)

    def _that_matter(
        self, added: NumberedRows, removed: NumberedRows, in_order: InOrder
    ) -> tuple[NumberedRows, NumberedRows]:
        """Return the rows that change what is kept: not those after the last kept row of a group.

        In a complete group, all rows matter.
        """
        groups = np.unique(np.concatenate((added.codes, removed.codes)))
        self._make_room(groups)
        is_complete = self._is_complete[groups]
        bounded = np.flatnonzero(~is_complete & (self._counts[groups] > 0))
        places = self._starts[groups[bounded]] + self._counts[groups[bounded]] - 1
        by_slot = np.argsort(self._slots[places])
        bounded, places = bounded[by_slot], places[by_slot]
        # a removed row may be the last kept one, so it comes before that
        rows = [removed.rows, self._stored.take(self._slots[places]), added.rows]
        numbers = np.concatenate((removed.numbers, self._numbers[places], added.numbers))
        ranks = np.empty(numbers.size, np.int64)
        ranks[in_order(pa.concat_tables(rows), numbers)] = np.arange(numbers.size)
        most = np.where(is_complete, numbers.size, -1)
        most[bounded] = ranks[removed.codes.size : removed.codes.size + bounded.size]
        most_of_removed = most[np.searchsorted(groups, removed.codes)]
        most_of_added = most[np.searchsorted(groups, added.codes)]
        return (
            added.of(ranks[numbers.size - added.codes.size :] < most_of_added),
            removed.of(ranks[: removed.codes.size] < most_of_removed),
        )

    def _kept(self, groups: Integers) -> _Sequence:
        """Return the kept rows of groups."""
        self._make_room(groups)
        if self._end > 2 * self.rows + _SLACK:
            self._put_together()
        counts = self._counts[groups]
        places = places_of_runs(self._starts[groups], counts)
        of = np.repeat(np.arange(groups.size), counts)
        return _Sequence(of, self._slots[places], self._numbers[places])

    def _ranked(
        self, groups: Integers, kept: _Sequence, added: NumberedRows, in_order: InOrder
    ) -> _Sequence:
        """Return kept rows and added ones, each in its place."""
        kept = kept.of(np.argsort(kept.slots))
        rows = pa.concat_tables([self._stored.take(kept.slots), added.rows])
        both = _Sequence(
            np.concatenate((kept.groups, np.searchsorted(groups, added.codes))),
            np.concatenate((kept.slots, ~np.arange(added.codes.size))),
            np.concatenate((kept.numbers, added.numbers)),
        )
        ranked = both.of(in_order(rows, both.numbers))
        return ranked.of(np.argsort(ranked.groups, kind="stable"))

    def _writing(
        self,
        groups: Integers,
        left: _Sequence,
        is_complete: NDArray[np.bool_],
        rows: pa.Table,
    ) -> Callable[[], None]:
        """Prepare to replace the runs of groups; `rows` are those that come."""
        old = self._kept(groups)
        gone = np.setdiff1d(old.slots, left.slots, assume_unique=True)
        is_new = left.slots < 0
        coming = ~left.slots[is_new]
        chosen = np.sort(coming)
        slots = left.slots.copy()
        slots[is_new] = self._stored.added + np.searchsorted(chosen, coming)
        store = self._stored.change(rows, chosen, gone)
        counts = np.bincount(left.groups, minlength=groups.size)
        starts = self._end + np.cumsum(counts) - counts
        end = self._end + slots.size
        self._slots, self._numbers = grown(self._slots, end), grown(self._numbers, end)
        self._slots[self._end : end] = slots
        self._numbers[self._end : end] = left.numbers
        more = int(np.count_nonzero(counts)) - int(np.count_nonzero(self._counts[groups]))

        def swap_in() -> None:
            store()
            self._starts[groups] = starts
            self._counts[groups] = counts
            self._is_complete[groups] = is_complete
            self._end = end
            self.groups += more

        return swap_in

    def _put_together(self) -> None:
        """Remove what is in no run any more."""
        places = places_of_runs(self._starts, self._counts)
        starts = np.cumsum(self._counts) - self._counts
        slots, numbers = self._slots[places], self._numbers[places]
        self._starts, self._slots, self._numbers, self._end = starts, slots, numbers, places.size

    def _check(self) -> None:
        """Assert every invariant."""
        self._stored._check()
        places = places_of_runs(self._starts, self._counts)
        slots = self._slots[places]
        assert np.unique(slots).size == slots.size == self._stored.count
        assert self.groups == np.count_nonzero(self._counts)
        assert (self._counts <= self._count + 2 * self._spare).all()
        self._stored.table()
        assert np.array_equal(np.sort(slots), self._stored.numbers())


def _together(one: _Sequence, other: _Sequence) -> _Sequence:
    """Return two sequences that have no group in common as one."""
    both = _Sequence(*(np.concatenate(each) for each in zip(one, other, strict=True)))
    return both.of(np.argsort(both.groups, kind="stable"))
