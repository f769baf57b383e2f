"""Where a group has its place: dense numbers for the values of the group columns, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .arrow_words import stored_as
from .group_codes import GroupCodes, is_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from .arrow_words import Integers

    Places: TypeAlias = slice[int, int, None] | pa.BooleanArray


class GroupPlaces:
    """The groups seen so far and their places, from 0 on, with their values as Arrow has them."""

    __slots__ = ("_codes", "_count", "_pieces")

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        import pyarrow as pa

        self._codes = GroupCodes(types)
        self._count = 1 if len(types) <= 1 else 0
        """Of a single column, place 0 is that of NULL; without columns there is one group."""
        self._pieces = [[pa.nulls(self._count, type_)] for type_ in types]
        """Of each column the values by places, in pieces that are put together to be read."""

    def __len__(self) -> int:
        return self._count

    def places_of(self, columns: Sequence[pa.Array], length: int) -> Integers:
        """Return the place of each group; a new one gets the next. O(length), amortised."""
        places = self._codes.codes_of(columns, length)
        if len(self._codes) != self._count:
            self._keep_new(columns, places)
        return places

    def values(self, places: Places) -> list[pa.Array]:
        """Return the values of the group columns at these places, ascending. O(all)."""
        import pyarrow as pa

        for pieces in self._pieces:
            if len(pieces) > 1:
                pieces[:] = [pa.concat_arrays(pieces)]
        if isinstance(places, slice):
            return [values[places] for [values] in self._pieces]
        return [values[: len(places)].filter(places) for [values] in self._pieces]

    def _keep_new(self, columns: Sequence[pa.Array], places: Integers) -> None:
        """Keep the values of groups that are new, in the order of their places."""
        import pyarrow as pa

        new = np.flatnonzero(places >= self._count)
        _, first = np.unique(places[new], return_index=True)
        rows = pa.array(new[first])
        for pieces, column in zip(self._pieces, columns, strict=True):
            pieces.append(column.take(rows))
        self._count += len(rows)
        assert self._count == len(self._codes)

    def _check(self) -> None:
        """Assert what always holds."""
        assert all(sum(map(len, pieces)) == self._count for pieces in self._pieces)
        self._codes._check()


def has_places(type_: pa.DataType) -> bool:
    """Tell whether values of a type can be given places."""
    from pyarrow import types

    is_other = types.is_boolean(type_) or types.is_decimal128(type_)
    return stored_as(type_) is not None or is_text(type_) or is_other
