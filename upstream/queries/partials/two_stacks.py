"""States without an inverse in a sliding window: two stacks, where nothing is ever subtracted.

    oldest                                                 newest
    |---- front ----|---------- middle ----------|---- back ----|
                      next front <--- built so far

The back is the merge of the newest chunks. The front is the merge of the oldest chunks, and was
built chunk by chunk from the newest to the oldest. When the oldest chunk leaves, the front is
restored to what it was before that chunk, which was saved for the groups of the chunk only. When
the front is used up, the next front takes its place.

The next front is built a few chunks per slide while the present front is used up, so that no slide
costs much more than the others (as in DABA: Tangwongsan, Hirzel and Schneider, "Low-Latency
Sliding-Window Aggregation in Worst-Case Constant Time", 2017). It is built from the middle, which
was the back some slides ago: as soon as the back has as many chunks as there are slides until its
oldest leaves, the back becomes the middle. So front and middle are half a window each. A slide
merges one chunk into the back, takes one out of the front, and pushes one to the next front:
O(their groups).

If a late row changes a chunk of the next front, building begins again. If it changes a chunk of the
front, the change is kept in the middle; when that chunk leaves, everything is built again at once.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from ...rows.arrow_words import column, grown
from .counted_columns import PartValues, StateCounts
from .kernels import kernel_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...rows.arrow_words import Integers, Numbers
    from ..chunks.ring import Ring
    from .counted_columns import LivePlaces
    from .dense_window import Part
    from .kernels import Arrays, Kernel

    Slice = slice[int | None, int | None, None]

_BEFORE_ALL: Final = -(1 << 63)
_UNREAD: Final = 256
"""If this many parts were counted since the last read, they are merged without a reader."""
_INEXACT: Final = 1
"""The bound of a part with values that are too large to be merged here; other parts have 0."""


class Stack(IntEnum):
    """The merges of some chunks. Those before `NEXT` make up the window."""

    FRONT = 0
    MIDDLE = 1
    BACK = 2
    NEXT = 3


class StackedState:
    """One state in each of the stacks, and the merge of front, middle and back.

    A place that no part of the window has holds the kernel's identity in all of them.
    """

    __slots__ = ("_fields", "_kernel", "_merged", "_stacks", "counts")

    def __init__(self, kernel: Kernel, fields: Sequence[pa.Field]) -> None:
        self._kernel = kernel
        self._fields = fields
        self._stacks = self._side_by_side(0)
        self._merged = self._filled(0)[: len(fields)]
        """The values of the returned columns."""
        self.counts = StateCounts(len(fields), limit=_INEXACT)

    def read(self, table: pa.Table) -> PartValues:
        """Return what is kept of a part."""
        arrays, present, is_exact = kernel_values(self._kernel, self._fields, table)
        return PartValues(arrays, present, 0 if is_exact else _INEXACT)

    def count(self, places: Integers, values: PartValues, times: int, size: int) -> None:
        """Count a part that enters or leaves the window, and make room for its places."""
        self.counts.add(places, values, times, size)
        room = len(self._merged[0])
        if size > room:
            stacks = self._side_by_side(max(size, 2 * room))
            for larger, stack in zip(stacks, self._stacks, strict=True):
                _put(larger, slice(room), stack)
            self._stacks = stacks
            self._merged = tuple(grown(array, size) for array in self._merged)

    def add(self, to: Stack, places: Integers, arrays: Arrays) -> None:
        """Merge a part into a stack, as the newest."""
        stack = self._stacks[to]
        _put(stack, places, self._combined(_at(stack, places), arrays))

    def push(self, to: Stack, places: Integers, arrays: Arrays) -> Arrays:
        """Merge a part into a stack as the oldest; return what was there, to restore it later."""
        stack = self._stacks[to]
        before = _at(stack, places)
        _put(stack, places, self._combined(arrays, before))
        return before

    def restore_front(self, places: Integers, before: Arrays) -> None:
        """Take the part that was pushed last out of the front."""
        _put(self._stacks[Stack.FRONT], places, before)

    def swap(self, one: Stack, other: Stack) -> None:
        """Exchange two stacks. O(1)."""
        stacks = self._stacks
        stacks[one], stacks[other] = stacks[other], stacks[one]

    def clear(self, which: Stack) -> None:
        """Empty a stack. O(places)."""
        _put(self._stacks[which], slice(None), self._kernel.identity)

    def merge(self, places: Integers | Slice) -> None:
        """Merge front, middle and back at these places."""
        front, middle, back = (_at(stack, places) for stack in self._stacks[: Stack.NEXT])
        merged = self._combined(self._combined(front, middle), back)
        _put(self._merged, places, self._kernel.results(merged))

    def columns(self, live: LivePlaces) -> dict[str, pa.Array]:
        """Return the columns of the state in the window, as merged."""
        columns = zip(self._fields, self._merged, self.counts.present(live), strict=True)
        return {
            field.name: column(field.type, live.of(values), present)
            for field, values, present in columns
        }

    def _combined(self, older: Arrays, newer: Arrays) -> Arrays:
        return self._kernel.combined(older, newer)

    def _side_by_side(self, length: int) -> list[Arrays]:
        """Return empty stacks. The numbers of one place are neighbours in memory.

        One cache miss.
        """
        arrays = self._filled(length * len(Stack))
        return [tuple(array[stack :: len(Stack)] for array in arrays) for stack in Stack]

    def _filled(self, length: int) -> Arrays:
        return tuple(np.full(length, value) for value in self._kernel.identity)

    def _check(self, live: LivePlaces) -> None:
        """Assert every invariant."""
        self.counts._check(live)


class TwoStacks:
    """The merges of several states over the chunks of a window."""

    __slots__ = (
        "_back_from",
        "_built_from",
        "_middle_from",
        "_touched",
        "is_broken",
        "states",
    )

    def __init__(self, states: Sequence[StackedState]) -> None:
        self.states = states
        self.is_broken = True
        """Whether the stacks must be built again before they are read."""
        self._middle_from = self._back_from = _BEFORE_ALL
        """The first chunks of the middle and of the back, which may be empty."""
        self._built_from = _BEFORE_ALL
        """The chunk of the middle from which on the next front is built."""
        self._touched: list[Integers] = []
        """The places at which front, middle and back are not merged yet."""

    def enter(self, chunk: int, part: Part) -> None:
        """Merge a counted part of any chunk. O(rows)."""
        if self.is_broken:
            return
        to = Stack.BACK if chunk >= self._back_from else Stack.MIDDLE
        for state, values in zip(self.states, part.stacked, strict=True):
            state.add(to, part.places, values.arrays)
        self._touch(part.places)
        self.amend(chunk)

    def leave(self, chunk: int, part: Part) -> None:
        """Take out a part of the oldest chunk. O(rows)."""
        before, part.before = part.before, None
        if self.is_broken:
            return
        if chunk >= self._middle_from:
            self._turn()
        if before is None or chunk >= self._middle_from:
            self.is_broken = True
            return
        for state, arrays in zip(self.states, before, strict=True):
            state.restore_front(part.places, arrays)
        self._touch(part.places)

    def amend(self, chunk: int) -> None:
        """Begin the next front again if it contains this chunk, which has other parts now."""
        if self._built_from <= chunk < self._back_from and not self.is_broken:
            for state in self.states:
                state.clear(Stack.NEXT)
            self._built_from = self._back_from

    def build(self, ring: Ring[Part], window: tuple[int, int], by: int) -> None:
        """Build a part of the next front, before the window moves by this many chunks."""
        if self.is_broken or by <= 0:
            return
        first, end = window
        if self._middle_from == self._back_from:
            held = ring.chunks(max(self._back_from, first), end)  # some may wait behind the window
            if held and held[0] - first <= len(held):
                for state in self.states:
                    state.swap(Stack.MIDDLE, Stack.BACK)
                self._built_from = self._back_from = end
        waiting = ring.chunks(max(self._middle_from, first), self._built_from)
        if waiting:
            slides_left = max(waiting[0] + 1 - first, by)
            count = -(-len(waiting) * by // slides_left)
            for chunk in reversed(waiting[-count:]):
                self._push(Stack.NEXT, ring.of(chunk))
            self._built_from = self._middle_from if count == len(waiting) else waiting[-count]

    def rebuild(self, ring: Ring[Part], window: tuple[int, int]) -> None:
        """Build everything again, with the older half of the chunks in the front.

        O(rows of all parts).
        """
        for state in self.states:
            for stack in Stack:
                state.clear(stack)
        chunks = ring.chunks(*window)
        half = len(chunks) // 2
        for chunk in reversed(chunks[:half]):
            self._push(Stack.FRONT, ring.of(chunk))
        for part in (part for chunk in chunks[half:] for part in ring.of(chunk)):
            for state, values in zip(self.states, part.stacked, strict=True):
                state.add(Stack.BACK, part.places, values.arrays)
        self._middle_from = self._built_from = self._back_from = chunks[half] if half else window[0]
        for state in self.states:
            state.merge(slice(None))
        self._touched.clear()
        self.is_broken = False

    def merge(self) -> None:
        """Merge front, middle and back where they have changed; broken stacks are rebuilt first."""
        assert not self.is_broken
        if self._touched:
            places = np.concatenate(self._touched)
            for state in self.states:
                state.merge(places)
            self._touched.clear()

    def _touch(self, places: Integers) -> None:
        self._touched.append(places)
        if len(self._touched) > _UNREAD:
            self.merge()

    def _push(self, to: Stack, parts: Sequence[Part]) -> None:
        """Push the parts of a chunk to a front, the newest first."""
        for part in reversed(parts):
            pairs = zip(self.states, part.stacked, strict=True)
            part.before = [state.push(to, part.places, values.arrays) for state, values in pairs]

    def _turn(self) -> None:
        """Replace the used-up front by the next one, if that contains all of the middle."""
        if self._built_from > self._middle_from:
            return
        for state in self.states:
            state.swap(Stack.FRONT, Stack.NEXT)
            state.clear(Stack.MIDDLE)
        self._middle_from = self._built_from = self._back_from

    def _check(self) -> None:
        """Assert every invariant."""
        assert self._middle_from <= self._built_from <= self._back_from


def _at(arrays: Arrays, places: Integers | Slice) -> Arrays:
    return tuple(array[places] for array in arrays)


def _put(arrays: Arrays, places: Integers | Slice, values: Sequence[Numbers | float]) -> None:
    for array, new in zip(arrays, values, strict=True):
        array[places] = new
