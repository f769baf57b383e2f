"""The merge of a window in columns of NumPy arrays: all that `DenseMerge` derives from partials.

Groups have places, places in the window have rows, and each state has columns by rows, which are
changed in place as chunks enter and leave. If a change is interrupted, the object is of no more
use: `DenseMerge` lets go of it before each change, and makes another from the partials if it must.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ...rows.group_places import GroupPlaces
from .live_rows import LiveRows
from .two_stacks import TwoStacks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from ...rows.arrow_words import Integers
    from ..chunks.ring import Ring
    from .dense_columns import DenseColumns, Part

_SPARE_PLACES: Final = 4_096
_BEFORE_ALL: Final = -(1 << 63)
_AFTER_ALL: Final = (1 << 63) - 1

Bounds = tuple[int, int]


class DenseWindow:
    """The rows of the groups in a window, and their states."""

    __slots__ = (
        "_columns",
        "_group_columns",
        "_group_version",
        "_live",
        "_new_columns",
        "_places",
        "_stacks",
        "merged",
    )

    def __init__(self, new_columns: Callable[[], DenseColumns]) -> None:
        self._new_columns = new_columns
        self._empty()
        self._places = GroupPlaces(self._columns.group_types)

    def _empty(self) -> None:
        """Have no rows."""
        self._columns = self._new_columns()
        self._live = LiveRows()
        self._stacks = TwoStacks(self._columns.stacked)
        self._group_columns: list[pa.Array] = []
        self._group_version = -1
        self.merged: pa.Table | None = None
        """The merge of the window, once it was asked for."""

    @property
    def group_count(self) -> int:
        """How many groups there are in the window."""
        return self._live.count

    @property
    def can_go_back(self) -> bool:
        """Whether the window can slide backwards."""
        return not self._columns.stacked

    def read(self, part: Part) -> None:
        """Give the groups of a part places, and derive what is merged. O(rows)."""
        self._columns.read(part, self._places)

    def enter(self, chunk: int, part: Part) -> None:
        """Merge a part into the window. O(rows)."""
        rows = self._add(part)
        if self._columns.stacked:
            self._stacks.enter(chunk, part, rows)
        self.merged = None

    def join(self, chunk: int, parts: Sequence[Part], joined: Part) -> None:
        """Take one part for several of a chunk of the window, of which it is the merge."""
        self._add(joined)
        for part in parts:
            self._subtract(part)
        self._stacks.amend(chunk)

    def slide(self, ring: Ring[Part], old: Bounds, new: Bounds) -> None:
        """Let the chunks of one window leave and those of another enter."""
        self.merged = None
        leaving = ring.chunks(old[0], min(old[1], new[0]))
        leaving += ring.chunks(max(old[0], new[1]), old[1])
        entering = ring.chunks(new[0], min(new[1], old[0]))
        entering += ring.chunks(max(new[0], old[1]), new[1])
        if leaving and len(leaving) == len(ring.chunks(*old)):
            self._empty()
            leaving = []
        else:
            self._stacks.build(ring, old, new[0] - old[0], self._live)
        for chunk in entering:
            for part in ring.of(chunk):
                self.enter(chunk, part)
        self._leave(ring, leaving)
        self._compact(ring, new)

    def merge(self, ring: Ring[Part], window: Bounds) -> None:
        """Find `merged`, unless the columns cannot know it: it is None then. O(groups)."""
        import pyarrow as pa

        columns = [column.column(self._live) for column in self._columns.sums]
        if not self._stacks.is_exact or any(column is None for column in columns):
            return
        if self._columns.stacked:
            if self._stacks.is_broken:
                self._stacks.rebuild(ring, window, self._live)
            columns += self._stacks.columns(self._live)
        arrays = self._columns.in_order(self._groups(), columns)
        self.merged = pa.Table.from_arrays(arrays, schema=self._columns.schema)

    def places_known(self) -> int:
        """Return how many groups have a place, of which half may be gone."""
        return len(self._places)

    def _add(self, part: Part) -> Integers:
        rows = self._live.enter(part.places)
        for column, values in zip(self._columns.sums, part.sums, strict=True):
            column.enter(rows, values, self._live)
        self._stacks.count(part, rows, self._live)
        return rows

    def _subtract(self, part: Part) -> Integers:
        rows = self._live.leave(part.places)
        for column, values in zip(self._columns.sums, part.sums, strict=True):
            column.leave(rows, values)
        self._stacks.discount(part, rows)
        return rows

    def _leave(self, ring: Ring[Part], chunks: list[int]) -> None:
        left = []
        for chunk in chunks:
            for part in ring.of(chunk):
                rows = self._subtract(part)
                if self._columns.stacked:
                    self._stacks.leave(chunk, part, rows)
                left.append(rows)
        moves = self._live.sweep(np.concatenate(left)) if left else None
        if moves is not None:
            for column in self._columns.sums:
                column.move(moves)
            self._stacks.move(moves)

    def _groups(self) -> list[pa.Array]:
        if self._group_version != self._live.version:
            self._group_columns = self._places.values(self._live.places)
            self._group_version = self._live.version
        return self._group_columns

    def _compact(self, ring: Ring[Part], window: Bounds) -> None:
        """Number the places anew when more than half of them are of no part."""
        spare = len(self._places) - 2 * self._live.count - _SPARE_PLACES
        outside = ((_BEFORE_ALL, window[0]), (max(window), _AFTER_ALL))
        if spare < 0 or spare < 2 * sum(
            part.places.size for bounds in outside for _, part in ring.between(*bounds)
        ):
            return
        parts = [part for _, part in ring.between(_BEFORE_ALL, _AFTER_ALL)]
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

    def _check(self, ring: Ring[Part], window: Bounds) -> None:
        """Assert what always holds."""
        parts = [part for _, part in ring.between(*window)]
        self._stacks._check(parts, self._live)
        places = [part.places for part in parts]
        held = np.unique(np.concatenate(places)) if places else np.empty(0, np.int64)
        assert np.array_equal(np.sort(self._live.places), held)
        self._places._check()
        self._live._check()
        for column in self._columns.sums:
            column._check(self._live)
