"""One state without an inverse, by rows: in each of the stacks, and merged.

`TwoStacks` says what goes where.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...rows.arrow_words import column, decimal_words, grown, numbers
from .null_counts import NullCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...rows.arrow_words import Integers, Numbers, Present
    from .kernels import Arrays, Kernel
    from .live_rows import LiveRows, Moves

_FIRST: Final = 64
_SIGN_BITS: Final = 63


class StateValues(NamedTuple):
    """The arrays of a state in a part, and for each of its columns what is there.

    `is_exact` says that no value was too large to be merged here.
    """

    arrays: Arrays
    present: tuple[Present, ...]
    is_exact: bool


class Stack(IntEnum):
    """Which merge of some chunks: `TwoStacks` says which chunks these are.

    Those before `NEXT` make up the window.
    """

    FRONT = 0
    MIDDLE = 1
    BACK = 2
    NEXT = 3


class StackedState:
    """A state in each of the stacks, and what front, middle and back are merged to."""

    __slots__ = ("_kernel", "_merged", "_nulls", "_stacks", "_types")

    def __init__(self, kernel: Kernel, types: Sequence[pa.DataType]) -> None:
        self._kernel = kernel
        self._types = types
        self._nulls = [NullCounts() for _ in types]
        self._stacks = self._side_by_side(_FIRST)
        self._merged = self._filled(_FIRST)[: len(types)]
        """The values of the columns that are handed out."""

    def read(self, columns: Sequence[pa.Array]) -> StateValues:
        """Return what is kept of a part."""
        arrays = list(self._filled(len(columns[0])))
        masks = []
        is_exact = True
        for index, array in enumerate(columns):
            values, present, fits = _values_of(array)
            is_exact &= fits and not self._has_large(values)
            where = True if present is None else present
            np.copyto(arrays[index], values, where=where, casting="unsafe")
            masks.append(present)
        return StateValues(tuple(arrays), tuple(masks), is_exact)

    def count(self, rows: Integers, values: StateValues, live: LiveRows) -> None:
        """Count the NULLs of a part that enters the window, and have room for its rows."""
        if live.count > len(self._merged[0]):
            stacks = self._side_by_side(max(live.count, 2 * len(self._merged[0])))
            for larger, stack in zip(stacks, self._stacks, strict=True):
                for array, before in zip(larger, stack, strict=True):
                    array[: before.size] = before
            self._stacks = stacks
            self._merged = self._grown(self._merged, live.count)
        for nulls, present in zip(self._nulls, values.present, strict=True):
            nulls.enter(rows, present, live)

    def discount(self, rows: Integers, values: StateValues) -> None:
        """Count the NULLs of a part no more, which leaves the window."""
        for nulls, present in zip(self._nulls, values.present, strict=True):
            nulls.leave(rows, present)

    def add(self, to: Stack, rows: Integers, arrays: Arrays) -> None:
        """Merge a part into a stack, as the newest."""
        stack = self._stacks[to]
        _put(stack, rows, self._combined(_at(stack, rows), arrays))

    def push(self, to: Stack, rows: Integers, arrays: Arrays) -> Arrays:
        """Merge a part into a stack, as the oldest, and return what was there, to be restored."""
        stack = self._stacks[to]
        before = _at(stack, rows)
        _put(stack, rows, self._combined(arrays, before))
        return before

    def restore_front(self, rows: Integers, before: Arrays) -> None:
        """Take a part out of the front, which was the last one to be pushed."""
        _put(self._stacks[Stack.FRONT], rows, before)

    def swap(self, one: Stack, other: Stack) -> None:
        """Let two stacks change places. O(1)."""
        stacks = self._stacks
        stacks[one], stacks[other] = stacks[other], stacks[one]

    def clear(self, which: Stack) -> None:
        """Forget what is in a stack. O(room)."""
        for array, fill in zip(self._stacks[which], self._kernel.identity, strict=True):
            array.fill(fill)

    def move(self, moves: Moves) -> None:
        """Move rows into gaps; these are to be merged again."""
        for nulls in self._nulls:
            nulls.move(moves)
        for stack in self._stacks:
            _put(stack, moves.targets, _at(stack, moves.sources))
            _put(stack, moves.sources, self._kernel.identity)

    def merge(self, rows: Integers) -> None:
        """Merge front, middle and back in these rows."""
        front, middle, back = (_at(stack, rows) for stack in self._stacks[: Stack.NEXT])
        merged = self._combined(self._combined(front, middle), back)
        _put(self._merged, rows, self._kernel.results(merged))

    def columns(self, live: LiveRows) -> list[pa.Array]:
        """Return the columns of the state, as merged."""
        return [
            _column(type_, values[: live.count], nulls.present(live))
            for type_, values, nulls in zip(self._types, self._merged, self._nulls, strict=True)
        ]

    def _has_large(self, values: Numbers) -> bool:
        if self._kernel.limit is None:
            return False
        magnitudes = np.abs(values)
        return bool(((magnitudes >= self._kernel.limit) & (magnitudes < np.inf)).any())

    def _combined(self, older: Arrays, newer: Arrays) -> Arrays:
        with np.errstate(invalid="ignore", over="ignore"):
            return self._kernel.combine(older, newer)

    def _side_by_side(self, length: int) -> list[Arrays]:
        """Return empty stacks whose numbers of one row are neighbours in memory: one cache miss."""
        arrays = self._filled(length * len(Stack))
        return [tuple(array[stack :: len(Stack)] for array in arrays) for stack in Stack]

    def _filled(self, length: int) -> Arrays:
        return tuple(self._full(length, value) for value in self._kernel.identity)

    def _full(self, length: int, value: float) -> Numbers:
        if self._kernel.is_integer:
            return np.full(length, value, np.int64)
        return np.full(length, value, np.float64)

    def _grown(self, arrays: Arrays, count: int) -> Arrays:
        pairs = zip(arrays, self._kernel.identity, strict=False)  # `_merged` may have fewer
        return tuple(grown(array, count, fill) for array, fill in pairs)

    def _check(self, live: LiveRows) -> None:
        """Assert what always holds."""
        for nulls in self._nulls:
            nulls._check(live)


def _at(arrays: Arrays, rows: Integers) -> Arrays:
    return tuple(array[rows] for array in arrays)


def _put(arrays: Arrays, rows: Integers, values: Sequence[Numbers | float]) -> None:
    for array, new in zip(arrays, values, strict=True):
        array[rows] = new


def _values_of(array: pa.Array) -> tuple[Numbers, Present, bool]:
    from pyarrow import types

    if not types.is_decimal128(array.type):
        values, present = numbers(array)
        return values, present, True
    low, high, present = decimal_words(array)
    return low, present, bool(np.array_equal(high, low >> _SIGN_BITS))


def _column(type_: pa.DataType, values: Numbers, present: Present) -> pa.Array:
    from pyarrow import types

    if types.is_decimal128(type_):
        low = values.astype(np.int64)
        return column(type_, np.stack([low, low >> _SIGN_BITS], axis=1), present)
    return column(type_, values.copy(), present)
