"""The columns of a batch: Python sequences, NumPy arrays, or Arrow arrays.

A batch is read and checked before any of it is applied. Columns of arrays stay arrays. Their keys
become small integers (Arrow's dictionary encoding is used if there is one), and only the values
that survive conflation become Python objects.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sized
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
Integers = NDArray[np.int64]
Codes = NDArray[
    np.int8 | np.int16 | np.int32 | np.int64 | np.uint8 | np.uint16 | np.uint32 | np.uint64
]

BLOCK_ROWS = 1 << 14
"""How many rows of a long column are processed at a time (see `conflation`)."""

TICKS_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
"""Arrow's units of timestamps. NumPy has more."""

_NULL_KEY = "a key is null; fill or drop the nulls first"


class CodedKeys:
    """A column of keys as integer codes into a list of distinct keys."""

    __slots__ = ("codes", "keys")

    def __init__(self, codes: Codes, keys: list[Key]) -> None:
        self.codes = codes
        self.keys = keys

    def __len__(self) -> int:
        return len(self.codes)


class FiniteTimes(list[float]):
    """Times that are known to be finite floats, so that no batch checks them again.

    >>> FiniteTimes([1.0, 2.0])
    [1.0, 2.0]
    """

    __slots__ = ()


def blocks(rows: int, block_rows: int = BLOCK_ROWS) -> Iterator[slice[int, int, None]]:
    """Cut `rows` rows into blocks."""
    for start in range(0, rows, block_rows):
        yield slice(start, min(start + block_rows, rows))


def is_columnar(column: Column) -> bool:
    """Tell whether `column` is a NumPy or Arrow array."""
    return isinstance(column, np.ndarray) or is_arrow(column)


def is_arrow(column: object) -> TypeGuard[pa.Array]:
    """Tell whether `column` is an object of pyarrow, without importing pyarrow."""
    return type(column).__module__.partition(".")[0] == "pyarrow"


def length_of(name: str, column: Column) -> int:
    """Return the number of rows; ColumnTypeError if `column` is not a column."""
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise ColumnTypeError(name, f"expected one dimension, not {column.ndim}")
        if isinstance(column, np.ma.MaskedArray):
            raise ColumnTypeError(
                name, "masked arrays are not accepted; fill or drop the masked rows"
            )
    elif is_arrow(column):
        _check_arrow(name, column)
    elif isinstance(column, _NO_COLUMNS) or not (
        isinstance(column, Sized) and isinstance(column, Iterable)
    ):
        kind = type(column).__name__
        raise ColumnTypeError(name, f"expected a sequence or an array, not {kind}")
    return len(column)


_NO_COLUMNS = (str, bytes, bytearray, Mapping, set, frozenset)
"""Types that have a length and elements, but are not columns or have no order."""


