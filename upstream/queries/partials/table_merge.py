"""How several tables of partials become one.

`RelationalMerge` runs the states' own aggregates in DuckDB and so does for any types and any
states; `RowConcatenation` puts rows one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ...rows.arrow_data import empty_table
from ..rewriting.relations import PARTIALS, merge_query
from ..sql.lending import prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...database.duck import Duck
    from ..rewriting.split_query import State

_SMALL_CHUNK: Final = 2_048
"""Chunks of fewer rows on average are copied together: each costs the reader of the table."""


class TableMerge(Protocol):
    """Makes one table of several."""

    schema: pa.Schema

    def __call__(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Merge tables, the oldest first. One alone is merged too: it may be rows of several."""

    def describe(self) -> str:
        """Say what it does, as what follows "by"."""

    def close(self) -> None:
        """Give back what it has of DuckDB."""


class RelationalMerge:
    """Merge by a GROUP BY over all the rows, in one statement."""

    __slots__ = ("_prepared", "schema")

    def __init__(
        self, groups: tuple[str, ...], states: tuple[State, ...], schema: pa.Schema, duck: Duck
    ) -> None:
        assert len(schema) > 0, "a partial has columns"
        self.schema = schema
        self._prepared = prepare(duck, merge_query(groups, states), {PARTIALS: schema})

    def __call__(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Merge tables, the oldest first."""
        import pyarrow as pa

        table = pa.concat_tables(tables) if tables else empty_table(self.schema)
        if table.num_rows == 0:  # without groups an aggregate over nothing would be one row
            return empty_table(self.schema)
        if table.num_rows == 1:
            return table
        merged = self._prepared.run(**{PARTIALS: table})
        return merged if merged.schema.equals(self.schema) else merged.cast(self.schema)

    def describe(self) -> str:
        """Say what it does."""
        return "a GROUP BY in DuckDB"

    def close(self) -> None:
        """Give back the name under which the partials were lent."""
        self._prepared.close()


class RowConcatenation:
    """Put rows one after the other, without a copy but of what comes in tiny pieces."""

    __slots__ = ("schema",)

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def __call__(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Put tables one after the other."""
        import pyarrow as pa

        if not tables:
            return empty_table(self.schema)
        table = pa.concat_tables(tables)
        chunks = table.column(0).num_chunks if table.num_columns else 1
        return table.combine_chunks() if table.num_rows < _SMALL_CHUNK * chunks else table

    def describe(self) -> str:
        """Say what it does."""
        return "putting rows one after the other"

    def close(self) -> None:
        """Do nothing: nothing was had."""
