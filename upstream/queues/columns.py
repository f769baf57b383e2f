"""The columns of a batch: Python sequences, NumPy arrays, or Arrow arrays.

A batch is read, and found good or bad, before any of it is applied. Columns of arrays stay arrays:
their keys become small integers (Arrow's dictionary encoding is taken as it comes), and only the
values that survive conflation become Python objects.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence, Sized
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import (
    ColumnLengthError,
    ColumnTypeError,
    KeyNotHashableError,
    TimeNotFiniteError,
)
from ..updates import Key

if TYPE_CHECKING:
    import pyarrow as pa

Column = Iterable[object]
"""A sequence, a one-dimensional NumPy array, or a pyarrow Array or ChunkedArray."""
Floats = NDArray[np.float64]
AnyArray = NDArray[np.generic]
Integers = NDArray[np.int64]


class CodedKeys:
    """A column of keys as integer codes into a list of distinct keys."""

    __slots__ = ("codes", "keys")

    def __init__(self, codes: Integers, keys: list[Key]) -> None:
        self.codes = codes
        self.keys = keys

    def __len__(self) -> int:
        return len(self.codes)

    def without_unused(self) -> CodedKeys:
        """Return the same with no keys that no row has, where these may be many."""
        if len(self.keys) <= len(self.codes):
            return self
        used, codes = np.unique(self.codes, return_inverse=True)
        return CodedKeys(codes, [self.keys[code] for code in used.tolist()])


def is_columnar(column: Column) -> bool:
    """Tell whether `column` is a NumPy or Arrow array."""
    return isinstance(column, np.ndarray) or is_arrow(column)


def is_arrow(column: object) -> TypeGuard[pa.Array]:
    """Tell whether `column` is of pyarrow, without importing it."""
    return type(column).__module__.partition(".")[0] == "pyarrow"


def read_keys(column: Column) -> CodedKeys | list[Key]:
    """Return a column of keys as codes where that is quick, else as a list."""
    if isinstance(column, np.ndarray):
        return _numpy_keys(column)
    if is_arrow(column):
        return _arrow_keys(column)
    return as_list("keys", column)


def read_times(column: Column) -> Floats:
    """Return a column of times as float seconds; TimeNotFiniteError names the first bad row."""
    if is_arrow(column):
        times = _arrow_times(column)
    elif isinstance(column, np.ndarray):
        times = _numpy_times(column)
    else:
        rows = as_list("times", column)
        check_times(rows)
        times = np.array(rows, dtype=np.float64)
    if not np.isfinite(times).all():
        row = int(np.argmin(np.isfinite(times)))
        raise TimeNotFiniteError(float(times[row]), row)
    return times


def check_times(times: Sequence[object]) -> None:
    """Raise TimeNotFiniteError at the first row that is not a finite number."""
    try:
        # A sum is finite only if all its terms are; the reverse fails for huge times only.
        if math.isfinite(sum(cast(Sequence[float], times))):
            return
    except (TypeError, OverflowError, ValueError):
        pass
    for row, time in enumerate(times):
        if not is_finite_time(time):
            raise TimeNotFiniteError(time, row)


def is_finite_time(time: object) -> TypeGuard[float]:
    """Tell whether `time` is a finite number that a float can hold."""
    try:
        return isinstance(time, (float, int, np.number)) and math.isfinite(time)
    except (OverflowError, TypeError):
        return False


def check_key(key: object, row: int | None = None) -> None:
    """Raise KeyNotHashableError unless `key` can be looked up again."""
    try:
        if isinstance(key, Hashable) and hash(key) is not None and key == key:
            return
    except TypeError:
        pass
    raise KeyNotHashableError(key, row)


def check_lengths(*, keys: int, values: int, times: int) -> None:
    """Raise ColumnLengthError unless all are equal."""
    if not keys == values == times:
        raise ColumnLengthError(keys=keys, values=values, times=times)


def as_list(name: str, column: Column) -> list[object]:
    """Return a column as a list of Python objects."""
    if isinstance(column, list):
        return column
    if isinstance(column, (str, bytes, dict)) or not isinstance(column, Iterable):
        raise ColumnTypeError(name, f"expected a sequence or an array, not {_type_name(column)}")
    if isinstance(column, np.ndarray):
        _check_dimensions(name, column)
        return cast(list[object], column.tolist())
    if is_arrow(column):
        return cast(list[object], _one_array(column).to_pylist())
    return list(column)


def pick(name: str, column: Column, rows: Integers) -> list[object]:
    """Return the values of `rows` as Python objects."""
    if isinstance(column, np.ndarray):
        return cast(list[object], column[rows].tolist())
    if is_arrow(column):
        array = _one_array(column)
        if array.null_count == 0 and _is_plain_number(array):
            return cast(list[object], array.to_numpy(zero_copy_only=False)[rows].tolist())
        return cast(list[object], array.take(_arrow_rows(rows)).to_pylist())
    values = column if isinstance(column, (list, tuple)) else as_list(name, column)
    return [values[row] for row in rows.tolist()]


def length_of(name: str, column: Column) -> int:
    """Return how many rows a column has."""
    if isinstance(column, np.ndarray):
        _check_dimensions(name, column)
    if isinstance(column, (str, bytes, dict)) or not isinstance(column, Sized):
        raise ColumnTypeError(name, f"expected a sequence or an array, not {_type_name(column)}")
    return len(column)


def _numpy_keys(column: AnyArray) -> CodedKeys | list[Key]:
    _check_dimensions("keys", column)
    if column.dtype.kind not in "iuSU":
        return cast(list[Key], column.tolist())
    keys, codes = np.unique(column, return_inverse=True)
    return CodedKeys(codes, keys.tolist())


def _arrow_keys(column: pa.Array) -> CodedKeys | list[Key]:
    array = _one_array(column)
    if not hasattr(array, "dictionary"):
        if not hasattr(array, "dictionary_encode"):
            raise ColumnTypeError("keys", f"{array.type} cannot be an update key")
        array = array.dictionary_encode()
    if array.null_count:
        raise ColumnTypeError("keys", "a key is null; fill or drop the nulls first")
    keys = array.dictionary.to_pylist()
    try:
        is_distinct = len(set(keys)) == len(keys) and None not in keys
    except TypeError:
        raise ColumnTypeError("keys", f"{array.type} cannot be an update key") from None
    if not is_distinct:
        rows = array.to_pylist()
        if None in rows:
            raise ColumnTypeError("keys", "a key is null; fill or drop the nulls first")
        return cast(list[Key], rows)
    codes = array.indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return CodedKeys(codes, keys)


def _arrow_times(column: pa.Array) -> Floats:
    array = _one_array(column)
    if array.null_count:
        raise ColumnTypeError("times", "a time is null; fill or drop the nulls first")
    kind = str(array.type)
    if kind.startswith("timestamp"):
        ticks = array.view("int64").to_numpy(zero_copy_only=False)
        return np.asarray(ticks / _TICKS_PER_SECOND[kind[10:].partition(",")[0].rstrip("]")])
    if kind in ("date32[day]", "date64[ms]"):
        raise ColumnTypeError("times", f"{kind} has no time of day; cast it to a timestamp")
    return _numpy_times(array.to_numpy(zero_copy_only=False))


_TICKS_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def _numpy_times(column: AnyArray) -> Floats:
    _check_dimensions("times", column)
    if column.dtype.kind == "M":
        if np.isnat(column).any():
            raise TimeNotFiniteError("NaT", int(np.argmax(np.isnat(column))))
        return np.asarray(column.astype("datetime64[ns]").astype(np.int64) / 1_000_000_000)
    if column.dtype.kind == "O":
        check_times(column.tolist())
    elif column.dtype.kind not in "iuf":
        raise ColumnTypeError("times", f"expected numbers or timestamps, not {column.dtype}")
    return column.astype(np.float64, copy=False)


def _one_array(column: pa.Array) -> pa.Array:
    """Return a pyarrow column in one piece."""
    if hasattr(column, "combine_chunks"):
        if hasattr(column, "unify_dictionaries"):
            column = column.unify_dictionaries()
        column = column.combine_chunks()
        if hasattr(column, "num_chunks"):  # some versions keep an empty one chunked
            column = column.chunk(0)
    if not hasattr(column, "to_pylist"):
        raise ColumnTypeError("keys, values, times", f"{_type_name(column)} is not an array")
    return column


def _is_plain_number(array: pa.Array) -> bool:
    kind = str(array.type)
    return kind.startswith(("int", "uint", "float", "double"))


def _arrow_rows(rows: Integers) -> pa.Array:
    import pyarrow as pa

    return pa.array(rows)


def _check_dimensions(name: str, column: AnyArray) -> None:
    if column.ndim != 1:
        raise ColumnTypeError(name, f"expected one dimension, not {column.ndim}")


def _type_name(column: object) -> str:
    return type(column).__name__