def read_keys(column: Column) -> CodedKeys | list[Key]:
    """Return a column of keys as codes if that is fast, else as a list."""
    length_of("keys", column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuSU":
        keys, codes = np.unique(column, return_inverse=True)
        return CodedKeys(codes, keys.tolist())
    if is_arrow(column):
        return _arrow_keys(column)
    return as_list("keys", column)


def read_times(column: Column) -> Floats:
    """Return a column of times as float seconds; TimeNotFiniteError names the first bad row."""
    length_of("times", column)
    if is_arrow(column):
        times = _arrow_times(column)
    elif isinstance(column, np.ndarray):
        times = _numpy_times(column)
    else:
        times = np.array(float_times(as_list("times", column)), dtype=np.float64)
    is_finite = np.isfinite(times)
    if not is_finite.all():
        row = int(np.argmin(is_finite))
        raise TimeNotFiniteError(float(times[row]), row)
    return times


def float_times(times: list[object]) -> list[float]:
    """Return times as floats; the first that is not a finite number raises TimeNotFiniteError."""
    if type(times) is FiniteTimes:
        return times
    times = as_list("times", times)
    if set(map(type, times)) == {float}:
        floats = cast(list[float], times)
        # If the sum is finite, all terms are. The reverse does not hold for huge times.
        if math.isfinite(sum(floats)):
            return floats
    return [float_time(time, row) for row, time in enumerate(times)]


def float_time(time: object, row: int | None = None) -> float:
    """Return a time as a float; TimeNotFiniteError if it is not a finite number."""
    if not is_finite_time(time):
        raise TimeNotFiniteError(time, row)
    return float(time)


def is_finite_time(time: object) -> TypeGuard[float]:
    """Tell whether `time` is a finite number that a float can hold."""
    try:
        return isinstance(time, (float, int, np.integer, np.floating)) and math.isfinite(time)
    except (OverflowError, TypeError):
        return False


def check_key(key: object, row: int | None = None) -> None:
    """Raise KeyNotHashableError unless `key` is hashable and equals itself."""
    try:
        hash(key)
        if operator.eq(key, key):
            return
    except TypeError:
        pass
    raise KeyNotHashableError(key, row)


def check_lengths(*, keys: int, values: int, times: int) -> None:
    """Raise ColumnLengthError unless all lengths are equal."""
    if not keys == values == times:
        raise ColumnLengthError(keys=keys, values=values, times=times)


def checked_rows(keys: Column, values: Column, times: Column | None) -> int:
    """Return the length of the columns of a batch; ColumnLengthError if they differ in length."""
    rows = length_of("keys", keys)
    check_lengths(
        keys=rows,
        values=length_of("values", values),
        times=rows if times is None else length_of("times", times),
    )
    return rows


def as_list(name: str, column: Column) -> list[object]:
    """Return a column as a list of Python objects, of exact type `list` (or `FiniteTimes`)."""
    if type(column) is list or type(column) is FiniteTimes:
        return cast(list[object], column)
    length_of(name, column)
    if isinstance(column, np.ndarray):
        return cast(list[object], column.tolist())
    if is_arrow(column):
        rows = _arrow_list(name, column)
        if name == "keys" and None in rows:
            raise ColumnTypeError("keys", _NULL_KEY)
        return rows
    return list(column)


def pick(name: str, column: Column, rows: Integers) -> list[object]:
    """Return the values of `rows` as Python objects."""
    if isinstance(column, np.ndarray):
        return cast(list[object], column[rows].tolist())
    if is_arrow(column):
        import pyarrow as pa

        array = _one_array(column)
        if array.null_count == 0 and (
            pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
        ):
            return cast(list[object], array.to_numpy(zero_copy_only=False)[rows].tolist())
        try:
            array = array.take(pa.array(rows))
        except pa.ArrowNotImplementedError:  # for example for some types of strings
            column = _arrow_list(name, array)
        else:
            return _arrow_list(name, array)
    values = column if isinstance(column, (list, tuple)) else as_list(name, column)
    return [values[row] for row in rows.tolist()]


def _arrow_keys(column: pa.Array) -> CodedKeys | list[Key]:
    import pyarrow as pa

    array = _one_array(column)
    if not pa.types.is_dictionary(array.type):
        return _encode(array)
    if array.null_count:
        raise ColumnTypeError("keys", _NULL_KEY)
    codes = array.indices.to_numpy(zero_copy_only=False)
    dictionary = array.dictionary
    if len(dictionary) > len(codes):
        used, codes = np.unique(codes, return_inverse=True)
        dictionary = dictionary.take(pa.array(used))
    if dictionary.null_count or not _is_codable(dictionary.type):
        return _encode(array.dictionary_decode())
    keys = _arrow_list("keys", dictionary)
    if len(set(keys)) < len(keys):
        return _encode(array.dictionary_decode())
    return CodedKeys(codes, keys)


def _encode(array: pa.Array) -> CodedKeys | list[Key]:
    """Return keys as codes, or as a list if Arrow and Python differ about equal keys."""
    import pyarrow as pa

    if array.null_count:
        raise ColumnTypeError("keys", _NULL_KEY)
    if not _is_codable(array.type):
        return as_list("keys", array)
    try:
        encoded = array.dictionary_encode()
    except pa.ArrowNotImplementedError:
        return as_list("keys", array)
    keys = _arrow_list("keys", encoded.dictionary)
    if len(set(keys)) < len(keys):  # Python has one key for the hour that a clock repeats
        return as_list("keys", array)
    return CodedKeys(encoded.indices.to_numpy(zero_copy_only=False), keys)


def _is_codable(kind: pa.DataType) -> bool:
    """Tell whether keys of this type are hashable and equal in Arrow if they are in Python.

    Arrow has one key for all NaN and two for zero, and it cannot encode nested keys.
    """
    import pyarrow as pa

    return not (
        pa.types.is_floating(kind)
        or pa.types.is_nested(kind)
        or pa.types.is_run_end_encoded(kind)
        or pa.types.is_null(kind)
    )


def _arrow_times(column: pa.Array) -> Floats:
    import pyarrow as pa

    array = _one_array(column)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count:
        raise ColumnTypeError("times", "a time is null; fill or drop the nulls first")
    if pa.types.is_timestamp(array.type):
        ticks = array.view(pa.int64()).to_numpy(zero_copy_only=False)
        return _seconds(ticks, TICKS_PER_SECOND[array.type.unit])
    if pa.types.is_date(array.type):
        raise ColumnTypeError("times", f"{array.type} has no time of day; cast it to a timestamp")
    return _numpy_times(array.to_numpy(zero_copy_only=False))


def _numpy_times(column: Column) -> Floats:
    assert isinstance(column, np.ndarray)
    kind = column.dtype.kind
    if kind == "M":
        is_missing = np.isnat(column)
        if is_missing.any():
            raise TimeNotFiniteError("NaT", int(np.argmax(is_missing)))
        unit = np.datetime_data(column.dtype)[0]
        unit = unit if unit in TICKS_PER_SECOND else _nearest_unit(unit)
        ticks = column.astype(f"datetime64[{unit}]").view(np.int64)
        return _seconds(ticks, TICKS_PER_SECOND[unit])
    if kind == "O":
        return np.array(float_times(column.tolist()), dtype=np.float64)
    if kind not in "iuf":
        raise ColumnTypeError("times", f"expected numbers or timestamps, not {column.dtype}")
    return column.astype(np.float64, copy=False)


def _nearest_unit(unit: str) -> str:
    """Return the unit to convert another NumPy unit to, so that nothing overflows."""
    return "ns" if unit in ("ps", "fs", "as") else "s"


def _seconds(ticks: Integers, ticks_per_second: int) -> Floats:
    """Return ticks as seconds: monotonically, and with the same result for every unit.

    Present times in nanoseconds have more digits than a float, so whole seconds are split off
    first.
    """
    if ticks_per_second == 1:
        return ticks.astype(np.float64)
    times = np.empty(len(ticks))
    for block in blocks(len(ticks)):
        magnitude = np.abs(ticks[block])
        whole = magnitude // ticks_per_second
        rest = magnitude - whole * ticks_per_second
        times[block] = np.copysign(whole + rest / ticks_per_second, ticks[block])
    return times


def _check_arrow(name: str, column: object) -> None:
    import pyarrow as pa

    if not isinstance(column, (pa.Array, pa.ChunkedArray)):
        kind = type(column).__name__
        raise ColumnTypeError(name, f"expected an Array or a ChunkedArray, not a pyarrow {kind}")


def _one_array(column: pa.Array) -> pa.Array:
    """Return a pyarrow column in one piece."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    try:
        return column.combine_chunks()
    except pa.ArrowInvalid:  # dictionaries that Arrow cannot unify
        if not pa.types.is_dictionary(column.type):
            raise
        return column.cast(column.type.value_type).combine_chunks()


def _arrow_list(name: str, column: pa.Array) -> list[object]:
    try:
        return cast(list[object], column.to_pylist())
    except (OverflowError, TypeError, ValueError) as error:  # for example dates after 9999
        raise ColumnTypeError(name, str(error)) from error
