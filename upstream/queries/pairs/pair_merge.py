"""The merge of pairs of chunks: partials of all chunks of the window together, in one table.

In a join of streams every slide adds to every chunk of the window, so no merge of several chunks
lasts until the next slide, and all are merged for each, as DataCell does ("Merging Intermediates",
section 3). But they are merged in one statement, over rows that carry the number of their chunk;
another statement now and then makes one row of the many of a chunk and group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...rows.arrow_data import empty_table
from ..rewriting.merge_query import PARTIALS, merge_query
from ..sql.lending import prepare
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
"""The same where they are not read in between."""
_BEFORE_ALL: Final = -(1 << 63)


class PairMerge:
    """Keeps partials that come with their chunk in front, from the window's first chunk on.

    `query` merges them, over the relation `partials`; the statement that finishes does so too.
    None where partials are rows.
    """

    __slots__ = (
        "_by_chunk",
        "_first",
        "_oldest",
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
        self.query = self._by_chunk = None
        if groups is not None:
            self.query = merge_query(groups, states)
            if not groups:  # an aggregate over nothing would be one row
                self.query = self.query.having("count(*) > 0")
            by_chunk = merge_query((STEP, *groups), states)
            self._by_chunk = prepare(duck, by_chunk, {PARTIALS: self._schema})
        self._tables: list[pa.Table] = []
        """All that is kept; the rest says when to put it together."""
        self._together = 0
        """How many rows there were when they were put together last."""
        self._first = _BEFORE_ALL
        self._oldest = 1 << 62
        """No row is of a chunk before this."""

    def stage(self, partials: pa.Table) -> None:
        """Take partials, with a column for their chunks in front; all of them or none."""
        if not partials.num_rows:
            return
        partials = partials.cast(self._schema)
        if self.rows + partials.num_rows > 2 * self._together + _UNASKED_ROWS:
            self._rows_of_window()
        self._oldest = min(self._oldest, int(_chunks_of(partials).min()))
        self._tables.append(partials)

    def advance(self, first: int) -> None:
        """Say that the window begins at a chunk, and what is before it has left."""
        assert first >= self._first
        self._first = first

    def partials(self) -> pa.Table:
        """Return the partials of the window, without chunks."""
        return self._rows_of_window().remove_column(0)

    @property
    def rows(self) -> int:
        """How many rows are held. O(tables)."""
        return sum(table.num_rows for table in self._tables)

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        if self._by_chunk is not None:
            self._by_chunk.close()

    def describe(self) -> str:
        """Say in a phrase how it merges."""
        if self.query is None:
            return "and put one after the other"
        return "and all partials of the window merged by the statement that finishes"

    def _rows_of_window(self) -> pa.Table:
        """Put the rows of the window together, and let them take the place of what is kept."""
        import pyarrow as pa

        rows = pa.concat_tables(self._tables) if self._tables else empty_table(self._schema)
        rows = rows.combine_chunks()
        if self._oldest < self._first:
            rows = rows.filter(_chunks_of(rows) >= self._first)
        is_merged = self._by_chunk is None or rows.num_rows > self._together + _ROWS
        if self._by_chunk is not None and is_merged:
            rows = self._by_chunk.run(**{PARTIALS: rows}).cast(self._schema)
        self._tables = [rows] if rows.num_rows else []
        self._oldest = max(self._first, self._oldest)
        self._together = rows.num_rows if is_merged else min(self._together, rows.num_rows)
        return rows

    def _check(self) -> None:
        """Assert what always holds."""
        assert all(int(_chunks_of(table).min()) >= self._oldest for table in self._tables)


def _chunks_of(rows: pa.Table) -> NDArray[np.int64]:
    chunks: NDArray[np.int64] = rows.column(0).to_numpy()
    return chunks
