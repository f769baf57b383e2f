"""The merge of pairs of chunks: the partials of all chunks of the window in one table.

In a join of streams every slide adds to every chunk of the window. So no merge of several chunks
can be reused for the next slide, and all are merged for each slide, as in DataCell ("Merging
Intermediates", section 3). But they are merged in one statement, over rows that have the number of
their chunk. Now and then another statement combines the rows of a chunk and group into one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ...database.failure import DatabaseError
from ...rows.arrow_data import empty_table
from ..rewriting.relations import PARTIALS, merge_query
from ..sql.lending import prepare
from ..sql.names import STEP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...database.duck import Duck
    from ..rewriting.split_query import State

_ROWS: Final = 4_096
"""With this many rows more than after the last time, rows are combined again."""
_UNASKED_ROWS: Final = 65_536
"""The same limit if they are not read in between."""
_BEFORE_ALL: Final = -(1 << 63)


class PairMerge:
    """Keeps partials from the window's first key on; the key of the pair is their first column.

    `query` merges the relation `partials`, and so does the statement of the finish. It is None if
    partials are rows.
    """

    __slots__ = ("_by_key", "_first", "_rows", "_schema", "_tables", "_together", "query")

    def __init__(
        self,
        groups: tuple[str, ...] | None,
        states: tuple[State, ...],
        schema: pa.Schema,
        duck: Duck,
    ) -> None:
        self._schema = schema.insert(0, pa.field(STEP, pa.int64()))
        self.query = self._by_key = None
        if groups is not None:
            self.query = merge_query(groups, states)
            if not groups:  # an aggregate over nothing would be one row
                self.query = self.query.having("count(*) > 0")
            by_key = merge_query((STEP, *groups), states)
            self._by_key = prepare(duck, by_key, {PARTIALS: self._schema})
        self._tables: list[pa.Table] = []
        """All partials that are kept."""
        self._rows = self._together = 0
        """How many rows there are, and how many there were when they were last combined."""
        self._first = _BEFORE_ALL

    def conformed(self, partials: Sequence[pa.Table]) -> list[pa.Table]:
        """Return partials in a form that can be staged: those with rows, in one schema."""
        return [table.cast(self._schema) for table in partials if table.num_rows]

    def stage(self, partials: Sequence[pa.Table]) -> None:
        """Take partials, with a first column for their keys. Nothing can fail here."""
        self._tables.extend(partials)
        self._rows += sum(table.num_rows for table in partials)

    def settle(self) -> None:
        """Combine partials if there are many, even if they are not read."""
        if self._rows > 2 * self._together + _UNASKED_ROWS:
            with suppress(DatabaseError):  # the reader of the partials gets the error
                self._rows_of_window()

    def advance(self, first: int) -> None:
        """Note that the window begins with a key: pairs with lesser keys have left."""
        assert first >= self._first
        self._first = first

    def partials(self) -> pa.Table:
        """Return the partials of the window, without keys."""
        return self._rows_of_window().remove_column(0)

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return self._rows

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        if self._by_key is not None:
            self._by_key.close()

    def describe(self) -> str:
        """Describe in a phrase how it merges."""
        if self.query is None:
            return "and concatenated"
        return "and the final statement merges the partials of all chunks"

    def _rows_of_window(self) -> pa.Table:
        """Combine the rows of the window, and replace what is kept."""
        rows = pa.concat_tables(self._tables) if self._tables else empty_table(self._schema)
        rows = rows.combine_chunks()
        is_in = rows.column(0).to_numpy() >= self._first
        if not is_in.all():
            rows = rows.filter(is_in)
        together = min(self._together, rows.num_rows)
        if self._by_key is None:
            together = rows.num_rows
        elif rows.num_rows > self._together + _ROWS:
            rows = self._by_key.run(**{PARTIALS: rows}).cast(self._schema)
            together = rows.num_rows
        self._tables = [rows] if rows.num_rows else []
        self._rows, self._together = rows.num_rows, together
        return rows

    def _check(self) -> None:
        """Assert every invariant."""
        assert self._rows == sum(table.num_rows for table in self._tables)
