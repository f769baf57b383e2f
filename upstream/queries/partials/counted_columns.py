"""Columns that add each part when it enters the window, and subtract it when it leaves.

They count the parts that have each group, and the parts in which its states are NULL, and they hold
sums of integers and decimals. All columns are indexed by places: the place of a group is its number
in `GroupPlaces`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import types

from ...rows.arrow_words import column, grown, lower_words, one_array

if TYPE_CHECKING:
    from ...rows.arrow_words import Integers, Numbers, Present
    from ...rows.group_codes import Places
    from .kernels import Arrays

_SIGN_BITS: Final = 63
_ANY_DECIMAL: Final = 1 << 127

ENTERS: Final = 1
LEAVES: Final = -1
"""The factors by which a part is counted when it enters the window, or leaves it."""


class PartValues(NamedTuple):
    """The values of a state in a part: arrays, and for each column which values are present.

    Parts are merged exactly here as long as the sum of their `bound`s is below the state's limit.
    """

    arrays: Arrays
    present: tuple[Present, ...]
    bound: int


class LivePlaces:
    """For each place, the number of parts of the window that have it."""

    __slots__ = ("_parts", "_places", "_size", "count")

    def __init__(self) -> None:
        self._parts: Integers = np.zeros(0, np.int64)
        self._size = 0
        self._places: Places | None = None
        self.count = 0
        """How many places are in the window."""

    def add(self, places: Integers, times: int, size: int) -> None:
        """Count the places of a part that enters or leaves; all are below `size`."""
        self._parts = grown(self._parts, size)
        self._size = size
        before = self._parts[places]
        self._parts[places] = before + times
        changed = int(np.count_nonzero(before == (0 if times == ENTERS else 1)))
        if changed:
            self.count += times * changed
            self._places = None

    @property
    def places(self) -> Places:
        """The places that are in the window; a new object when they have changed."""
        if self._places is None:
            is_in = self._parts[: self._size] > 0
            first = int(is_in.argmax()) if is_in.size else 0
            end = first + self.count
            self._places = slice(first, end) if is_in[first:end].all() else pa.array(is_in)
        return self._places

    @property
    def parts(self) -> Integers:
        """In how many parts each place in the window is."""
        return self.of(self._parts).astype(np.int64, copy=False)

    def of(self, values: Numbers) -> Numbers:
        """Return a copy of a column's values at the places in the window."""
        places = self.places
        if isinstance(places, slice):
            return values[places].copy()
        filtered: Numbers = pa.array(values[: len(places)]).filter(places).to_numpy()
        return filtered

    def _check(self) -> None:
        """Assert every invariant."""
        assert (self._parts >= 0).all()
        assert self.count == np.count_nonzero(self._parts) == self.parts.size


class StateCounts:
    """For each column of a state, the number of parts in which it is NULL.

    And whether all is exact.
    """

    __slots__ = ("_bound", "_limit", "_nulls")

    def __init__(self, columns: int, limit: int) -> None:
        self._nulls: list[Integers] = [np.zeros(0, np.int64) for _ in range(columns)]
        """By places; empty as long as there are no NULLs."""
        self._bound = 0
        self._limit = limit

    @property
    def is_exact(self) -> bool:
        """Whether the parts of the window can be merged here."""
        return self._bound < self._limit

    def add(self, places: Integers, values: PartValues, times: int, size: int) -> None:
        """Count a part that enters or leaves."""
        self._bound += times * values.bound
        for index, (nulls, present) in enumerate(zip(self._nulls, values.present, strict=True)):
            if nulls.size or present is not None:
                self._nulls[index] = nulls = grown(nulls, size)
            if present is not None:
                nulls[places[~present]] += times

    def present(self, live: LivePlaces) -> list[Present]:
        """Return where some part of the window has a value, by column; None means everywhere."""
        return [live.of(nulls) < live.parts if nulls.size else None for nulls in self._nulls]

    def _check(self, live: LivePlaces) -> None:
        """Assert every invariant."""
        assert self._bound >= 0
        for nulls in filter(len, self._nulls):
            assert np.count_nonzero(nulls) == np.count_nonzero(live.of(nulls))
            assert (live.of(nulls) <= live.parts).all()


class SubtractedSum:
    """The sums of one column of integers or decimals. A place that no part has is zero.

    They are kept modulo 2**64, where adding and subtracting are exact for all values. A bound shows
    that the true sum fits: the sum of the greatest magnitudes in the parts of the window. If the
    bound is too large for the type of the column, the sum may not be exact, and DuckDB merges the
    window until such values have left it.
    """

    __slots__ = ("_name", "_sums", "_type", "counts")

    def __init__(self, field: pa.Field) -> None:
        self._name = field.name
        self._type = field.type
        self._sums: Integers = np.zeros(0, np.int64)
        self.counts = StateCounts(1, _limit(field.type))

    def read(self, table: pa.Table) -> PartValues:
        """Return what is kept of a part: the sums modulo 2**64, with 0 for NULL."""
        sums, present, fits = lower_words(one_array(table.column(self._name)))
        bound = max(int(sums.max()), -int(sums.min())) if fits else _ANY_DECIMAL
        return PartValues((sums,), (present,), bound)

    def count(self, places: Integers, values: PartValues, times: int, size: int) -> None:
        """Add a part that enters the window, or subtract one that leaves it."""
        self.counts.add(places, values, times, size)
        self._sums = grown(self._sums, size)
        [sums] = values.arrays
        self._sums[places] += times * sums.astype(np.int64, copy=False)

    def columns(self, live: LivePlaces) -> dict[str, pa.Array]:
        """Return the sums in the window."""
        [present] = self.counts.present(live)
        return {self._name: column(self._type, live.of(self._sums), present)}

    def _check(self, live: LivePlaces) -> None:
        """Assert every invariant."""
        self.counts._check(live)
        assert np.count_nonzero(self._sums) == np.count_nonzero(live.of(self._sums))


def can_subtract(type_: pa.DataType) -> bool:
    """Tell whether sums of this type are integers or decimals."""
    return bool(types.is_decimal128(type_) or types.is_signed_integer(type_))


def _limit(type_: pa.DataType) -> int:
    """Return the limit that the magnitude of every sum must stay below."""
    if types.is_decimal128(type_):
        largest: int = 10 ** int(type_.precision)
        return min(largest, 1 << _SIGN_BITS)
    return 1 << int(type_.bit_width) - 1
