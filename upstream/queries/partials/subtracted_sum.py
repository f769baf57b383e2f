"""Sums of integers and decimals by places: parts that enter are added, others subtracted.

They are kept modulo 2**64, in which adding and subtracting are exact whatever the values are. That
the true sum is no larger follows from a bound: the sum of the greatest magnitudes in the parts of
the window. Where the bound is too large for the type of the column, the sum is not exact, and the
merge is left to DuckDB until such values have left the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ...rows.arrow_words import column, grown, lower_words, one_array
from .live_places import PartValues, StateCounts

if TYPE_CHECKING:
    import pyarrow as pa

    from ...rows.arrow_words import Integers
    from .live_places import LivePlaces

_SIGN_BITS: Final = 63
_ANY_DECIMAL: Final = 1 << 127


class SubtractedSum:
    """The sums of one column by places. A place that no part has is zero."""

    __slots__ = ("_name", "_sums", "_type", "counts")

    def __init__(self, field: pa.Field) -> None:
        self._name = field.name
        self._type = field.type
        self._sums: Integers = np.zeros(0, np.int64)
        self.counts = StateCounts(1, _limit(field.type))

    def read(self, table: pa.Table) -> PartValues:
        """Return what is kept of a part: the sums modulo 2**64, 0 for NULL."""
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
        """Assert what always holds."""
        self.counts._check(live)
        assert np.count_nonzero(self._sums) == np.count_nonzero(live.of(self._sums))


def can_subtract(type_: pa.DataType) -> bool:
    """Tell whether sums of this type are integers or decimals."""
    from pyarrow import types

    return bool(types.is_decimal128(type_) or types.is_signed_integer(type_))


def _limit(type_: pa.DataType) -> int:
    """Return what the magnitude of any sum must stay below."""
    from pyarrow import types

    if types.is_decimal128(type_):
        largest: int = 10 ** int(type_.precision)
        return min(largest, 1 << _SIGN_BITS)
    return 1 << int(type_.bit_width) - 1
