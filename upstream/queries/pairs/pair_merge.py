"""The merge of pairs of steps: partials of all steps of the window together, in one table.

In a join of streams every slide adds to every step of the window, so no merge of several steps
lasts until the next slide, and all steps are merged for each, as DataCell does ("Merging
Intermediates", section 3). But they are merged in one statement, over rows that carry the number of
their step; another statement now and then makes one row of the many of a step and group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...queries.sql.lending import prepare
from ...rows.arrow_data import empty_table
from ..partials.table_merge import PARTIALS, merge_query
from ..sql.names import STEP

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from ...database.duck import Duck
    from ..rewriting.split_query import State

_ROWS: Final = 4_096
"""So many rows more than after they were put together last, and they are put together again."""
_UNASKED_ROWS: Final = 65_536
"""The same where nobody asks for them."""
_BEFORE_ALL: Final = -(1 << 63)


class PairMerge:
    """Keeps partials that come with their step in front, from the window's first step on.

    `query` merges them, over the relation `partials`; who finishes the query does both at once.
    None where partials are rows.
    """

    __slots__ = (
        "_by_step",
        "_first",
        "_oldest",
        "_rows",
        "_schema",
        "_tables",
        "_together",
        "query",
    )

    def __init__(
        self,
        groups: tuple[str, ...] | None,
        states: tuple[State, ...],
        schema: pa.Schema,
        duck: Duck,
    ) -> None:
        import pyarrow as pa

        self._schema = schema.insert(0, pa.field(STEP, pa.int64()))
        self.query = self._by_step = None
        if groups is not None:
            self.query = merge_query(groups, states)
            if not groups:  # an aggregate over nothing would be one row
                self.query = self.query.having("count(*) > 0")
            by_step = merge_query((STEP, *groups), states)
            self._by_step = prepare(duck, by_step, {PARTIALS: self._schema})
        self._tables: list[pa.Table] = []
        self._rows = self._together = 0
        """How many rows there are, and were when they were put together last."""
        self._first = _BEFORE_ALL
        self._oldest = 1 << 62
        """No row is of a step before this."""

    def stage(self, partials: pa.Table) -> None:
        """Take partials, with a column for their steps in front."""
        if partials.num_rows:
            partials = partials.cast(self._schema)
            self._tables.append(partials)
            self._rows += partials.num_rows
            self._oldest = min(self._oldest, int(_steps_of(partials).min()))
            if self._rows > 2 * self._together + _UNASKED_ROWS:
                self._rows_of_window()

    def advance(self, first: int) -> None:
        """Say that the window begins at a step, and what is before it has left."""
        assert first >= self._first
        self._first = first

    def partials(self) -> pa.Table:
        """Return the partials of the window, without steps."""
        return self._rows_of_window().remove_column(0)

    def memory_rows(self) -> int:
        """Return how many rows are held. O(1)."""
        return self._rows

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        if self._by_step is not None:
            self._by_step.close()

    def describe(self) -> str:
        """Say in a phrase how it merges."""
        if self.query is None:
            return "and put one after the other"
        return "and all partials of the window merged by the statement that finishes"

    def _rows_of_window(self) -> pa.Table:
        import pyarrow as pa

        rows = pa.concat_tables(self._tables) if self._tables else empty_table(self._schema)
        rows = rows.combine_chunks()
        if self._oldest < self._first:
            rows = rows.filter(_steps_of(rows) >= self._first)
            self._oldest = self._first
        if self._by_step is not None and rows.num_rows > self._together + _ROWS:
            rows = self._by_step.run(**{PARTIALS: rows}).cast(self._schema)
            self._together = rows.num_rows
        if self._by_step is None:
            self._together = rows.num_rows
        self._together = min(self._together, rows.num_rows)
        self._tables = [rows] if rows.num_rows else []
        self._rows = rows.num_rows
        return rows

    def _check(self) -> None:
        """Assert what always holds."""
        assert self._rows == sum(table.num_rows for table in self._tables)
        assert all(int(_steps_of(table).min()) >= self._oldest for table in self._tables)


def _steps_of(rows: pa.Table) -> NDArray[np.int64]:
    steps: NDArray[np.int64] = rows.column(0).to_numpy()
    return steps
