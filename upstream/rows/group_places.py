"""Where a group has its place: dense numbers for the values of the group columns, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrow_words import stored_as
from .group_codes import GroupCodes, is_text
from .group_values import group_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from .arrow_words import Integers


class GroupPlaces:
    """The groups seen so far and their places, from 0 on."""

    __slots__ = ("_codes", "_values")

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        import pyarrow as pa

        self._codes = GroupCodes(types)
        self._values = [group_values(type_) for type_ in types]
        if len(types) == 1:  # code 0 is that of NULL
            self._values[0].append(pa.nulls(1, types[0]))

    def __len__(self) -> int:
        return len(self._values[0]) if self._values else 1

    def places_of(self, columns: Sequence[pa.Array], length: int) -> Integers:
        """Return the place of each group; a new one gets the next. O(length), amortised."""
        places = self._codes.codes_of(columns, length)
        if len(self._codes) != len(self):
            self._keep_new(columns, places)
        return places

    def values(self, places: Integers) -> list[pa.Array]:
        """Return the values of the group columns at these places."""
        return [values.at(places) for values in self._values]

    def _keep_new(self, columns: Sequence[pa.Array], places: Integers) -> None:
        """Keep the values of groups that are new, in the order of their places."""
        import pyarrow as pa

        new = np.flatnonzero(places >= len(self))
        _, first = np.unique(places[new], return_index=True)
        rows = pa.array(new[first])
        for values, column in zip(self._values, columns, strict=True):
            values.append(column.take(rows))
        assert len(self) == len(self._codes)

    def _check(self) -> None:
        """Assert what always holds."""
        assert all(len(values) == len(self) for values in self._values)
        self._codes._check()


def has_places(type_: pa.DataType) -> bool:
    """Tell whether values of a type can be given places."""
    from pyarrow import types

    is_other = types.is_boolean(type_) or types.is_decimal128(type_)
    return stored_as(type_) is not None or is_text(type_) or is_other
