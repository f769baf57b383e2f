"""The running merge of numbers: columns by rows of groups, changed in place as the window slides.

A slide costs the groups of the steps that enter and leave, and a copy of the columns that are
handed out, at 20 as at 200,000 groups. Sums are added and subtracted, of integers and decimals
(`SubtractedSum`) as of doubles (`ExactSum`), exactly; minima, maxima and moments go over two stacks
(`TwoStacks`). Whatever these cannot know, because values are too large for 64 bits, is merged by
DuckDB.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from ...database.failure import DatabaseError
from ...rows.group_places import GroupPlaces
from .live_rows import LiveRows
from .two_stacks import StackedPart, TwoStacks

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from ...rows.arrow_words import Integers
    from .dense_columns import DenseColumns
    from .sum_column import SumPart
    from .table_merge import TableMerge

_PARTS: Final = 8
"""When so many parts of a step have come, they are merged to one."""
_SPARE_PLACES: Final = 4_096
_BEFORE_ALL: Final = -(1 << 63)


class _Part:
    """A part of a step's partial: the table, and what of it is added, subtracted, and stacked."""

    __slots__ = ("stacked", "sums", "table")

    def __init__(self, table: pa.Table, sums: list[SumPart], stacked: StackedPart) -> None:
        self.table = table
        self.sums = sums
        self.stacked = stacked


