"""Batches in all the kinds of columns that are taken, for property tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from upstream.columns import Column

ColumnOf = Callable[[list[object]], Column]


def object_array(rows: Sequence[object]) -> Column:
    column = np.empty(len(rows), dtype=object)
    column[:] = rows
    return column


def chunked(rows: list[object]) -> Column:
    middle = len(rows) // 2
    column = pa.chunked_array([rows[:middle], [], rows[middle:]], type=_arrow_type(rows))
    return cast(Column, column)


def sliced(rows: list[object]) -> Column:
    """Return an Arrow array that is a part of a longer one."""
    longer = pa.array([*rows[:2], *rows, *rows[:1]], type=_arrow_type(rows))
    return cast(Column, longer.slice(len(rows[:2]), len(rows)))


def dictionary(index_type: pa.DataType) -> ColumnOf:
    def encode(rows: list[object]) -> Column:
        keys = list(dict.fromkeys(rows))
        return _dictionary_array([keys.index(row) for row in rows], keys, index_type)

    return encode


def dictionary_with_unused_keys(rows: list[object]) -> Column:
    keys = list(dict.fromkeys(rows))
    unused = [f"unused {number}" for number in range(3)]
    codes = [2 * keys.index(row) + 1 for row in rows]
    dealt = [key for pair in zip(unused * len(keys), keys, strict=False) for key in pair]
    distinct = [f"{key} {at}" if at % 2 == 0 else key for at, key in enumerate(dealt)]
    return _dictionary_array(codes, distinct, pa.int32())


def dictionary_with_duplicates(rows: list[object]) -> Column:
    """Return codes of which several stand for one key."""
    keys = list(dict.fromkeys(rows))
    codes = [keys.index(row) + at % 2 * len(keys) for at, row in enumerate(rows)]
    return _dictionary_array(codes, keys * 2, pa.int32())


def chunks_of_different_dictionaries(rows: list[object]) -> Column:
    middle = len(rows) // 2
    chunks = [dictionary(pa.int8())(part) for part in (rows[:middle], rows[middle:])]
    return cast(Column, pa.chunked_array(chunks, type=pa.dictionary(pa.int8(), pa.string())))


def sliced_dictionary(rows: list[object]) -> Column:
    encoded = dictionary(pa.int32())(["before", *rows, "after"])
    assert isinstance(encoded, pa.DictionaryArray)
    return cast(Column, encoded.slice(1, len(rows)))


def timestamps(unit: str, zone: str | None = None) -> ColumnOf:
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]

    def convert(rows: list[object]) -> Column:
        instants = [_whole(row) * ticks for row in rows]
        return cast(Column, pa.array(instants, type=pa.timestamp(unit, zone)))

    return convert


def datetimes(unit: str) -> ColumnOf:
    def convert(rows: list[object]) -> Column:
        seconds = np.array([_whole(row) for row in rows], dtype="datetime64[s]")
        return seconds.astype(f"datetime64[{unit}]")

    return convert


STRING_KEYS: dict[str, ColumnOf] = {
    "list": list,
    "tuple": tuple,
    "NumPy strings": lambda rows: np.array(rows, dtype="U40"),
    "NumPy objects": object_array,
    "Arrow strings": lambda rows: pa.array(rows, type=pa.string()),
    "Arrow large strings": lambda rows: pa.array(rows, type=pa.large_string()),
    "chunked": chunked,
    "sliced": sliced,
    "dictionary of bytes": dictionary(pa.int8()),
    "dictionary": dictionary(pa.int32()),
    "dictionary with unused keys": dictionary_with_unused_keys,
    "dictionary with duplicates": dictionary_with_duplicates,
    "chunks of different dictionaries": chunks_of_different_dictionaries,
    "sliced dictionary": sliced_dictionary,
}

INTEGER_KEYS: dict[str, ColumnOf] = {
    "list": list,
    "range or tuple": tuple,
    "NumPy integers": lambda rows: np.array(rows, dtype=np.int64),
    "NumPy bytes": lambda rows: np.array(rows, dtype=np.uint8),
    "NumPy floats": lambda rows: np.array(rows, dtype=np.float64),
    "NumPy objects": object_array,
    "Arrow integers": lambda rows: pa.array(rows, type=pa.int32()),
    "Arrow floats": lambda rows: pa.array([_whole(row) * 1.0 for row in rows], type=pa.float64()),
    "chunked": chunked,
    "sliced": sliced,
}

VALUES: dict[str, ColumnOf] = {
    "list": list,
    "tuple": tuple,
    "NumPy integers": lambda rows: np.array(rows, dtype=np.int64),
    "NumPy objects": object_array,
    "Arrow integers": lambda rows: pa.array(rows, type=pa.int64()),
    "Arrow strings of numbers": lambda rows: pa.array(rows, type=pa.int16()).dictionary_encode(),
    "chunked": chunked,
    "sliced": sliced,
}

BYTES_VALUES: dict[str, ColumnOf] = {
    "list": list,
    "NumPy objects": object_array,
    "Arrow binary": lambda rows: pa.array(rows, type=pa.binary()),
}

TIMES: dict[str, ColumnOf] = {
    "list of integers": list,
    "list of floats": lambda rows: [_whole(row) * 1.0 for row in rows],
    "tuple": tuple,
    "NumPy floats": lambda rows: np.array(rows, dtype=np.float64),
    "NumPy integers": lambda rows: np.array(rows, dtype=np.int32),
    "NumPy objects": object_array,
    "NumPy seconds": datetimes("s"),
    "NumPy milliseconds": datetimes("ms"),
    "NumPy nanoseconds": datetimes("ns"),
    "NumPy picoseconds": datetimes("ps"),
    "Arrow floats": lambda rows: pa.array(rows, type=pa.float64()),
    "Arrow integers": lambda rows: pa.array(rows, type=pa.int16()),
    "Arrow seconds": timestamps("s"),
    "Arrow milliseconds": timestamps("ms", "UTC"),
    "Arrow microseconds": timestamps("us"),
    "Arrow nanoseconds": timestamps("ns", "Europe/Paris"),
}


def _whole(row: object) -> int:
    assert isinstance(row, int)
    return row


def _arrow_type(rows: list[object]) -> pa.DataType:
    return pa.string() if any(isinstance(row, str) for row in rows) else pa.int64()


def _dictionary_array(codes: list[int], keys: list[object], index_type: pa.DataType) -> Column:
    column = pa.DictionaryArray.from_arrays(
        pa.array(codes, type=index_type), pa.array(keys, type=pa.string())
    )
    return cast(Column, column)
