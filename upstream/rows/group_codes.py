"""Consecutive numbers, from 0 on, for the groups that the values of some columns form.

Values of fixed width and texts become 64-bit words, which a hash table in NumPy arrays numbers.
Other values go through a dict. Several columns are numbered one after another, and then the pairs
of their numbers. All of this is exact: two groups never share a code. NULL is a value of its own,
NaN equals itself, and -0.0 equals 0.0, as in GROUP BY.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import types

from .arrow_words import numbers, presence, stored_as
from .word_codes import IntegerCodes, TextWords

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from .arrow_words import Integers

    ColumnCodes: TypeAlias = "WordCodes | DictionaryCodes | ObjectCodes"
    """Consecutive numbers for the values of a column; NULL is 0."""
    Places: TypeAlias = slice[int, int, None] | pa.BooleanArray

_NULL: Final = 0
"""The number of NULL in each column."""
_PAIR_BITS: Final = 32
_AT_ONCE: Final = 32_768
"""This many rows are coded together. A batch of a million would not fit into the processor's
cache, and would make the tables as large as if all its rows were different groups."""


class GroupCodes:
    """The groups seen so far, and their codes.

    With a single column, code 0 is that of NULL, even if there is no NULL. An exception leaves all
    codes unchanged, as in `IntegerCodes`.
    """

    __slots__ = ("_columns", "_pairs")

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._columns = [_column_codes(type_) for type_ in types]
        self._pairs = [IntegerCodes() for _ in types[1:]]

    def __len__(self) -> int:
        """Return how many codes exist; without columns there is one group."""
        if self._pairs:
            return len(self._pairs[-1])
        return len(self._columns[0]) if self._columns else 1

    def codes_of(self, columns: Sequence[pa.Array], length: int) -> Integers:
        """Return the code of each row; a new group gets the next code. O(length), amortized."""
        if not columns:
            return np.broadcast_to(np.zeros(1, np.int64), length)  # without a copy for each row
        if length <= _AT_ONCE:
            return self._codes_of(columns)
        starts = range(0, length, _AT_ONCE)
        parts = [[column.slice(start, _AT_ONCE) for column in columns] for start in starts]
        return np.concatenate([self._codes_of(part) for part in parts])

    def _codes_of(self, columns: Sequence[pa.Array]) -> Integers:
        places = self._columns[0].codes_of(columns[0])
        for codes, pairs, column in zip(self._columns[1:], self._pairs, columns[1:], strict=True):
            places = pairs.codes_of((places << _PAIR_BITS) | codes.codes_of(column))
        return places

    def _check(self) -> None:
        """Assert every invariant."""
        for codes in self._pairs:
            codes._check()


class GroupPlaces:
    """The groups seen so far and their places, from 0 on, with their values as Arrow arrays."""

    __slots__ = ("_codes", "_count", "_pieces")

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._codes = GroupCodes(types)
        self._count = 1 if len(types) <= 1 else 0
        """With a single column, place 0 is that of NULL; without columns there is one group."""
        self._pieces = [[pa.nulls(self._count, type_)] for type_ in types]
        """For each column, its values by places, in pieces that are combined when they are read."""

    def __len__(self) -> int:
        return self._count

    def places_of(self, columns: Sequence[pa.Array], length: int) -> Integers:
        """Return the place of each group; a new group gets the next place. O(length), amortized."""
        places = self._codes.codes_of(columns, length)
        if len(self._codes) != self._count:
            self._keep_new(columns, places)
        return places

    def values(self, places: Places) -> list[pa.Array]:
        """Return the values of the group columns at these ascending places. O(all places)."""
        for pieces in self._pieces:
            if len(pieces) > 1:
                pieces[:] = [pa.concat_arrays(pieces)]
        if isinstance(places, slice):
            return [values[places] for [values] in self._pieces]
        return [values[: len(places)].filter(places) for [values] in self._pieces]

    def _keep_new(self, columns: Sequence[pa.Array], places: Integers) -> None:
        """Keep the values of new groups, in the order of their places."""
        new = np.flatnonzero(places >= self._count)
        _, first = np.unique(places[new], return_index=True)
        rows = pa.array(new[first])
        for pieces, column in zip(self._pieces, columns, strict=True):
            pieces.append(column.take(rows))
        self._count += len(rows)
        assert self._count == len(self._codes)

    def _check(self) -> None:
        """Assert every invariant."""
        assert all(sum(map(len, pieces)) == self._count for pieces in self._pieces)
        self._codes._check()


def has_places(type_: pa.DataType) -> bool:
    """Tell whether values of a type can have places."""
    is_other = types.is_boolean(type_) or types.is_decimal128(type_)
    return stored_as(type_) is not None or _is_text(type_) or is_other


def _is_text(type_: pa.DataType) -> bool:
    """Tell whether values are texts or bytes that Arrow stores with offsets."""
    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(test(type_) for test in tests)


def _column_codes(type_: pa.DataType) -> ColumnCodes:
    if types.is_dictionary(type_):
        return DictionaryCodes(_column_codes(type_.value_type))
    if stored_as(type_) is not None:
        return WordCodes(_words_of_numbers)
    if _is_text(type_):
        return WordCodes(TextWords().words_of)
    if types.is_boolean(type_):
        return WordCodes(lambda array: _words_of_numbers(array.cast("int8")))
    if types.is_decimal(type_) or types.is_fixed_size_binary(type_):
        return DictionaryCodes(ObjectCodes())
    return ObjectCodes()  # such as intervals, which Arrow cannot hash


def _words_of_numbers(array: pa.Array) -> Integers:
    values, _ = numbers(array)
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, and one zero
    return np.ascontiguousarray(values).view(np.int64)


class WordCodes:
    """Numbers for values that are 64-bit words, or can be converted to such."""

    __slots__ = ("_codes", "_words_of")

    def __init__(self, words_of: Callable[[pa.Array], Integers]) -> None:
        self._codes = IntegerCodes()
        self._words_of = words_of

    def __len__(self) -> int:
        return len(self._codes) + 1

    def codes_of(self, array: pa.Array) -> Integers:
        """Return the number of each value."""
        words = self._words_of(array)
        if array.null_count == 0:
            return self._codes.codes_of(words) + 1
        present = presence(array)
        codes = np.full(words.size, _NULL, np.int64)
        codes[present] = self._codes.codes_of(words[present]) + 1
        return codes


class DictionaryCodes:
    """Numbers for values; each different value of an array is looked up once."""

    __slots__ = ("_values",)

    def __init__(self, values: ColumnCodes) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def codes_of(self, array: pa.Array) -> Integers:
        """Return the number of each value."""
        if not isinstance(array, pa.DictionaryArray):
            array = array.dictionary_encode()
        codes = np.append(self._values.codes_of(array.dictionary), _NULL)
        places = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
        if array.indices.null_count:
            places = np.where(presence(array.indices), places, codes.size - 1)
        found: Integers = codes[places]
        return found


class ObjectCodes:
    """Numbers for values that Python can hash."""

    __slots__ = ("_codes",)

    def __init__(self) -> None:
        self._codes: dict[Hashable, int] = {None: _NULL}

    def __len__(self) -> int:
        return len(self._codes)

    def codes_of(self, array: pa.Array) -> Integers:
        """Return the number of each value."""
        codes = self._codes
        found = [codes.setdefault(value, len(codes)) for value in array.to_pylist()]
        return np.array(found, np.int64)