class DenseMerge:
    """Add the steps that enter the window, and take away those that leave."""

    __slots__ = (
        "_columns",
        "_end",
        "_first",
        "_forgotten",
        "_group_columns",
        "_group_version",
        "_live",
        "_merge",
        "_merged",
        "_order",
        "_outside_rows",
        "_places",
        "_stacks",
        "_steps",
    )

    def __init__(self, columns: DenseColumns, merge: TableMerge) -> None:
        self._columns = columns
        self._merge = merge
        self._places = GroupPlaces(columns.group_types)
        self._live = LiveRows()
        self._stacks = TwoStacks(columns.stacked)
        self._steps: dict[int, list[_Part]] = {}
        self._order: list[int] = []
        """The steps that are held, ascending."""
        self._outside_rows = 0
        """Rows of the parts that are held and not in the window."""
        self._first = self._end = self._forgotten = _BEFORE_ALL
        self._merged: pa.Table | None = None
        self._group_columns: list[pa.Array] = []
        self._group_version = -1

    def stage(self, step: int, partial: pa.Table) -> None:
        """Take a part of a step's partial. O(rows)."""
        if partial.num_rows == 0 or step < min(self._forgotten, self._first):
            return
        part = self._read(partial)
        parts = self._steps.get(step)
        if parts is None:
            parts = self._steps[step] = []
            insort(self._order, step)
        parts.append(part)
        if self._first <= step < self._end:
            self._enter(part)
        else:
            self._outside_rows += partial.num_rows
        if len(parts) % _PARTS == 0:
            self._join(step)

    def advance(self, first: int, end: int) -> None:
        """Move the window to the steps `[first, end)`."""
        if (first, end) != (self._first, self._end):
            self._slide(first, end)
            self._drop()
            self._compact()

    def merged(self) -> pa.Table:
        """Return the merge of the window. O(its groups)."""
        if self._merged is None:
            self._merged = self._dense()
        if self._merged is None:
            self._merged = self._plain(self._first, self._end)
        return self._merged

    def merged_of(self, first: int, end: int) -> pa.Table:
        """Return the merge of any steps that are held."""
        here = self._first, self._end
        if (first, end) == here:
            return self.merged()
        if not self._is_near(first, end):
            return self._plain(first, end)
        before = self._merged
        self._slide(first, end)
        try:
            return self.merged()
        finally:
            self._slide(*here)
            self._merged = before

    def forget(self, before: int) -> None:
        """Say that steps below are not asked for again once they have left the window."""
        self._forgotten = max(before, self._forgotten)
        self._drop()

    def memory_rows(self) -> int:
        """Return how many rows are held. O(parts)."""
        parts = (part for parts in self._steps.values() for part in parts)
        return self._live.count + _rows(parts)

    def places_known(self) -> int:
        """Return how many groups have a place, of which half may be gone."""
        return len(self._places)

    def describe(self) -> str:
        """Say in a phrase how it merges."""
        if not self._columns.stacked:
            return "adding the steps that enter and subtracting those that leave, exactly"
        if not self._columns.sums:
            return "two stacks of steps, of which one step enters and one leaves"
        return (
            "adding the steps that enter and subtracting those that leave, where that is exact, "
            "and two stacks of steps for the other states"
        )

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._merge.close()

    # Parts

    def _read(self, partial: pa.Table) -> _Part:
        groups, sums, stacked = self._columns.read(partial)
        places = self._places.places_of(groups, partial.num_rows)
        return _Part(partial, sums, StackedPart(places, stacked))

    def _join(self, step: int) -> None:
        """Merge the parts of a step to one."""
        import pyarrow as pa

        parts = self._steps[step]
        with suppress(DatabaseError, pa.ArrowException):  # whoever asks for the merge is told
            joined = self._read(self._merge([part.table for part in parts]))
            if self._first <= step < self._end:
                self._add(joined)
                for part in parts:
                    self._subtract(part)
                stacked = [part.stacked for part in parts]
                self._stacks.join(stacked, joined.stacked)
            else:
                self._outside_rows += joined.table.num_rows - _rows(parts)
            parts[:] = [joined]

    def _add(self, part: _Part) -> Integers:
        rows = self._live.enter(part.stacked.places)
        for values in part.sums:
            values.enter(rows, self._live)
        return rows

    def _subtract(self, part: _Part) -> Integers:
        rows = self._live.leave(part.stacked.places)
        for values in part.sums:
            values.leave(rows)
        return rows

    # The window

    def _enter(self, part: _Part) -> None:
        rows = self._add(part)
        if self._columns.stacked:
            self._stacks.enter(part.stacked, rows, self._live)
        self._merged = None

    def _leave(self, steps: Iterable[int]) -> None:
        left = []
        for step in steps:
            for part in self._steps[step]:
                rows = self._subtract(part)
                if self._columns.stacked:
                    self._stacks.leave(part.stacked, rows)
                left.append(rows)
        moves = self._live.sweep(np.concatenate(left)) if left else None
        if moves is not None:
            for column in self._columns.sums:
                column.move(moves)
            self._stacks.move(moves)

    def _clear(self) -> None:
        for column in self._columns.sums:
            column.clear()
        self._stacks.clear()
        self._live.clear()

    def _slide(self, first: int, end: int) -> None:
        """Let steps enter and leave, so that the window is `[first, end)`."""
        old_first, old_end = self._first, self._end
        self._first, self._end = first, end
        self._merged = None
        leaving = self._between(old_first, min(old_end, first))
        leaving += self._between(max(old_first, end), old_end)
        entering = self._between(first, min(end, old_first))
        entering += self._between(max(first, old_end), end)
        if len(leaving) == len(self._between(old_first, old_end)):
            self._clear()
            self._outside_rows += self._rows_of(leaving)
            leaving = []
        for step in entering:
            for part in self._steps[step]:
                self._enter(part)
        self._leave(leaving)
        self._outside_rows += self._rows_of(leaving) - self._rows_of(entering)

    def _is_near(self, first: int, end: int) -> bool:
        """Tell whether sliding to a window and back is less work than merging it."""
        if self._columns.stacked:
            return False
        both = len(self._between(max(first, self._first), min(end, self._end)))
        there, here = len(self._between(first, end)), len(self._between(self._first, self._end))
        return 2 * (there + here - 2 * both) <= there

    def _between(self, first: int, end: int) -> list[int]:
        return self._order[bisect_left(self._order, first) : bisect_left(self._order, end)]

    def _rows_of(self, steps: Iterable[int]) -> int:
        return sum(_rows(self._steps[step]) for step in steps)

    # The merge

    def _dense(self) -> pa.Table | None:
        """Return the merge from the columns, or None if they cannot know it."""
        import pyarrow as pa

        columns = [column.column(self._live) for column in self._columns.sums]
        if not self._stacks.is_exact or any(column is None for column in columns):
            return None
        if self._stacks.is_broken:
            steps = reversed(self._between(self._first, self._end))
            parts = (part.stacked for step in steps for part in reversed(self._steps[step]))
            self._stacks.rebuild(parts, self._live)
        columns += self._stacks.columns(self._live)
        arrays = self._columns.in_order(self._groups(), columns)
        return pa.Table.from_arrays(arrays, schema=self._merge.schema)

    def _groups(self) -> list[pa.Array]:
        if self._group_version != self._live.version:
            self._group_columns = self._places.values(self._live.places)
            self._group_version = self._live.version
        return self._group_columns

    def _plain(self, first: int, end: int) -> pa.Table:
        steps = self._between(first, end)
        return self._merge([part.table for step in steps for part in self._steps[step]])

    # What is forgotten

    def _drop(self) -> None:
        bound = min(self._forgotten, self._first)
        gone = self._order[: bisect_left(self._order, bound)]
        self._outside_rows -= self._rows_of(gone)
        for step in gone:
            del self._steps[step]
        del self._order[: len(gone)]

    def _compact(self) -> None:
        """Number the places anew when more than half of them are of no part."""
        if len(self._places) < 2 * (self._live.count + self._outside_rows) + _SPARE_PLACES:
            return
        parts = [part.stacked for parts in self._steps.values() for part in parts]
        is_used = np.zeros(len(self._places), np.bool_)
        for part in parts:
            is_used[part.places] = True
        used = np.flatnonzero(is_used)
        values = self._places.values(used)
        self._places = GroupPlaces(self._columns.group_types)
        new_places = np.zeros(is_used.size, np.int64)
        new_places[used] = self._places.places_of(values, used.size)
        for part in parts:
            part.places = new_places[part.places]
        self._live.renumber(new_places, len(self._places))

    def _check(self) -> None:
        """Assert what always holds."""
        assert self._order == sorted(self._steps)
        assert all(step >= min(self._forgotten, self._first) for step in self._order)
        inside = self._between(self._first, self._end)
        assert self._outside_rows == self._rows_of(set(self._order) - set(inside))
        stacked = [part.stacked for step in inside for part in self._steps[step]]
        self._stacks._check(stacked)
        places = [part.places for part in stacked]
        held = np.unique(np.concatenate(places)) if places else np.empty(0, np.int64)
        assert np.array_equal(np.sort(self._live.places), held)
        self._places._check()
        self._live._check()
        for column in self._columns.sums:
            column._check(self._live)


def _rows(parts: Iterable[_Part]) -> int:
    return sum(part.stacked.places.size for part in parts)
