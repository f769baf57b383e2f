"""Keeps the merged relation of a window while it slides, in one of four ways.

DataCell merges the partials of all n steps for each window ("Merging Intermediates", section 3).
Here a slide costs about one merge:

- `DenseMerge` is used where groups can be numbered and states are sums, minima, maxima or moments
  of numbers. The chunk that enters is added to columns in place, and the one that leaves is taken
  out. On 512 chunks it is 5 to 50 times as fast as the next way, with 20 to 200,000 groups.
- `ChunkTree` is used for everything else, including rows. Merges of eight chunks, of 64, and so on
  are kept, and the few that make up the window are merged in one statement.
- `GrowingMerge` and `CumulativeMerge` are used for a landmark, which nothing leaves. The first adds
  to columns in place, under the same conditions as `DenseMerge`. The second merges one table with
  what is new.

A join of streams has none of these. Every slide changes all its chunks, so it has `PairMerge`.

An exception in any of these (Ctrl-C, lack of memory, a failing statement) leaves the merge correct:
staging partials only adds them to a ring, and everything that is derived from the ring is released
before it changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import pyarrow as pa

from ...rows.arrow_data import empty_table
from ..rewriting.relations import PARTIALS, merge_query
from ..sql.lending import prepare
from .chunk_tree import ChunkTree
from .cumulative_merge import CumulativeMerge
from .dense_merge import DenseMerge
from .dense_window import can_be_dense
from .growing_merge import GrowingMerge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...database.duck import Duck
    from ...database.prepared import Prepared
    from ..chunks.cutter import Piece
    from ..rewriting.split_query import State
    from ..sql.trees import Query

    TableMerge: TypeAlias = "RelationalMerge | FirstRows | RowConcatenation"
    """Makes one table from several, the oldest first."""

_SMALL_CHUNK: Final = 2_048
"""If chunks have fewer rows than this on average, they are copied together, since each costs the
reader of the table."""


class RunningMerge(Protocol):
    """The merge of the partials of chunks, which is cheap at a position that moves forward.

    The position is empty until it first moves. A chunk in it is held, and so is an earlier one
    until it is forgotten. What is staged for a forgotten chunk is ignored. Only `merged` raises
    errors that the data cause (a sum that overflows). The position can move on after such an error.
    """

    def stage(self, partials: Sequence[Piece]) -> None:
        """Take parts of partials, with their chunks. Nothing can fail here.

        A chunk at or after the position's end waits; an earlier one is amended.
        """

    def settle(self) -> None:
        """Merge what was staged, as far as possible before it is requested."""

    def advance(self, first: int, end: int) -> None:
        """Move the position to the chunks `[first, end)`; neither bound ever moves back.

        What is staged for the position is merged as it arrives. The cost depends on the chunks that
        enter and leave, whatever the distance.
        """

    def merged(self, first: int, end: int) -> pa.Table:
        """Return the merge of these chunks: one row per group, in the schema of the partials.

        If neither bound is before the position's, the position moves there. Otherwise the chunks
        are merged separately, which may be slow. A cumulative merge always merges all chunks up to
        the position's end.
        """

    def forget(self, before: int) -> None:
        """Forget earlier chunks, once the position has passed them."""

    @property
    def rows(self) -> int:
        """How many rows are held. O(what is held)."""

    def describe(self) -> str:
        """Describe in a phrase how it merges."""

    def close(self) -> None:
        """Release its statements and relations in DuckDB; it cannot be used any more."""


def running_merge(
    groups: tuple[str, ...] | None,
    states: tuple[State, ...],
    schema: pa.Schema,
    duck: Duck,
    *,
    keep: Query | None = None,
    cumulative: bool = False,
    is_signed: bool = False,
) -> RunningMerge:
    """Return the merge for partials of this schema: the groups, then the columns of the states.

    `groups` is None if partials are rows; `keep` selects those that can matter. `cumulative` is for
    a landmark: nothing leaves, and only the merge is kept. If it `is_signed`, partials may be
    negative, and a group of which all is zero is gone.
    """
    merge: TableMerge
    if keep is not None:
        merge = FirstRows(keep, schema, duck)
    elif groups is None:
        merge = RowConcatenation(schema)
    else:
        merge = RelationalMerge(groups, states, schema, duck)
    if groups is not None and can_be_dense(groups, states, schema):
        if cumulative:
            return GrowingMerge(groups, states, merge, is_signed=is_signed)
        return DenseMerge(groups, states, merge)
    if cumulative:
        return CumulativeMerge(merge)
    return ChunkTree(merge)


class RelationalMerge:
    """Merge with a GROUP BY over all rows, in one statement, for all states and types.

    A single table is merged too, since it may contain the rows of several.
    """

    __slots__ = ("_prepared", "schema")

    def __init__(
        self, groups: tuple[str, ...], states: tuple[State, ...], schema: pa.Schema, duck: Duck
    ) -> None:
        assert len(schema) > 0, "a partial has columns"
        self.schema = schema
        self._prepared = prepare(duck, merge_query(groups, states), {PARTIALS: schema})

    def __call__(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Merge tables, the oldest first."""
        return _merged(self._prepared, self.schema, tables)

    def describe(self) -> str:
        """Describe what it does."""
        return "a GROUP BY in DuckDB"

    def close(self) -> None:
        """Release the lent relation of the partials."""
        self._prepared.close()


class FirstRows:
    """Keeps the rows that a query selects of several tables: the first of each group."""

    __slots__ = ("_prepared", "schema")

    def __init__(self, keep: Query, schema: pa.Schema, duck: Duck) -> None:
        assert len(schema) > 0, "a partial has columns"
        self.schema = schema
        self._prepared = prepare(duck, keep, {PARTIALS: schema})

    def __call__(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Concatenate tables, the oldest first, and keep the first rows of them."""
        return _merged(self._prepared, self.schema, tables)

    def describe(self) -> str:
        """Describe what it does."""
        return "keeping the first rows of each group, in DuckDB"

    def close(self) -> None:
        """Release the lent relation of the partials."""
        self._prepared.close()


def _merged(merge: Prepared, schema: pa.Schema, tables: Sequence[pa.Table]) -> pa.Table:
    """Return what a statement makes of the rows of several tables."""
    table = pa.concat_tables(tables) if tables else empty_table(schema)
    if table.num_rows == 0:  # without groups, an aggregate over nothing would be one row
        return empty_table(schema)
    if table.num_rows == 1:
        return table
    merged = merge.run(**{PARTIALS: table})
    return merged if merged.schema.equals(schema) else merged.cast(schema)


class RowConcatenation:
    """Concatenates rows, without a copy unless they come in tiny pieces."""

    __slots__ = ("schema",)

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def __call__(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Concatenate tables."""
        if not tables:
            return empty_table(self.schema)
        table = pa.concat_tables(tables)
        chunks = table.column(0).num_chunks if table.num_columns else 1
        return table.combine_chunks() if table.num_rows < _SMALL_CHUNK * chunks else table

    def describe(self) -> str:
        """Describe what it does."""
        return "concatenating rows"

    def close(self) -> None:
        """Do nothing, since there is nothing to release."""
