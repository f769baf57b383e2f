"""One state without an inverse, by rows: what is in front, what is at the back, and their merge.

`TwoStacks` says what goes where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...rows.arrow_words import column, decimal_words, grown, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ...rows.arrow_words import Integers, Numbers, Present
    from .kernels import Kernel
    from .live_rows import Moves

    Masks = tuple[NDArray[np.bool_], ...]

_FIRST: Final = 64
_SIGN_BITS: Final = 63


class StateValues(NamedTuple):
    """Arrays of a state, and for each of its columns what is there.

    `is_exact` says that no value was too large for 64 bits.
    """

    arrays: tuple[Numbers, ...]
    present: Masks
    is_exact: bool = True


class StackedState:
    """A state in front, at the back, and merged."""

    __slots__ = ("_back", "_front", "_kernel", "_merged", "_types")

    def __init__(self, kernel: Kernel, types: Sequence[pa.DataType]) -> None:
        self._kernel = kernel
        self._types = types
        self._front = self._filled(_FIRST)
        self._back = self._filled(_FIRST)
        self._merged = self._filled(_FIRST)

    def read(self, columns: Sequence[pa.Array]) -> StateValues:
        """Return what is kept of a part."""
        length = len(columns[0])
        arrays = list(self._filled(length).arrays)
        masks = []
        is_exact = True
        for index, array in enumerate(columns):
            values, present, fits = _values_of(array)
            is_exact &= fits
            if present is None:
                present = np.ones(length, np.bool_)
            np.copyto(arrays[index], values, where=present, casting="unsafe")
            masks.append(present)
        return StateValues(tuple(arrays), tuple(masks), is_exact)

    def reserve(self, count: int) -> None:
        """Have room for so many rows."""
        if count > len(self._front.arrays[0]):
            self._front = self._grown(self._front, count)
            self._back = self._grown(self._back, count)
            self._merged = self._grown(self._merged, count)

    def push_back(self, rows: Integers, values: StateValues) -> None:
        """Merge a part into the back."""
        _put(self._back, rows, self._combined(_at(self._back, rows), values))

    def push_front(self, rows: Integers, values: StateValues) -> StateValues:
        """Merge a part into the front, and return what was there, to be restored."""
        before = _at(self._front, rows)
        _put(self._front, rows, self._combined(values, before))
        return before

    def restore_front(self, rows: Integers, before: StateValues) -> None:
        """Take a part out of the front, which was the last one to be pushed."""
        _put(self._front, rows, before)

    def move(self, moves: Moves) -> None:
        """Move rows into gaps."""
        for state in (self._front, self._back, self._merged):
            _put(state, moves.targets, _at(state, moves.sources))
            self._clear(state, moves.sources)

    def clear(self) -> None:
        """Forget everything. O(room)."""
        for state in (self._front, self._back, self._merged):
            pairs = zip(state.arrays, self._kernel.identity, strict=True)
            for array, fill in pairs:
                array.fill(fill)
            for mask in state.present:
                mask.fill(False)

    def merge(self, rows: Integers) -> None:
        """Merge front and back in these rows."""
        merged = self._combined(_at(self._front, rows), _at(self._back, rows))
        _put(self._merged, rows, merged)

    def columns(self, count: int) -> list[pa.Array]:
        """Return the columns of the state for the first `count` rows, as merged."""
        arrays = tuple(array[:count] for array in self._merged.arrays)
        results = self._kernel.results(arrays)
        return [
            _column(type_, values, present[:count])
            for type_, values, present in zip(
                self._types, results, self._merged.present, strict=True
            )
        ]

    def _combined(self, older: StateValues, newer: StateValues) -> StateValues:
        with np.errstate(invalid="ignore", over="ignore"):
            arrays = self._kernel.combine(older.arrays, newer.arrays)
        masks = zip(older.present, newer.present, strict=True)
        return StateValues(arrays, tuple(left | right for left, right in masks))

    def _filled(self, length: int) -> StateValues:
        arrays = tuple(self._full(length, value) for value in self._kernel.identity)
        return StateValues(arrays, tuple(np.zeros(length, np.bool_) for _ in self._types))

    def _full(self, length: int, value: float) -> Numbers:
        if self._kernel.is_integer:
            return np.full(length, value, np.int64)
        return np.full(length, value, np.float64)

    def _grown(self, state: StateValues, count: int) -> StateValues:
        pairs = zip(state.arrays, self._kernel.identity, strict=True)
        arrays = tuple(grown(array, count, fill) for array, fill in pairs)
        return StateValues(arrays, tuple(grown(mask, count) for mask in state.present))

    def _clear(self, state: StateValues, rows: Integers) -> None:
        for array, fill in zip(state.arrays, self._kernel.identity, strict=True):
            array[rows] = fill
        for mask in state.present:
            mask[rows] = False


def _at(state: StateValues, rows: Integers) -> StateValues:
    arrays = tuple(array[rows] for array in state.arrays)
    return StateValues(arrays, tuple(mask[rows] for mask in state.present))


def _put(state: StateValues, rows: Integers, values: StateValues) -> None:
    for array, new in zip(state.arrays, values.arrays, strict=True):
        array[rows] = new
    for mask, new_mask in zip(state.present, values.present, strict=True):
        mask[rows] = new_mask


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
