"""One state without an inverse, by places: in each of the stacks, and merged.

`TwoStacks` says what goes where.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

import numpy as np

from ...rows.arrow_words import column, grown, lower_words, one_array
from .live_places import PartValues, StateCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...rows.arrow_words import Integers, Numbers
    from .kernels import Arrays, Kernel
    from .live_places import LivePlaces

    Slice = slice[int | None, int | None, None]

_INEXACT: Final = 1
"""The bound of a part with values that are too large to be merged here; of all others it is 0."""


class Stack(IntEnum):
    """Which merge of some chunks: `TwoStacks` says which chunks these are.

    Those before `NEXT` make up the window.
    """

    FRONT = 0
    MIDDLE = 1
    BACK = 2
    NEXT = 3


class StackedState:
    """A state in each of the stacks, and what front, middle and back are merged to.

    A place that no part of the window has is the kernel's identity in all of them.
    """

    __slots__ = ("_fields", "_kernel", "_merged", "_stacks", "counts")

    def __init__(self, kernel: Kernel, fields: Sequence[pa.Field]) -> None:
        self._kernel = kernel
        self._fields = fields
        self._stacks = self._side_by_side(0)
        self._merged = self._filled(0)[: len(fields)]
        """The values of the columns that are handed out."""
        self.counts = StateCounts(len(fields), limit=_INEXACT)

    def read(self, table: pa.Table) -> PartValues:
        """Return what is kept of a part."""
        names = [field.name for field in self._fields]
        arrays, masks = [], []
        is_exact = True
        for name, identity in zip_longest(names, self._kernel.identity):
            if name is None:  # the kernel's own
                arrays.append(np.full(table.num_rows, identity))
                continue
            values, present, fits = lower_words(one_array(table.column(name)))
            is_exact &= fits and not self._has_large(values)
            values = values.astype(type(identity), copy=False)
            arrays.append(values if present is None else np.where(present, values, identity))
            masks.append(present)
        return PartValues(tuple(arrays), tuple(masks), 0 if is_exact else _INEXACT)

    def count(self, places: Integers, values: PartValues, times: int, size: int) -> None:
        """Count a part that enters or leaves the window, and have room for its places."""
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
        """Merge a part into a stack, as the oldest, and return what was there, to be restored."""
        stack = self._stacks[to]
        before = _at(stack, places)
        _put(stack, places, self._combined(arrays, before))
        return before

    def restore_front(self, places: Integers, before: Arrays) -> None:
        """Take a part out of the front, which was the last one to be pushed."""
        _put(self._stacks[Stack.FRONT], places, before)

    def swap(self, one: Stack, other: Stack) -> None:
        """Let two stacks change places. O(1)."""
        stacks = self._stacks
        stacks[one], stacks[other] = stacks[other], stacks[one]

    def clear(self, which: Stack) -> None:
        """Forget what is in a stack. O(room)."""
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

    def _has_large(self, values: Numbers) -> bool:
        if self._kernel.limit is None:
            return False
        magnitudes = np.abs(values)
        return bool(((magnitudes >= self._kernel.limit) & (magnitudes < np.inf)).any())

    def _combined(self, older: Arrays, newer: Arrays) -> Arrays:
        with np.errstate(invalid="ignore", over="ignore"):
            return self._kernel.combine(older, newer)

    def _side_by_side(self, length: int) -> list[Arrays]:
        """Return empty stacks; the numbers of a place are neighbours in memory: one cache miss."""
        arrays = self._filled(length * len(Stack))
        return [tuple(array[stack :: len(Stack)] for array in arrays) for stack in Stack]

    def _filled(self, length: int) -> Arrays:
        return tuple(np.full(length, value) for value in self._kernel.identity)

    def _check(self, live: LivePlaces) -> None:
        """Assert what always holds."""
        self.counts._check(live)


def _at(arrays: Arrays, places: Integers | Slice) -> Arrays:
    return tuple(array[places] for array in arrays)


def _put(arrays: Arrays, places: Integers | Slice, values: Sequence[Numbers | float]) -> None:
    for array, new in zip(arrays, values, strict=True):
        array[places] = new
