"""Numbers for groups of rows: the same values in some columns, the same number, for ever.

The hashing is Arrow's, for each batch; only what is distinct in it is looked up, integers (and
times) all at once and other values one by one. So a batch costs what it is long, however many
groups are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..rows.integer_codes import IntegerCodes

if TYPE_CHECKING:
    import pyarrow as pa

Integers = NDArray[np.int64]

_MANY = 1 / 8
"""If so large a share of values differ, to find them first costs more than it saves."""

_NAN = object()
"""Not equal to itself, NaN is one group all the same, as it is in SQL."""


class GroupNumbers:
    """Counts groups in the order in which they come."""

    __slots__ = ("_are_many", "_integers", "_numbers")

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._are_many = False
        """Whether more than a few of the values of the last batch were different."""
        self._integers = IntegerCodes()
        """Used instead, as long as all groups are single integers."""

    def __len__(self) -> int:
        return len(self._numbers) or len(self._integers)

    def of(self, columns: Sequence[pa.ChunkedArray]) -> tuple[Integers, Integers]:
        """Return a code of each row, and the number of each code's group; one code is one group."""
        assert columns
        if len(columns) == 1:
            if self._are_many and not self._numbers and _is_of_integers(columns[0]):
                return self._of_integers(columns[0].to_numpy().astype(np.int64))
            codes, dictionary = _dictionary(columns[0])
            self._are_many = len(dictionary) > len(codes) * _MANY
            if not self._numbers and _is_of_integers(dictionary):
                return codes, self._integers.codes_of(dictionary.to_numpy().astype(np.int64))
            keys: list[object] = _values(dictionary)
        else:
            codes, keys = _encoded_together(columns)
        self._leave_integers()
        groups = list(map(self._numbers.get, keys))
        if None in groups:
            groups = [self._numbers.setdefault(key, len(self._numbers)) for key in keys]
        return codes, np.array(groups, dtype=np.int64)

    def _of_integers(self, values: Integers) -> tuple[Integers, Integers]:
        """Number integers of which most are different, without a dictionary of them before."""
        numbers = self._integers.codes_of(values)
        is_there = np.zeros(len(self._integers), dtype=np.bool_)
        is_there[numbers] = True
        groups = np.flatnonzero(is_there)
        self._are_many = len(groups) > len(numbers) * _MANY
        places = np.cumsum(is_there) - 1
        return places[numbers], groups

    def _leave_integers(self) -> None:
        """Look groups up one by one from now on: the column has a NULL."""
        if len(self._integers):
            keys = self._integers.keys().tolist()
            self._numbers = {key: number for number, key in enumerate(keys)}
            self._integers = IntegerCodes()


def _is_of_integers(values: pa.Array | pa.ChunkedArray) -> bool:
    import pyarrow as pa

    is_integer = pa.types.is_integer(values.type) and values.type != pa.uint64()
    return bool(is_integer) and not values.null_count


def _encoded(column: pa.ChunkedArray) -> tuple[Integers, list[object]]:
    """Return codes of the values of a column, and the values."""
    codes, dictionary = _dictionary(column)
    return codes, _values(dictionary)


def _values(dictionary: pa.Array) -> list[object]:
    """Return values that are equal to themselves, NaN as well."""
    import pyarrow as pa

    values: list[object] = dictionary.to_pylist()
    if pa.types.is_floating(dictionary.type):
        return [_NAN if value != value else value for value in values]  # noqa: PLR0124 - NaN
    return values


def _dictionary(column: pa.ChunkedArray) -> tuple[Integers, pa.Array]:
    """Return codes of the values of a column, and the different values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if types.is_interval(column.type):  # which Arrow does not hash
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        column = pa.chunked_array([pa.array(texts, pa.string())])
    if types.is_temporal(column.type) and not types.is_date32(column.type):
        column = column.cast(pa.int64() if column.type.bit_width == 64 else pa.int32())
    if types.is_floating(column.type):
        # Zero has two signs and NaN many patterns, and in SQL each is one group.
        column = pc.add(column, pa.scalar(0, column.type))
        column = pc.if_else(pc.is_nan(column), pa.scalar(math.nan, column.type), column)
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else pa.concat_arrays(array.chunks)
    encoded = array.dictionary_encode(null_encoding="encode")
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return codes.astype(np.int64, copy=False), encoded.dictionary


def _encoded_together(columns: Sequence[pa.ChunkedArray]) -> tuple[Integers, list[object]]:
    """Return codes of the combinations of values that there are, and these."""
    codes, values = _encoded(columns[0])
    keys: list[tuple[object, ...]] = [(value,) for value in values]
    for column in columns[1:]:
        more_codes, more_values = _encoded(column)
        width = max(len(more_values), 1)
        pairs, codes = np.unique(codes * width + more_codes, return_inverse=True)
        keys = [
            (*keys[first], more_values[second])
            for first, second in zip(
                (pairs // width).tolist(), (pairs % width).tolist(), strict=True
            )
        ]
    return codes.astype(np.int64, copy=False), list(keys)
