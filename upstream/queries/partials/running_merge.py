"""What keeps the merged relation of a window while it slides, and which of them to take.

DataCell merges the partials of all n steps for each window ("Merging Intermediates", section 3).
Here a slide costs about one merge:

- `DenseMerge`, where groups can be numbered and states are sums, minima, maxima or moments of
  numbers: the chunk that enters is added to columns in place, and the one that leaves taken away.
  On 512 chunks it is 5 to 50 times as fast as the next, at 20 to 200,000 groups.
- `ChunkTree`, for everything else, rows too: merges of eight chunks, of 64, and so on are kept, and
  the few that make up the window merged in one statement.
- `CumulativeMerge` for a landmark, of which nothing leaves.

A join of streams, of which every slide changes all chunks, has `PairMerge`, which is none of these.

An exception in any of these (Ctrl-C, no memory, a failing statement) leaves the merge answering
rightly: to stage partials is to add them to a ring, and whatever is derived from them is let go
before it changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from ...rows.arrow_data import empty_table
from ..rewriting.relations import PARTIALS, merge_query
from ..sql.lending import prepare
from .chunk_tree import ChunkTree
from .cumulative_merge import CumulativeMerge
from .dense_merge import DenseMerge
from .dense_window import can_be_dense

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...database.duck import Duck
    from ..chunks.cutter import Piece
    from ..rewriting.split_query import State

    TableMerge: TypeAlias = "RelationalMerge | RowConcatenation"
    """Makes one table of several, the oldest first."""

_SMALL_CHUNK: Final = 2_048
"""Chunks of fewer rows on average are copied together: each costs the reader of the table."""


class RunningMerge(Protocol):
    """The merge of the partials of chunks, which is cheap at a position that moves forward.

    The position is empty until it first moves. A chunk in it is held, and so is one behind it until
    it is forgotten; what is staged for a chunk that is forgotten is ignored. Only `merged` raises
    what the data cause (a sum that overflows); the position can move on after that.
    """

    def stage(self, partials: Sequence[Piece]) -> None:
        """Take parts of partials, with their chunks. Nothing can fail in this.

        A chunk at or after the position's end waits; one before it is amended.
        """

    def settle(self) -> None:
        """Merge what was staged, as far as that can be done before it is asked for."""

    def advance(self, first: int, end: int) -> None:
        """Move the position to the chunks `[first, end)`, of which neither ever falls.

        What is staged there is merged as it comes. Costs by the chunks that enter and leave,
        however far it is.
        """

    def merged(self, first: int, end: int) -> pa.Table:
        """Return the merge of these chunks: one row per group, in the schema of the partials.

        Where neither bound is before the position's, the position moves there. Else the chunks are
        merged beside it, which need not be fast; where the merge is cumulative, it is that of all
        chunks up to the position's end.
        """

    def forget(self, before: int) -> None:
        """Say that chunks below are not asked for again once the position has passed them."""

    @property
    def rows(self) -> int:
        """How many rows are held. O(what is held)."""

    def describe(self) -> str:
        """Say in a phrase how it merges."""

    def close(self) -> None:
        """Give back what it has of DuckDB; it is of no more use."""


def running_merge(
    groups: tuple[str, ...] | None,
    states: tuple[State, ...],
    schema: pa.Schema,
    duck: Duck,
    *,
    cumulative: bool = False,
) -> RunningMerge:
    """Return what merges partials of this schema: the groups, then the columns of the states.

    `groups` is None where partials are rows. `cumulative` is for a landmark: nothing leaves, and
    nothing but the merge is kept.
    """
    merge: TableMerge
    if groups is None:
        merge = RowConcatenation(schema)
    else:
        merge = RelationalMerge(groups, states, schema, duck)
    if cumulative:
        return CumulativeMerge(merge)
    if groups is not None and can_be_dense(groups, states, schema):
        return DenseMerge(groups, states, merge)
    return ChunkTree(merge)


class RelationalMerge:
    """Merge by a GROUP BY over all the rows, in one statement, whatever the states and types are.

    One table alone is merged too: it may be rows of several.
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
