"""Arrays by places of groups. New values are computed first, and written when all are known.

An array has room for more places than are in use; what is there is the value of a new place. So
making room changes nothing that can be read, and only `write` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...rows.arrow_words import grown, one_array, words

if TYPE_CHECKING:
    import pyarrow as pa

    from ...rows.arrow_words import Integers, Numbers, Present


class PlacedPartial(NamedTuple):
    """A partial and the place of each of its rows; no two rows have the same place.

    Places from `known` on are new, and all are below `size`. `sign` is -1 if the partial is taken
    away.
    """

    table: pa.Table
    places: Integers
    known: int
    size: int
    sign: int


class Cells:
    """A number for each place, or `width` numbers side by side; `fill` for a new place."""

    __slots__ = ("_values", "fill")

    def __init__(self, fill: float, width: int = 1) -> None:
        self.fill = fill
        dtype = np.float64 if isinstance(fill, float) else np.int64
        self._values: Numbers = np.zeros(0 if width == 1 else (0, width), dtype)

    def at(self, partial: PlacedPartial) -> Numbers:
        """Return a copy of the values at the places of a partial, and make room for new ones."""
        self._values = grown(self._values, partial.size, self.fill)
        return self._values.take(partial.places, axis=0)

    def integers_at(self, partial: PlacedPartial) -> Integers:
        """Return `at` of cells that hold integers."""
        values = self.at(partial)
        assert values.dtype == np.int64
        return values.astype(np.int64, copy=False)

    def write(self, places: Integers, values: Numbers) -> None:
        """Change the values at places for which there is room."""
        self._values[places] = values

    def of(self, live: Integers | int) -> Numbers:
        """Return a copy of the values at some places, or at the first places."""
        if isinstance(live, int):
            return self._values[:live].copy()
        return self._values.take(live, axis=0)

    def integers(self, size: int) -> Integers | None:
        """Return the values at the first places, to read them at once; None if they are floats."""
        values = self._values[:size]
        return values.astype(np.int64, copy=False) if values.dtype == np.int64 else None

    def load(self, values: Numbers) -> None:
        """Take these values for the places from 0 on."""
        assert values.dtype == self._values.dtype
        assert values.shape[1:] == self._values.shape[1:]
        self._values = values.copy()


Write: TypeAlias = tuple[Cells, "Numbers"]
"""Cells, and what to write at the places of a partial."""


class ValueCounts:
    """For each place, how many values a column has; without any it is NULL.

    They are the numbers in a column of the partials if `counted_by` names one. Otherwise each
    partial with a value counts as one, and nothing is kept until the first NULL.
    """

    __slots__ = ("_column", "_counted_by", "cells")

    def __init__(self, column: str, counted_by: str | None = None) -> None:
        self._column = column
        self._counted_by = counted_by
        self.cells = None if counted_by is None else Cells(0)

    def changed(self, partial: PlacedPartial, present: Present) -> list[Write]:
        """Return what a partial changes, in which these values are present."""
        more: Integers
        if self._counted_by is not None:
            more = partial.sign * counts_in(partial.table, self._counted_by)
        else:
            if self.cells is None and present is None:
                return []
            assert partial.sign > 0, f"{self._column} has NULLs, and its values are not counted"
            if self.cells is None:
                self.cells = _ones(partial.known)
            more = np.ones(partial.places.size, np.int64)
            if present is not None:
                more = present.astype(np.int64)
        assert self.cells is not None
        counts = self.cells.at(partial) + more
        is_less = f"more values of {self._column} are taken away than were added"
        assert not (counts < 0).any(), is_less
        return [(self.cells, counts)]

    def present(self, live: Integers | int) -> Present:
        """Return which places have a value; None means all."""
        return None if self.cells is None else self.cells.of(live) > 0

    def are_all_present(self, size: int) -> bool:
        """Tell whether each of the first places has a value."""
        present = self.present(size)
        return present is None or bool(present.all())

    def load(self, counts: Numbers | None) -> None:
        """Take these counts for the places from 0 on; None if there is no NULL."""
        if counts is None:
            assert self._counted_by is None
            self.cells = None
        else:
            self.cells = Cells(0)
            self.cells.load(counts)


def counts_in(table: pa.Table, name: str) -> Integers:
    """Return a column of integers without NULLs."""
    counts, present = words(one_array(table.column(name)))
    assert present is None, f"{name} has a NULL"
    return counts


def _ones(size: int) -> Cells:
    cells = Cells(0)
    cells.load(np.ones(size, np.int64))
    return cells
