"""States that only grow: minima, maxima, sums of doubles and moments, merged by their kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rows.arrow_words import column
from .cells import Cells, ValueCounts
from .kernels import kernel_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...rows.arrow_words import Integers
    from .cells import PlacedPartial, Write
    from .kernels import Kernel


class CombinedState:
    """One state at each place. A place without a value has the kernel's identity."""

    __slots__ = ("_fields", "_kernel", "cells", "counts")

    def __init__(self, kernel: Kernel, fields: Sequence[pa.Field]) -> None:
        self._kernel = kernel
        self._fields = fields
        self.cells = tuple(Cells(each) for each in kernel.identity)
        self.counts = tuple(ValueCounts(field.name) for field in fields)

    def changed(self, partial: PlacedPartial) -> list[Write] | None:
        """Return what a partial changes; None if its values or the merge are too large."""
        assert partial.sign > 0, "a state without an inverse"
        newer, present, fit = kernel_values(self._kernel, self._fields, partial.table)
        if not fit:
            return None
        older = tuple(cells.at(partial) for cells in self.cells)
        arrays = self._kernel.combined(older, newer)
        if self._kernel.has_large(arrays[0]):
            return None
        writes = list(zip(self.cells, arrays, strict=True))
        for counts, mask in zip(self.counts, present, strict=True):
            writes += counts.changed(partial, mask)
        return writes

    def columns(self, live: Integers | int) -> dict[str, pa.Array]:
        """Return the columns of the state at these places."""
        results = self._kernel.results(tuple(cells.of(live) for cells in self.cells))
        columns = zip(self._fields, results, self.counts, strict=True)
        return {
            field.name: column(field.type, values, counts.present(live))
            for field, values, counts in columns
        }

    def integers(self, size: int) -> Integers | None:
        """Return the values at the first places; None if they are no integers, or one is NULL.

        Times and decimals are in the order of the integers that store them.
        """
        if len(self.cells) > 1 or not self.counts[0].are_all_present(size):
            return None
        return self.cells[0].integers(size)
