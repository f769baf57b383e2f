"""The memory of fixed-width Arrow columns as NumPy arrays, and back, without a copy.

A NULL is 0 in the array; a separate mask says which values are present.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.int64] | NDArray[np.float64]
    Present = NDArray[np.bool_] | None

_Array = TypeVar(
    "_Array",
    "NDArray[np.int64]",
    "NDArray[np.float64]",
    "NDArray[np.int64] | NDArray[np.float64]",
    "NDArray[np.bool_]",
)
_SIGN_BITS = 63
_WITHOUT_SIGN = np.iinfo(np.int64).max


def stored_as(type_: pa.DataType) -> str | None:
    """Return NumPy's name of the type that stores a value, or None if it has no fixed width.

    Times are stored as integers.
    """
    from pyarrow import types

    if types.is_integer(type_):
        return str(type_)
    if types.is_float32(type_) or types.is_float64(type_):
        return f"float{type_.bit_width}"
    if types.is_temporal(type_) and not types.is_interval(type_):
        return f"int{type_.bit_width}"
    return None


def numbers(array: pa.Array) -> tuple[Numbers, Present]:
    """Return the values of a `stored_as` column, and the mask of present values.

    They are widened to 64 bits; unsigned integers keep their bits. Without a mask, all are present.
    """
    dtype = stored_as(array.type)
    assert dtype is not None
    stored = np.frombuffer(array.buffers()[1] or b"", dtype)
    stored = stored[array.offset : array.offset + len(array)]
    values: Numbers = stored.astype("f8" if stored.dtype.kind == "f" else "i8", copy=False)
    if array.null_count == 0:
        return values, None
    present = presence(array)
    return np.where(present, values, values.dtype.type(0)), present


def has_ordered_words(type_: pa.DataType) -> bool:
    """Tell whether values of a type can become `ordered_words`."""
    return stored_as(type_) not in {None, "uint64"}


def ordered_words(array: pa.Array) -> Integers:
    """Return integers in the order of the values of a column without NULLs, as DuckDB sorts.

    NaN is the greatest of numbers, and -0.0 equals 0.0.
    """
    values, present = numbers(array)
    assert present is None
    if values.dtype == np.int64:
        return values.astype(np.int64, copy=False)
    bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)
    return np.where(bits < 0, bits ^ _WITHOUT_SIGN, bits)


def words(array: pa.Array) -> tuple[Integers, Present]:
    """Return `numbers` of a column that is stored as integers."""
    values, present = numbers(array)
    assert values.dtype == np.int64
    return values.astype(np.int64, copy=False), present


def lower_words(array: pa.Array) -> tuple[Numbers, Present, bool]:
    """Return `numbers`, also for decimals of 128 bits, and whether 64 bits hold all of them.

    For a decimal this is its lower word. It holds the value if the upper word only repeats the
    sign.
    """
    from pyarrow import types

    if not types.is_decimal128(array.type):
        return *numbers(array), True
    words, present = word_pairs(array)
    low, high = words.T
    return low, present, np.array_equal(high, low >> _SIGN_BITS)


def word_pairs(array: pa.Array) -> tuple[Integers, Present]:
    """Return the lower and the upper word of decimals of 128 bits, and the mask of present ones."""
    words: Integers = np.frombuffer(array.buffers()[1] or b"", np.int64).reshape(-1, 2)
    words = words[array.offset : array.offset + len(array)]
    if array.null_count == 0:
        return words, None
    present = presence(array)
    return np.where(present[:, np.newaxis], words, 0), present


def column(type_: pa.DataType, values: Numbers, present: Present) -> pa.Array:
    """Return a column with these values as its memory; they must not change afterwards.

    They are narrowed to the type that stores a value; for decimals they are the lower words, or
    both words of each value.
    """
    import pyarrow as pa

    if values.ndim > 1:
        memory = values
    elif pa.types.is_decimal128(type_):
        low = values.astype(np.int64, copy=False)
        memory = np.stack([low, low >> _SIGN_BITS], axis=1)
    else:
        memory = np.ascontiguousarray(values, dtype=stored_as(type_))
    validity = None
    if present is not None and not present.all():
        validity = pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(type_, len(values), [validity, pa.py_buffer(memory)])


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; it is not copied if it is in one piece."""
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)


def grown(array: _Array, size: int, fill: float = 0) -> _Array:
    """Return the array, or a larger one that begins with it. Amortized O(1) per element."""
    if size <= len(array):
        return array
    larger: _Array = np.full((max(size, 2 * len(array)), *array.shape[1:]), fill, array.dtype)
    larger[: len(array)] = array
    return larger


def presence(array: pa.Array) -> NDArray[np.bool_]:
    """Return the mask of present values of a column that has NULLs."""
    bits = np.frombuffer(array.buffers()[0], np.uint8)
    end = array.offset + len(array)
    return np.unpackbits(bits, count=end, bitorder="little")[array.offset :].view(np.bool_)
