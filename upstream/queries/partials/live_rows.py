"""Which groups are in the window, in rows without gaps.

Each place that is in a part of the window has a row, and rows are 0, 1, 2, … so that columns by
rows can be handed out as they are. When the last part that has a place leaves, the place loses its
row, and a last row moves into the gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...rows.arrow_words import grown

if TYPE_CHECKING:
    from ...rows.arrow_words import Integers

_NO_ROW: Final = -1
_FIRST: Final = 64


class Moves(NamedTuple):
    """Rows that move into the gaps: `sources[i]` to `targets[i]`, which no source is."""

    sources: Integers
    targets: Integers


class LiveRows:
    """The rows of the places in the window, with the number of parts that have each."""

    __slots__ = ("_parts", "_places", "_row_of_place", "count", "version")

    def __init__(self) -> None:
        self._row_of_place = np.full(_FIRST, _NO_ROW, np.int64)
        self._places = np.zeros(_FIRST, np.int64)
        """The place of each row."""
        self._parts = np.zeros(_FIRST, np.int64)
        """In how many parts each row is."""
        self.count = 0
        self.version = 0
        """Changes when the places of the rows do."""

    @property
    def places(self) -> Integers:
        """The place of each row; a view."""
        return self._places[: self.count]

    @property
    def parts(self) -> Integers:
        """In how many parts of the window each row is; a view."""
        return self._parts[: self.count]

    def enter(self, places: Integers) -> Integers:
        """Return the rows of the places of a part that enters; new ones get the next."""
        if places.size:
            self._row_of_place = grown(self._row_of_place, int(places.max()) + 1, _NO_ROW)
        rows = self._row_of_place[places]
        new = np.flatnonzero(rows == _NO_ROW)
        if new.size:
            rows[new] = np.arange(self.count, self.count + new.size)
            self._add(places[new], rows[new])
        self._parts[rows] += 1
        return rows

    def leave(self, places: Integers) -> Integers:
        """Return the rows of a part that leaves; those in no part are dropped by `sweep`."""
        rows = self._row_of_place[places]
        self._parts[rows] -= 1
        return rows

    def rows_of(self, places: Integers) -> Integers:
        """Return the rows of places that all have one."""
        return self._row_of_place[places]

    def sweep(self, left: Integers) -> Moves | None:
        """Drop those of the rows that no part has any more, and return what moves for it."""
        dead = np.unique(left[self._parts[left] == 0])
        if dead.size == 0:
            return None
        self._row_of_place[self._places[dead]] = _NO_ROW
        count = self.count - dead.size
        targets = dead[dead < count]
        tail = np.ones(dead.size, np.bool_)
        tail[dead[dead >= count] - count] = False
        moves = Moves(np.flatnonzero(tail) + count, targets)
        self._move(moves)
        self.count = count
        self.version += 1
        return moves

    def renumber(self, new_places: Integers, size: int) -> None:
        """Take other numbers for the places: `new_places[old]`, all below `size`."""
        self._places[: self.count] = new_places[self.places]
        self._row_of_place = np.full(max(size, _FIRST), _NO_ROW, np.int64)
        self._row_of_place[self.places] = np.arange(self.count)

    def _add(self, places: Integers, rows: Integers) -> None:
        count = self.count + places.size
        self._places = grown(self._places, count)
        self._parts = grown(self._parts, count)
        self._row_of_place[places] = rows
        self._places[rows] = places
        self._parts[rows] = 0
        self.count = count
        self.version += 1

    def _move(self, moves: Moves) -> None:
        places = self._places[moves.sources]
        self._places[moves.targets] = places
        self._parts[moves.targets] = self._parts[moves.sources]
        self._row_of_place[places] = moves.targets

    def _check(self) -> None:
        """Assert what always holds."""
        assert np.array_equal(self._row_of_place[self.places], np.arange(self.count))
        assert np.count_nonzero(self._row_of_place != _NO_ROW) == self.count
        assert (self.parts > 0).all()
