"""The groups of a grouped state and their places, in the order in which they first appeared.

A group gets a place when a partial with it is applied, not when it is looked up. So a code, which
the hash table gives at the first look, is not a place. A group that has left has no place, and gets
a new one when it comes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import grown, one_array
from ...rows.group_codes import GroupCodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ...rows.arrow_words import Integers, Present

_NOWHERE: Final = -1
_MANY: Final = 256
"""If there are more pieces of new groups than this, they are combined without a reader."""


class Placing(NamedTuple):
    """Where the rows of a partial are or would be placed.

    `places` are those of all rows, and `kept` those that they have afterwards, if any changes.
    `new` are the groups that have none so far, by column, and `size` is how many places there are
    with theirs.
    """

    codes: Integers
    places: Integers
    kept: Integers | None
    new: list[pa.Array]
    size: int

    def of_those(self, stay: NDArray[np.bool_]) -> Placing:
        """Return a placing where only the groups that stay have a place afterwards."""
        return self._replace(kept=np.where(stay, self.places, _NOWHERE))


class PlacedGroups:
    """The groups that have places, and their values."""

    __slots__ = ("_codes", "_marks", "_pieces", "_places", "size")

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._codes = GroupCodes(types)
        self._places: Integers = np.zeros(0, np.int64)
        """By codes."""
        self._marks: Integers = np.zeros(0, np.int64)
        """By codes, to find equal ones. They have no meaning afterwards."""
        self._pieces = [[pa.nulls(0, type_)] for type_ in types]
        """For each column, its values by places, in pieces that are combined when they are read."""
        self.size = 0
        """How many places there are."""

    def placing(self, columns: Sequence[pa.Array], length: int) -> Placing | None:
        """Find places for the rows of a partial; None if two of them have the same group.

        O(length), amortized.
        """
        codes = self._codes.codes_of(columns, length)
        if not self._are_distinct(codes):
            return None
        self._places = grown(self._places, len(self._codes), _NOWHERE)
        places = self._places[codes]
        new = np.flatnonzero(places == _NOWHERE)
        if new.size == 0:
            return Placing(codes, places, None, [], self.size)
        size = self.size + new.size
        places[new] = np.arange(self.size, size)
        rows = pa.array(new)
        taken = [column if new.size == length else column.take(rows) for column in columns]
        self._combine(_MANY)
        return Placing(codes, places, places, taken, size)

    def keep(self, placing: Placing) -> None:
        """Give the groups of a placing their places. This cannot fail."""
        if placing.kept is not None:
            self._places[placing.codes] = placing.kept
        if placing.size > self.size:
            for pieces, column in zip(self._pieces, placing.new, strict=True):
                pieces.append(column)
            self.size = placing.size

    def values(self, live: Integers | int) -> list[pa.Array]:
        """Return the groups at some places, or at all, by column. O(places)."""
        if isinstance(live, int):
            self._combine(1)
            return [values for [values] in self._pieces]
        rows = pa.array(live)
        return [one_array(pa.chunked_array(pieces).take(rows)) for pieces in self._pieces]

    def codes_of(self, columns: Sequence[pa.Array], length: int) -> Integers:
        """Return the codes of groups, which may have no places."""
        return self._codes.codes_of(columns, length)

    def places_of(self, codes: Integers) -> Integers:
        """Return the places of groups that have one, in their order. O(codes)."""
        self._places = grown(self._places, len(self._codes), _NOWHERE)
        places: Integers = np.unique(self._places[codes])
        return places[1:] if places.size and places[0] == _NOWHERE else places

    def load(self, columns: Sequence[pa.Array], length: int) -> None:
        """Give places to groups, in their order, where there are none so far."""
        placing = self.placing(columns, length)
        assert placing is not None
        assert placing.size == length
        self.keep(placing)

    def _are_distinct(self, codes: Integers) -> bool:
        """Tell whether all codes differ.

        DuckDB keeps some groups apart that are the same in Arrow, such as times of different zones.
        """
        if codes.size < 2:
            return True
        self._marks = grown(self._marks, len(self._codes))
        rows = np.arange(codes.size)
        self._marks[codes] = rows
        return np.array_equal(self._marks[codes], rows)

    def _combine(self, most: int) -> None:
        """Combine pieces if there are more than so many."""
        for pieces in self._pieces:
            if len(pieces) > most:
                pieces[:] = [pa.concat_arrays(pieces)]

    def _check(self, is_live: Present) -> None:
        """Assert every invariant."""
        self._codes._check()
        assert all(sum(map(len, pieces)) == self.size for pieces in self._pieces)
        placed = self._places[self._places != _NOWHERE]
        places = np.arange(self.size) if is_live is None else np.flatnonzero(is_live)
        assert np.array_equal(np.sort(placed), places)
