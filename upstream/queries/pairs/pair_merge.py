"""The merge of pairs of chunks: partials of all chunks of the window together, in one table.

In a join of streams every slide adds to every chunk of the window, so no merge of several chunks
lasts until the next slide, and all are merged for each, as DataCell does ("Merging Intermediates",
section 3). But they are merged in one statement, over rows that carry the number of their chunk;
another statement now and then makes one row of the many of a chunk and group.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ...database.failure import DatabaseError
from ...rows.arrow_data import empty_table
from ..rewriting.relations import PARTIALS, merge_query
from ..sql.lending import prepare
from ..sql.names import STEP

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...database.duck import Duck
    from ..rewriting.split_query import State

_ROWS: Final = 4_096
"""So many rows more than after they were put together last, and they are put together again."""
_UNASKED_ROWS: Final = 65_536
"""The same where they are not read in between."""
_BEFORE_ALL: Final = -(1 << 63)


class PairMerge:
    """Keeps partials that come with the key of their pair in front, from the window's first key on.

    `query` merges them, over the relation `partials`; the statement that finishes does so too.
    None where partials are rows.
    """

    __slots__ = ("_by_key", "_first", "_rows", "_schema", "_tables", "_together", "query")

    def __init__(
        self,
        groups: tuple[str, ...] | None,
        states: tuple[State, ...],
        schema: pa.Schema,
        duck: Duck,
    ) -> None:
        import pyarrow as pa

        self._schema = schema.insert(0, pa.field(STEP, pa.int64()))
        self.query = self._by_key = None
        if groups is not None:
            self.query = merge_query(groups, states)
            if not groups:  # an aggregate over nothing would be one row
                self.query = self.query.having("count(*) > 0")
            by_key = merge_query((STEP, *groups), states)
            self._by_key = prepare(duck, by_key, {PARTIALS: self._schema})
        self._tables: list[pa.Table] = []
        """All that is kept; the rest says when to put it together."""
        self._rows = self._together = 0
        """How many rows there are, and were when they were put together last."""
        self._first = _BEFORE_ALL

    def conformed(self, partials: Sequence[pa.Table]) -> list[pa.Table]:
        """Return partials as they can be staged: those that have rows, in one schema."""
        return [table.cast(self._schema) for table in partials if table.num_rows]

    def stage(self, partials: Sequence[pa.Table]) -> None:
        """Take partials, with a column for their keys in front. Nothing can fail here."""
        self._tables.extend(partials)
        self._rows += sum(table.num_rows for table in partials)

    def settle(self) -> None:
        """Put partials together if they have become many although they are not read."""
        if self._rows > 2 * self._together + _UNASKED_ROWS:
            with suppress(DatabaseError):  # the reader of the partials is told
                self._rows_of_window()

    def advance(self, first: int) -> None:
        """Say that the window begins with a key, and pairs with lesser ones have left."""
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
        """Give back what it has of DuckDB."""
        if self._by_key is not None:
            self._by_key.close()

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
        """Assert what always holds."""
        assert self._rows == sum(table.num_rows for table in self._tables)
