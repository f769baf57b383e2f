"""Where a group has its place: dense numbers for the values of the group columns.

Values of fixed width and texts are 64-bit words, which a hash table of NumPy arrays gives numbers
to; others go through a dict. Several columns are numbered one by one, and then pairs of their
numbers. All of this is exact: no two groups ever share a place. NULL is a value of its own, NaN
equals itself, and -0.0 equals 0.0, as they do for GROUP BY.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from .arrow_words import numbers, presence, stored_as
from .group_values import group_values
from .integer_codes import IntegerCodes
from .text_words import TextWords

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    import pyarrow as pa

    from .arrow_words import Integers

_NULL: Final = 0
"""The number of NULL in each column."""
_PAIR_BITS: Final = 32


class ColumnCodes(Protocol):
    """Dense numbers for the values of a column, NULL being 0."""

    def __len__(self) -> int: ...

    def codes_of(self, array: pa.Array) -> Integers:
        """Return the number of each value; one that is new gets the next."""


class GroupPlaces:
    """The groups seen so far and their places, from 0 on."""

    __slots__ = ("_columns", "_pairs", "_values")

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        import pyarrow as pa

        self._columns = [_column_codes(type_) for type_ in types]
        self._pairs = [IntegerCodes() for _ in types[1:]]
        self._values = [group_values(type_) for type_ in types]
        if len(types) == 1:  # places are codes then, of which the first is that of NULL
            self._values[0].append(pa.nulls(1, types[0]))

    def __len__(self) -> int:
        return len(self._values[0]) if self._values else 1

    def places_of(self, columns: Sequence[pa.Array], length: int) -> Integers:
        """Return the place of each group; a new one gets the next. O(length), amortised."""
        if not columns:
            return np.zeros(length, np.int64)
        places = self._columns[0].codes_of(columns[0])
        for codes, pairs, column in zip(self._columns[1:], self._pairs, columns[1:], strict=True):
            places = pairs.codes_of((places << _PAIR_BITS) | codes.codes_of(column))
        self._keep_new(columns, places)
        return places

    def values(self, places: Integers) -> list[pa.Array]:
        """Return the values of the group columns at these places."""
        return [values.at(places) for values in self._values]

    def _keep_new(self, columns: Sequence[pa.Array], places: Integers) -> None:
        """Keep the values of groups that are new, in the order of their places."""
        count = len(self._pairs[-1] if self._pairs else self._columns[0])
        if count == len(self):
            return
        import pyarrow as pa

        new = np.flatnonzero(places >= len(self))
        _, first = np.unique(places[new], return_index=True)
        rows = pa.array(new[first])
        for values, column in zip(self._values, columns, strict=True):
            values.append(column.take(rows))
        assert len(self) == count

    def _check(self) -> None:
        """Assert what always holds."""
        assert all(len(values) == len(self) for values in self._values)
        for codes in self._pairs:
            codes._check()


def has_places(type_: pa.DataType) -> bool:
    """Tell whether values of a type can be given numbers."""
    from pyarrow import types

    is_other = types.is_boolean(type_) or types.is_decimal128(type_)
    return stored_as(type_) is not None or _is_text(type_) or is_other


def _is_text(type_: pa.DataType) -> bool:
    from pyarrow import types

    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(test(type_) for test in tests)


def _column_codes(type_: pa.DataType) -> ColumnCodes:
    if stored_as(type_) is not None:
        return WordCodes(_words_of_numbers)
    return WordCodes(TextWords().words_of) if _is_text(type_) else ObjectCodes()


def _words_of_numbers(array: pa.Array) -> Integers:
    values, _ = numbers(array)
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, and one zero
    return np.ascontiguousarray(values).view(np.int64)


class WordCodes:
    """Numbers for values that are words of 64 bits, or can be made such."""

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
