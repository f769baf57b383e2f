"""The merge of a window in NumPy columns: everything that `DenseMerge` derives from partials.

Groups have places, and each state has columns by places, which are changed in place as chunks enter
and leave. After an interrupted change the object cannot be used. Therefore `DenseMerge` releases
its reference before each change, and makes a new object from the partials if necessary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import one_array
from ...rows.group_codes import GroupPlaces, has_places
from ..rewriting.split_query import StateKind
from .counted_columns import ENTERS, LEAVES, LivePlaces, SubtractedSum, can_subtract
from .kernels import kernel_of
from .two_stacks import StackedState, TwoStacks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...rows.arrow_words import Integers
    from ...rows.group_codes import Places
    from ..chunks.ring import Ring
    from ..rewriting.split_query import State
    from .counted_columns import PartValues
    from .kernels import Arrays

_SPARE_PLACES: Final = 4_096

Bounds = tuple[int, int]


class Part:
    """A part of a chunk's partial: the table, and the values derived from it for the merge.

    `values` are those of all states, and `stacked` those of the states in stacks. `before` is what
    the front of the stacks contained when this part was pushed to it.
    """

    __slots__ = ("before", "places", "stacked", "table", "values")

    places: Integers
    values: list[PartValues]
    stacked: list[PartValues]
    before: list[Arrays] | None

    def __init__(self, table: pa.Table) -> None:
        self.table = table


class DenseWindow:
    """The places of the groups in a window, and their states."""

    __slots__ = (
        "_columns",
        "_group_arrays",
        "_groups",
        "_places",
        "_schema",
        "_stacks",
        "_states",
        "live",
        "merged",
    )

    def __init__(self, groups: tuple[str, ...], states: Sequence[State], schema: pa.Schema) -> None:
        self._groups = groups
        self._states = states
        self._schema = schema
        self._places = GroupPlaces([schema.field(name).type for name in groups])
        self._empty()

    def _empty(self) -> None:
        """Start without groups."""
        self.live = LivePlaces()
        columns = [column_of(state, self._schema) for state in self._states]
        # all of them, if the merge is dense
        self._columns = [column for column in columns if column is not None]
        self._stacks = TwoStacks([each for each in self._columns if isinstance(each, StackedState)])
        self._group_arrays: tuple[Places | None, list[pa.Array]] = None, []
        """The groups of the places that were last requested."""
        self.merged: pa.Table | None = None
        """The merge of the window, once it was requested."""

    def read(self, part: Part) -> None:
        """Give the groups of a part places, and derive its values. O(rows)."""
        groups = [one_array(part.table.column(name)) for name in self._groups]
        part.places = self._places.places_of(groups, part.table.num_rows)
        part.values = [column.read(part.table) for column in self._columns]
        pairs = zip(self._columns, part.values, strict=True)
        part.stacked = [values for column, values in pairs if isinstance(column, StackedState)]
        part.before = None

    def enter(self, chunk: int, part: Part) -> None:
        """Merge a part into the window. O(rows)."""
        self._count(part, ENTERS)
        self._stacks.enter(chunk, part)
        self.merged = None

    def join(self, chunk: int, parts: Sequence[Part], joined: Part) -> None:
        """Replace several parts of a chunk of the window by their merge."""
        self._count(joined, ENTERS)
        for part in parts:
            self._count(part, LEAVES)
        self._stacks.amend(chunk)

    def slide(self, ring: Ring[Part], old: Bounds, new: Bounds) -> None:
        """Let the chunks of one window leave and those of another enter."""
        self.merged = None
        leaving = _chunks_outside(ring, old, new)
        entering = _chunks_outside(ring, new, old)
        if leaving and len(leaving) == len(ring.chunks(*old)):
            self._empty()
            leaving = []
        else:
            self._stacks.build(ring, old, new[0] - old[0])
        for chunk in entering:
            for part in ring.of(chunk):
                self.enter(chunk, part)
        for chunk in leaving:
            for part in ring.of(chunk):
                self._count(part, LEAVES)
                self._stacks.leave(chunk, part)
        self._compact(ring, new)

    def merge(self, ring: Ring[Part], window: Bounds) -> None:
        """Compute `merged`; it stays None if the columns cannot give it. O(groups)."""
        if not all(column.counts.is_exact for column in self._columns):
            return
        if self._stacks.states:
            if self._stacks.is_broken:
                self._stacks.rebuild(ring, window)
            self._stacks.merge()
        arrays = dict(zip(self._groups, self._group_columns(), strict=True))
        for column in self._columns:
            arrays |= column.columns(self.live)
        in_order = [arrays[name] for name in self._schema.names]
        self.merged = pa.Table.from_arrays(in_order, schema=self._schema)

    def _compact(self, ring: Ring[Part], window: Bounds) -> None:
        """Number the places again when most of them belong to no part. O(rows of all parts)."""
        spare = len(self._places) - 4 * self.live.count - _SPARE_PLACES
        if spare < 0:
            return
        outside = (chunk for chunk in ring if chunk not in range(*window))
        if spare < 4 * sum(part.places.size for chunk in outside for part in ring.of(chunk)):
            return
        parts = [part for chunk in ring for part in ring.of(chunk)]
        is_used = np.zeros(len(self._places), np.bool_)
        for part in parts:
            is_used[part.places] = True
        values = self._places.values(pa.array(is_used))
        new_places = np.zeros(is_used.size, np.int64)
        self._places = GroupPlaces([array.type for array in values])
        new_places[is_used] = self._places.places_of(values, int(is_used.sum()))
        for part in parts:
            part.places = new_places[part.places]
        self._empty()
        for chunk, part in ring.between(*window):
            self.enter(chunk, part)

    def _count(self, part: Part, times: int) -> None:
        size = len(self._places)
        self.live.add(part.places, times, size)
        for column, values in zip(self._columns, part.values, strict=True):
            column.count(part.places, values, times, size)

    def _group_columns(self) -> list[pa.Array]:
        places = self.live.places
        if self._group_arrays[0] is not places:
            self._group_arrays = places, self._places.values(places)
        return self._group_arrays[1]

    def _check(self, ring: Ring[Part], window: Bounds) -> None:
        """Assert every invariant."""
        parts = [part for _, part in ring.between(*window)]
        held = {place for part in parts for place in part.places.tolist()}
        assert sorted(held) == self.live.of(np.arange(len(self._places))).tolist()
        self._stacks._check()
        self._places._check()
        self.live._check()
        for column in self._columns:
            column._check(self.live)


def _chunks_outside(ring: Ring[Part], window: Bounds, other: Bounds) -> list[int]:
    """Return the chunks of one window that are not in another."""
    before = window[0], min(window[1], other[0])
    behind = max(window[0], other[1]), window[1]
    return [chunk for each in (before, behind) if each[0] < each[1] for chunk in ring.chunks(*each)]


def can_be_dense(groups: tuple[str, ...], states: Sequence[State], schema: pa.Schema) -> bool:
    """Tell whether groups can have places, and NumPy can merge all states."""
    return all(has_places(schema.field(name).type) for name in groups) and all(
        column_of(state, schema) is not None for state in states
    )


def column_of(state: State, schema: pa.Schema) -> SubtractedSum | StackedState | None:
    """Return the column that merges a state in NumPy, without groups; None if there is none."""
    fields = [schema.field(name) for name in state.columns]
    if state.kind is StateKind.SUM and can_subtract(fields[0].type):
        return SubtractedSum(*fields)
    kernel = kernel_of(state.kind, [field.type for field in fields])
    return None if kernel is None else StackedState(kernel, fields)
