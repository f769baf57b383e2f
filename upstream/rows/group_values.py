"""The values of a group column by places, to be handed out in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from .arrow_words import column, grown, numbers, stored_as

if TYPE_CHECKING:
    import pyarrow as pa

    from .arrow_words import Integers, Numbers

_FIRST: Final = 64


class GroupValues(Protocol):
    """Values that are added at the end and read anywhere."""

    def __len__(self) -> int: ...

    def append(self, array: pa.Array) -> None:
        """Add the values of new groups."""

    def at(self, places: Integers) -> pa.Array:
        """Return the values at these places."""


def group_values(type_: pa.DataType) -> GroupValues:
    """Return what keeps values of a type."""
    return FixedValues(type_) if stored_as(type_) is not None else OtherValues(type_)


class FixedValues:
    """Values of fixed width, in NumPy arrays that grow in place."""

    __slots__ = ("_count", "_present", "_type", "_values")

    def __init__(self, type_: pa.DataType) -> None:
        self._type = type_
        self._count = 0
        self._present = np.zeros(_FIRST, np.bool_)
        self._values: Numbers = np.zeros(_FIRST, np.int64)
        if str(stored_as(type_)).startswith("float"):
            self._values = np.zeros(_FIRST, np.float64)

    def __len__(self) -> int:
        return self._count

    def append(self, array: pa.Array) -> None:
        """Add the values of new groups. Amortised O(1) each."""
        values, present = numbers(array)
        end = self._count + values.size
        self._values = grown(self._values, end)
        self._present = grown(self._present, end)
        self._values[self._count : end] = values
        self._present[self._count : end] = True if present is None else present
        self._count = end

    def at(self, places: Integers) -> pa.Array:
        """Return the values at these places."""
        return column(self._type, self._values[places], self._present[places])


class OtherValues:
    """Values of other types, as Arrow has them: pieces, which are put together to be read."""

    __slots__ = ("_count", "_pieces")

    def __init__(self, type_: pa.DataType) -> None:
        import pyarrow as pa

        self._pieces = [pa.nulls(0, type_)]
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, array: pa.Array) -> None:
        """Add the values of new groups. O(1)."""
        self._pieces.append(array)
        self._count += len(array)

    def at(self, places: Integers) -> pa.Array:
        """Return the values at these places. O(all) after some were added."""
        import pyarrow as pa

        if len(self._pieces) > 1:
            self._pieces = [pa.concat_arrays(self._pieces)]
        return self._pieces[0].take(pa.array(places))
