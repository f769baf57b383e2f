"""Finds the greatest values among many that change little from one search to the next.

The last value that was found bounds the next search. As long as enough values reach it, only these
are looked at: a search is one comparison of all values, instead of sorting them in part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...rows.arrow_words import Integers
    from ..rewriting.split_query import Leading


class LeadingPlaces:
    """The places of the greatest or least values, and of all that are equal to the last of them.

    >>> from upstream.queries.rewriting.split_query import Leading
    >>> first_two = LeadingPlaces(Leading("x", 2))
    >>> first_two.among(np.array([5, 7, 9, 7, 1])).tolist()
    [1, 2, 3]
    """

    __slots__ = ("_bound", "_leading")

    def __init__(self, leading: Leading) -> None:
        self._leading = leading
        self._bound: int | None = None
        """A value that as many values reached before. Any value would be right."""

    @property
    def column(self) -> str:
        """The column with the values."""
        return self._leading.column

    def among(self, values: Integers) -> Integers:
        """Return the places, in their order. O(values)."""
        count = self._leading.count
        if values.size <= count:
            return np.arange(values.size)
        if self._leading.is_least:
            values = ~values  # the other way round, and never too large
        places = np.flatnonzero(values >= (values[0] if self._bound is None else self._bound))
        if places.size < count:
            places = np.arange(values.size)
        found = values[places]
        bound = np.partition(found, -count)[-count]
        self._bound = int(bound)
        leading: Integers = places[found >= bound]
        return leading
