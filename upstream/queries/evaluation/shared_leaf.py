"""The leaf of all queries over the same windows and groups: one statement, and one running merge.

    rows of chunks -> one partial, by DuckDB -> one running merge -> the columns of each query

If the one statement fails, because a query fails on some rows, the partial of each query is
evaluated by itself, and rows that fail are left out for that query only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from ...database.failure import DatabaseError
from ...held_interrupt import HeldInterrupt
from ...rows.arrow_data import empty_table
from ...rows.arrow_words import one_array
from ..partials.dense_merge import DenseMerge
from ..partials.dense_window import can_be_dense
from ..partials.running_merge import RelationalMerge
from ..results.failing_rows import FailedRows
from ..rewriting.shared_partial import shared
from .chunk_partials import ChunkPartials

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..chunks.cutter import Piece
    from ..chunks.windows import Span
    from ..results.failing_rows import FailingRows
    from ..rewriting.shared_partial import LeafInCommon, OwnColumns, SharedPartial
    from ..rewriting.split_query import Leaf
    from .increments import Take


def is_dense(leaf: Leaf) -> bool:
    """Tell whether NumPy can merge the partials of a leaf."""
    groups, schema = leaf.groups, leaf.schema
    return groups is not None and schema is not None and can_be_dense(groups, leaf.states, schema)


class OwnLeaf:
    """What one query has of the shared leaf."""

    __slots__ = ("_alone", "_duck", "_merge", "_owned", "_partials", "failing", "leaf", "schema")

    def __init__(
        self, leaf: LeafInCommon, schema: pa.Schema, duck: Duck, failing: FailingRows
    ) -> None:
        self.leaf = leaf
        self.failing = failing
        """The rows that the query fails on."""
        assert leaf.leaf.schema is not None
        self.schema = leaf.leaf.schema
        """The schema of its merged relation."""
        self._alone = shared([leaf])
        self._duck = duck
        self._partials = ChunkPartials(self._alone.leaf, schema, duck)
        self._merge: RelationalMerge | None = None
        self._owned: list[OwnColumns] = []
        """Its columns in the merged relations of all, the oldest first."""

    @property
    def merge_query(self) -> None:
        """None, since its relation is already merged."""
        return None

    def evaluated(self, pieces: Sequence[Piece], number: int) -> tuple[list[Piece], FailedRows]:
        """Evaluate rows for this query only; those that fail are left out and noted."""
        failed = FailedRows(number)
        return self._partials.of(pieces, failed), failed

    def widened(self, partial: pa.Table, own: OwnColumns, schema: pa.Schema) -> pa.Table:
        """Return a partial of this query as one of all; it has no values for the others."""
        [mine] = self._alone.owned
        names = {own.rows: mine.rows}
        names |= {own.names[name]: mine.names[name] for name in mine.names}
        names |= {name: name for name in self._groups}
        arrays = [
            partial.column(names[field.name])
            if field.name in names
            else pa.nulls(partial.num_rows, field.type)
            for field in schema
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def merged(self, partials: Sequence[pa.Table], own: OwnColumns) -> pa.Table:
        """Merge partials of all queries for this one only; raises DatabaseError if that fails."""
        leaf = self._alone.leaf
        if self._merge is None:
            assert leaf.groups is not None
            assert leaf.schema is not None
            self._merge = RelationalMerge(leaf.groups, leaf.states, leaf.schema, self._duck)
        [mine] = self._alone.owned
        names = {mine.rows: own.rows}
        names |= {mine.names[name]: own.names[name] for name in mine.names}
        merge = self._merge
        tables = [
            pa.Table.from_arrays(
                [part.column(names.get(name, name)) for name in merge.schema.names],
                schema=merge.schema,
            )
            for part in partials
        ]
        return self._of(merge(tables), mine)

    def owns(self, columns: OwnColumns) -> None:
        """Note what its columns are in the merged relations from now on."""
        self._owned = [*self._owned, columns]

    def of(self, table: pa.Table) -> pa.Table:
        """Return the merged relation of this query from that of all: its groups and columns."""
        return self._of(table, self.columns_in(table))

    def columns_in(self, table: pa.Table) -> OwnColumns:
        """Return its columns in a merged relation of all."""
        names = set(table.schema.names)
        return next(own for own in self._owned if own.rows in names)

    def with_rows(self, table: pa.Table, rows: pa.ChunkedArray) -> pa.Table:
        """Return the rows of a table for which this query has read any; `rows` says how many."""
        numbers = one_array(rows)
        if numbers.null_count:
            numbers = numbers.fill_null(0 if self._groups else -1)
        is_there = numbers.to_numpy() >= (1 if self._groups else 0)
        return table if is_there.all() else table.filter(pa.array(is_there))

    def _of(self, table: pa.Table, own: OwnColumns) -> pa.Table:
        columns = [table.column(own.names.get(name, name)) for name in self.schema.names]
        found = pa.Table.from_arrays(columns, schema=self.schema)
        return self.with_rows(found, table.column(own.rows))

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._partials.close()
        if self._merge is not None:
            self._merge.close()

    @property
    def _groups(self) -> tuple[str, ...]:
        assert self.leaf.leaf.groups is not None
        return self.leaf.leaf.groups


class _Built:
    """The statements and the merge of some queries together.

    A row that one of the queries fails on is left out for this query only. So from the first such
    row on, queries are `apart`: they have no column in common.
    """

    __slots__ = ("_of_all", "apart", "merge", "number", "owned", "partials", "schema")

    def __init__(
        self,
        leaves: Sequence[OwnLeaf],
        schema: pa.Schema,
        duck: Duck,
        *,
        before: _Built | None = None,
        apart: bool = False,
    ) -> None:
        self.number: int = 0 if before is None else before.number + 1
        self.apart = apart
        common = None if before is None else before._of_all.common
        prefix = f"__c{self.number}_"
        of_all = shared([each.leaf for each in leaves], prefix, common=common, apart=apart)
        self._of_all: SharedPartial = of_all
        leaf = of_all.leaf
        assert leaf.groups is not None
        assert leaf.schema is not None
        self.owned = dict(zip(leaves, of_all.owned, strict=True))
        self.schema = leaf.schema
        self.partials = ChunkPartials(leaf, schema, duck)
        merge = RelationalMerge(leaf.groups, leaf.states, leaf.schema, duck)
        self.merge = DenseMerge(leaf.groups, leaf.states, merge)
        if before is not None:
            self._take_over(before)

    def _take_over(self, before: _Built) -> None:
        """Begin with the partials from before."""
        names = {name: name for name in self.schema.names}
        for leaf, own in self.owned.items():
            names[own.rows] = before.owned[leaf].rows
            names |= {own.names[name]: was for name, was in before.owned[leaf].names.items()}
        columns = [names[name] for name in self.schema.names]
        self.merge.stage(
            [
                (chunk, table.select(columns).rename_columns(self.schema.names))
                for chunk, table in before.merge.staged()
            ]
        )
        self.merge.forget(before.merge.oldest)
        self.merge.advance(*before.merge.position)

    def close(self) -> None:
        self.partials.close()
        self.merge.close()


class SharedLeaf:
    """One leaf over one input for several queries, which join before the first row.

    When half of the queries have left, nothing is computed for them any more.
    """

    __slots__ = ("_built", "_duck", "_input", "_leaves", "_number")
    keeps_rows = False

    def __init__(self, number: int, schema: pa.Schema, duck: Duck) -> None:
        self._number = number
        self._input = schema
        self._duck = duck
        self._leaves: list[OwnLeaf] = []
        self._built: _Built | None = None

    @property
    def schema(self) -> pa.Schema:
        """The schema of the merged relation."""
        return self._now_built().schema

    @property
    def merge_query(self) -> None:
        """None, since the table from `merged` is already merged."""
        return None

    def add(self, leaf: OwnLeaf) -> None:
        """Add what a query computes; no row has been read yet."""
        self._leaves = [*self._leaves, leaf]
        self._release()

    def remove(self, leaf: OwnLeaf) -> None:
        """Remove a query; one is left at least."""
        self._leaves = [each for each in self._leaves if each is not leaf]

    def reads(self, number: int) -> bool:
        """Tell whether the leaf reads an input."""
        return number == self._number

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        """Evaluate rows; rows that a query fails on are left out and noted for that query."""
        built = self._now_built()
        noted: list[tuple[FailingRows, FailedRows]] = []
        try:
            found = built.partials.of(pieces, None)
        except DatabaseError:
            built = self._now_apart(built)
            found = []
            for leaf in self._leaves:
                partials, own_failed = leaf.evaluated(pieces, number)
                own = built.owned[leaf]
                found += [(at, leaf.widened(each, own, built.schema)) for at, each in partials]
                noted.append((leaf.failing, own_failed))

        def take() -> None:
            built.merge.stage(found)
            for failing, rows in noted:
                if rows.rows:
                    failing.add(rows.by_place(), rows.error)

        return take

    def settle(self) -> None:
        """Merge what has arrived, as far as possible before it is requested."""
        self._now_built().merge.settle()

    def advance(self, spans: Sequence[Span]) -> None:
        """Move to a window, so that rows for it are merged as they arrive."""
        self._now_built().merge.advance(*spans[self._number])

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the merged relation of a window that is not forgotten."""
        return self._now_built().merge.merged(*spans[self._number])

    def own_merged(self, leaf: OwnLeaf, spans: Sequence[Span]) -> pa.Table | None:
        """Merge a window for one query only; None if the window is forgotten."""
        built, span = self._now_built(), spans[self._number]
        if span.first < built.merge.oldest:
            return None
        parts = [table for chunk, table in built.merge.staged() if span.first <= chunk < span.end]
        return leaf.merged(parts, built.owned[leaf]) if parts else empty_table(leaf.schema)

    def forget(self, before: Sequence[int]) -> None:
        """Forget earlier chunks, once the window has passed them."""
        self._now_built().merge.forget(before[self._number])

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return 0 if self._built is None else self._built.merge.rows

    def describe(self) -> str:
        """Describe how the leaf is merged."""
        merge = self._now_built().merge.describe()
        return f"each chunk is evaluated once, and chunks are merged by {merge}"

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._release()

    def _release(self) -> None:
        built, self._built = self._built, None
        if built is not None:
            built.close()

    def _now_built(self) -> _Built:
        """Return the statements for the queries that there are."""
        built = self._built
        if built is None:
            return self._build()
        is_mostly_unused = len(built.owned) >= 2 * len(self._leaves)
        return self._build(built, apart=built.apart) if is_mostly_unused else built

    def _now_apart(self, built: _Built) -> _Built:
        """Return the statements for queries that have no column in common."""
        return built if built.apart else self._build(built, apart=True)

    def _build(self, before: _Built | None = None, *, apart: bool = False) -> _Built:
        made = _Built(self._leaves, self._input, self._duck, before=before, apart=apart)
        with HeldInterrupt():
            for leaf, own in made.owned.items():
                leaf.owns(own)
            self._release()
            self._built = made
        return made
