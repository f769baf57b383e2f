"""Rows that are kept under their numbers, of which most are let go again one by one.

Rows are only ever added at the end. Their tables are merged when they are of like size, so that
there are few of them, each row is copied a number of times that is logarithmic, and what came last
is found without touching the rest. Whoever knows which rows still count calls `compact`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..rows.arrow_data import empty_table

if TYPE_CHECKING:
    import pyarrow as pa

Integers = NDArray[np.int64]


class RowStore:
    """Rows of one schema, numbered from zero in the order in which they were added."""

    __slots__ = ("_schema", "_starts", "_tables", "rows")

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._tables: list[pa.Table] = []
        self._starts: list[int] = []
        self.rows = 0
        """How many rows are stored, of those that count and of others."""

    def add(self, table: pa.Table) -> None:
        """Add rows; amortised, each costs the logarithm of how many there are."""
        if not table.num_rows:
            return
        start = self.rows
        self.rows += table.num_rows
        merged = [table]
        while self._tables and self._tables[-1].num_rows <= 2 * (self.rows - start):
            merged.append(self._tables.pop())
            start = self._starts.pop()
        self._tables.append(_together(merged[::-1]) if len(merged) > 1 else table)
        self._starts.append(start)

    def take(self, numbers: Integers) -> pa.Table:
        """Return the rows of these numbers, which ascend."""
        import pyarrow as pa

        if not self._tables:
            return empty_table(self._schema)
        ends = np.searchsorted(numbers, [*self._starts[1:], self.rows])
        parts = []
        first = 0
        for table, start, end in zip(self._tables, self._starts, ends.tolist(), strict=True):
            if end > first:
                parts.append(table.take(pa.array(numbers[first:end] - start)))
            first = end
        return _together(parts) if parts else empty_table(self._schema)

    def compact(self, numbers: Integers) -> pa.Table:
        """Keep only the rows of these numbers, which ascend; return them.

        Afterwards they are numbered from zero.
        """
        table = self.take(numbers) if len(numbers) < self.rows else _together(self._tables)
        self._tables, self._starts = ([table], [0]) if table.num_rows else ([], [])
        self.rows = table.num_rows
        return table if table.num_rows else empty_table(self._schema)


def _together(tables: list[pa.Table]) -> pa.Table:
    import pyarrow as pa

    if not tables:
        return pa.table({})
    if len(tables) == 1:
        return tables[0].combine_chunks()
    return pa.concat_tables(tables).combine_chunks()
