"""The newest rows of each group of a stream, which `latest(trades, rows => 3)` reads.

This is an update queue for whole tables: what is older than the newest n rows of its group is late
and dropped, what becomes so later is superseded, and both are counted. Newest is by the stream's
time column, for equal times by arrival, and without a time column by arrival alone.

Each group is a chain of stored rows from the newest to the oldest: `_newest` has its first row,
and `_older` the one behind each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from .group_numbers import GroupNumbers
from .row_store import RowStore

if TYPE_CHECKING:
    import pyarrow as pa

    from ..rows.stream_definition import StreamDefinition

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

Number = TypeVar("Number", np.int64, np.bool_)

_NO_ROW = -1
_SLACK = 1024
"""So many rows that count no more are kept without a thought."""


@dataclass(frozen=True, slots=True)
class NewestRowsStatistics:
    """What became of the rows: came = superseded + late + kept."""

    came: int
    superseded: int
    late: int
    kept: int
    groups: int


class NewestRows:
    """The newest `rows` rows of each group; groups are by the columns `per`, or by the key.

    To add a batch costs as much as it is long, and as there are rows in the groups that it is of.
    """

    __slots__ = (
        "_came",
        "_changed",
        "_columns",
        "_definition",
        "_groups",
        "_is_changed",
        "_kept",
        "_late",
        "_newest",
        "_older",
        "_rows",
        "_store",
        "_times",
    )

    def __init__(
        self, definition: StreamDefinition, rows: int = 1, per: Sequence[str] | None = None
    ) -> None:
        self._definition = definition
        self._rows = rows
        self._columns = tuple(definition.key if per is None else per)
        self._groups = GroupNumbers()
        self._store = RowStore(definition.schema)
        self._newest = np.empty(0, dtype=np.int64)  # by group
        self._is_changed = np.empty(0, dtype=np.bool_)  # by group
        self._older = np.empty(0, dtype=np.int64)  # by stored row
        self._times = np.empty(0, dtype=np.int64)  # by stored row
        self._changed: list[Integers] = []
        self._came = self._late = self._kept = 0

    def add(self, rows: pa.Table) -> None:
        """Add rows that conform to the definition, in the order in which they came."""
        if not rows.num_rows:
            return
        self._came += rows.num_rows
        if not self._columns and self._rows == 1:
            rows = self._newest_of(rows)
        codes, groups = self._groups_of(rows)
        self._make_room(self._group_count())
        times = self._times_of(rows)
        add = self._add_one if self._rows == 1 else self._add_several
        add(rows, codes, groups, times)
        if self._store.rows > 2 * self._kept + _SLACK:
            self._compact()

    def _newest_of(self, rows: pa.Table) -> pa.Table:
        """Return the newest of rows that are all one group; the others count at once."""
        if self._definition.time is None:
            return rows.slice(rows.num_rows - 1)
        times = self._times_of(rows)
        newest_before = np.maximum.accumulate(times)
        if self._kept:
            known = self._times[self._newest[0]]
            newest_before = np.maximum(newest_before, known)
        place = len(times) - 1 - int(np.argmax(times[::-1]))
        is_late = times < newest_before
        self._late += int(is_late.sum()) - int(is_late[place])
        return rows.slice(place, 1)

    def _times_of(self, rows: pa.Table) -> Integers:
        if self._definition.time is None:
            return np.zeros(rows.num_rows, dtype=np.int64)
        return self._definition.times(rows)

    def _group_count(self) -> int:
        return len(self._groups) if self._columns else 1

    def _groups_of(self, rows: pa.Table) -> tuple[Integers, Integers]:
        if self._columns:
            return self._groups.of([rows.column(name) for name in self._columns])
        return np.zeros(rows.num_rows, dtype=np.int64), np.zeros(1, dtype=np.int64)

    def table(self) -> pa.Table:
        """Return the newest rows of all groups, in the order in which they came."""
        return self._compact()

    def changed_groups(self) -> Integers:
        """Return the numbers of the groups that changed since changes were forgotten."""
        return np.concatenate(self._changed) if self._changed else np.empty(0, dtype=np.int64)

    def forget_changes(self) -> None:
        """Say that the changes so far are known."""
        self._is_changed[self.changed_groups()] = False
        self._changed.clear()

    def rows_of(self, groups: Integers) -> pa.Table:
        """Return the newest rows of these groups, in the order in which they came."""
        chains, _ = self._chains_of(groups)
        chains.sort()
        return self._store.take(chains)

    def statistics(self) -> NewestRowsStatistics:
        """Return what became of the rows so far.

        With several rows per group, late are those that are older than all that were known before
        their batch; with one, those that are older than any row before them.
        """
        return NewestRowsStatistics(
            came=self._came,
            superseded=self._came - self._late - self._kept,
            late=self._late,
            kept=self._kept,
            groups=len(self._groups) if self._columns else min(self._kept, 1),
        )

    # One row per group

    def _add_one(self, rows: pa.Table, codes: Integers, groups: Integers, times: Integers) -> None:
        newest = self._newest[groups]
        is_known = newest != _NO_ROW
        if self._definition.time is None:  # each row is newer than all before it
            accepted = np.arange(len(codes))
        else:
            known = np.full(len(groups), np.iinfo(np.int64).min)
            known[is_known] = self._times[newest[is_known]]
            accepted = _accepted(codes, times, known)
        self._late += len(codes) - len(accepted)
        self._kept += len(groups) - int(is_known.sum())
        last = np.full(len(groups), _NO_ROW)
        last[codes[accepted]] = accepted  # of several assignments to one element the last one stays
        changed = np.flatnonzero(last != _NO_ROW)
        changed = changed[np.argsort(last[changed])]
        self._newest[groups[changed]] = self._stored(rows, last[changed], times)
        self._note_changed(groups[changed])

    # Several rows per group

    def _add_several(
        self, rows: pa.Table, codes: Integers, groups: Integers, times: Integers
    ) -> None:
        stored, stored_codes = self._chains_of(groups)
        order = np.argsort(stored)  # older rows have smaller numbers
        stored, stored_codes = stored[order], stored_codes[order]
        stored_times = self._times[stored]
        self._late += self._count_late(codes, times, stored_codes, stored_times, len(groups))

        all_codes = np.concatenate((stored_codes, codes))
        order = np.lexsort((np.concatenate((stored_times, times)), all_codes))
        counts = np.bincount(all_codes, minlength=len(groups))
        to_the_end = np.cumsum(counts)[all_codes[order]] - np.arange(len(order))
        chained = order[to_the_end <= self._rows]
        is_new = chained >= len(stored)
        new = np.sort(chained[is_new]) - len(stored)
        numbers = np.concatenate((stored, np.full(len(codes), _NO_ROW)))
        numbers[new + len(stored)] = self._stored(rows, new, times)

        self._chain(numbers[chained], all_codes[chained], groups)
        self._kept += len(chained) - len(stored)
        self._note_changed(groups[np.unique(codes[new])])

    def _count_late(
        self,
        codes: Integers,
        times: Integers,
        stored_codes: Integers,
        stored_times: Integers,
        groups: int,
    ) -> int:
        """Count rows that are older than all that are stored of a group that is full."""
        oldest = np.full(groups, np.iinfo(np.int64).max)
        np.minimum.at(oldest, stored_codes, stored_times)
        is_full = np.bincount(stored_codes, minlength=groups) == self._rows
        return int((is_full[codes] & (times < oldest[codes])).sum())

    def _chain(self, numbers: Integers, codes: Integers, groups: Integers) -> None:
        """Chain rows that are by group, and from the oldest to the newest within it."""
        is_first = np.ones(len(numbers), dtype=np.bool_)
        np.not_equal(codes[1:], codes[:-1], out=is_first[1:])
        older = np.roll(numbers, 1)
        older[is_first] = _NO_ROW
        self._older[numbers] = older
        self._newest[groups[codes]] = numbers  # the last of each group stays

    def _chains_of(self, groups: Integers) -> tuple[Integers, Integers]:
        """Return the rows of these groups, and to which place in `groups` each belongs."""
        places = np.arange(len(groups))
        rows = self._newest[groups]
        found: list[tuple[Integers, Integers]] = []
        while True:
            is_there = rows != _NO_ROW
            rows, places = rows[is_there], places[is_there]
            if not len(rows):
                break
            found.append((rows, places))
            rows = self._older[rows]
        if not found:
            return rows, places
        return np.concatenate([each for each, _ in found]), np.concatenate([at for _, at in found])

    # What both have in common

    def _stored(self, rows: pa.Table, chosen: Integers, times: Integers) -> Integers:
        """Store some of the rows, and return their numbers."""
        import pyarrow as pa

        first = self._store.rows
        if len(chosen) < rows.num_rows:
            rows = rows.take(pa.array(chosen))
        self._store.add(rows)
        self._times = _with_room(self._times, self._store.rows)
        self._older = _with_room(self._older, self._store.rows)
        self._times[first : self._store.rows] = times[chosen]
        self._older[first : self._store.rows] = _NO_ROW
        return np.arange(first, self._store.rows)

    def _note_changed(self, groups: Integers) -> None:
        groups = groups[~self._is_changed[groups]]
        self._is_changed[groups] = True
        self._changed.append(groups)

    def _make_room(self, groups: int) -> None:
        known = len(self._newest)
        if groups > known:
            self._newest = _with_room(self._newest, groups)
            self._newest[known:] = _NO_ROW
            self._is_changed = _with_room(self._is_changed, groups)
            self._is_changed[known:] = False

    def _compact(self) -> pa.Table:
        """Let go the rows that count no more, and return the others."""
        if self._store.rows == self._kept:
            return self._store.compact(np.arange(self._kept))
        newest = self._newest[: self._group_count()]
        numbers, _ = self._chains_of(np.arange(len(newest)))
        numbers.sort()
        again = np.empty(self._store.rows, dtype=np.int64)
        again[numbers] = np.arange(len(numbers))
        older = self._older[numbers]
        is_last = older == _NO_ROW
        older = again[older]
        older[is_last] = _NO_ROW
        self._older, self._times = older, self._times[numbers]
        newest[:] = again[newest]
        return self._store.compact(numbers)


def _accepted(codes: Integers, times: Integers, known: Integers) -> Integers:
    """Return the rows that are no older than any before them of their code, by code or in order."""
    if bool((times[1:] >= times[:-1]).all()):
        return np.flatnonzero(times >= known[codes])
    order = np.argsort(codes, kind="stable")
    return order[_newest_so_far(codes[order], times[order], known)]


def _newest_so_far(codes: Integers, times: Integers, known: Integers) -> Flags:
    """Tell, of rows by code, which are older than none before them of their code, nor than known.

    One running maximum does for all codes, since the numbers of a greater code are all greater.
    Times are replaced by their ranks: the product would not fit otherwise.
    """
    _, ranks = np.unique(np.concatenate((known, times)), return_inverse=True)
    known_ranks, ranks = ranks[: len(known)], ranks[len(known) :]
    floor = codes * (len(known) + len(times))
    maximum = np.maximum.accumulate(floor + np.maximum(ranks, known_ranks[codes]))
    return np.asarray(floor + ranks == maximum)


def _with_room(array: NDArray[Number], size: int) -> NDArray[Number]:
    """Return an array that has at least this size, at twice the length if it must grow."""
    if len(array) >= size:
        return array
    longer = np.empty(max(size, 2 * len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
