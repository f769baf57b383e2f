"""Incremental windows: each row is in one partial, and partials are merged for each window.

    rows of chunks -> partials, by DuckDB -> running merges -> finish

A failure anywhere leaves everything unchanged: the partials of all leaves are computed first, and
then taken in together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial as bind
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from ...held_interrupt import HeldInterrupt
from ..partials.cumulative_merge import CumulativeMerge
from ..partials.growing_merge import GrowingMerge
from ..partials.running_merge import running_merge
from ..results.answer import BY_INCREMENTS, OVER_KEPT_ROWS
from ..results.failing_rows import FailedRows
from .chunk_partials import ChunkPartials

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..chunks.chunk_rows import ChunkRows
    from ..chunks.cutter import Piece
    from ..chunks.windows import Span
    from ..partials.grouped_state import Read
    from ..results.failing_rows import FailingRows
    from ..rewriting import split_query
    from ..sql.trees import Query
    from .finish import Finishing

Take = Callable[[], None]
"""Takes in what was computed. It cannot fail, so several can be called together."""


class Leaf(Protocol):
    """One leaf of a query: its partials, and their merge for a window."""

    keeps_rows: bool
    """Whether it merges nothing, so that the finish does all that the query asks for."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of the tables from `merged`."""

    @property
    def merge_query(self) -> Query | None:
        """The query that merges the tables from `merged`, if the finish has to do that."""

    def reads(self, number: int) -> bool:
        """Tell whether the leaf reads an input."""

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        """Evaluate rows of an input; rows that fail are left out and noted.

        Nothing has changed until the returned function is called.
        """

    def settle(self) -> None:
        """Merge what has arrived, as far as possible before it is requested."""

    def advance(self, spans: Sequence[Span]) -> None:
        """Move to a window, and merge what has arrived for it; windows never move back."""

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the merged relation of a window that is not forgotten."""

    def forget(self, before: Sequence[int]) -> None:
        """Forget earlier chunks, by input."""

    @property
    def rows(self) -> int:
        """How many rows are held. O(what is held)."""

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""

    def describe(self) -> str:
        """Describe how the leaf is merged."""


class Increments:
    """The leaves of a query, and the finish over their merged relations."""

    __slots__ = ("_failing", "_finish", "_hold", "_leaves")

    def __init__(self, leaves: Sequence[Leaf], finish: Finishing, failing: FailingRows) -> None:
        self._leaves = leaves
        self._finish = finish
        self._failing = failing
        self._hold = HeldInterrupt()

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return sum(leaf.rows for leaf in self._leaves)

    def feed(self, number: int, rows: ChunkRows, end: int) -> None:
        """Take in the rows of an input before a chunk that are in no partial yet."""
        pieces = rows.unfed(end)
        if not pieces:
            return
        take = self.prepared(number, pieces)
        with self._hold:
            take()
            rows.take_as_fed(pieces)

    def prepared(self, number: int, pieces: Sequence[Piece]) -> Take:
        """Evaluate rows of an input, and return a function that takes them in."""
        return prepared(self._leaves, self._failing, number, pieces)

    def settle(self) -> None:
        """Merge what has arrived, as far as possible before it is requested."""
        for leaf in self._leaves:
            leaf.settle()

    def advance(self, spans: Sequence[Span]) -> None:
        """Move to a window, and merge what has arrived for it."""
        for leaf in self._leaves:
            leaf.advance(spans)

    def table(self, spans: Sequence[Span], bounds: Mapping[str, pa.Table]) -> pa.Table:
        """Return the result for a window; `bounds` are the bounds that the query reads."""
        return self._finish.run([leaf.merged(spans) for leaf in self._leaves], bounds)

    def forget(self, before: Sequence[int]) -> None:
        """Forget earlier chunks, by input; no window contains them any more."""
        for leaf in self._leaves:
            leaf.forget(before)
        if self._failing.count:
            self._failing.forget(before)

    @property
    def can_skip(self) -> bool:
        """Whether rows that are only in windows without an answer need not be taken in."""
        return True

    def describe(self) -> tuple[str, ...]:
        """Describe how each leaf is merged."""
        return tuple(leaf.describe() for leaf in self._leaves)

    @property
    def way(self) -> str:
        """The name of this way of evaluation."""
        is_kept = all(leaf.keeps_rows for leaf in self._leaves)
        return OVER_KEPT_ROWS if is_kept else BY_INCREMENTS

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._finish.close()
        for leaf in self._leaves:
            leaf.close()


def prepared(
    leaves: Sequence[Leaf], failing: FailingRows, number: int, pieces: Sequence[Piece]
) -> Take:
    """Evaluate rows of an input, and return a function that takes them into all leaves."""
    failed = FailedRows(number)
    takes = [leaf.feed(number, pieces, failed) for leaf in leaves if leaf.reads(number)]

    def take() -> None:
        for each in takes:
            each()
        if failed.rows:
            failing.add(failed.by_place(), failed.error)

    return take


class ChunkLeaf:
    """A leaf over one input: a partial per chunk, and their running merge."""

    __slots__ = ("_merge", "_new_merge", "_number", "_partials", "keeps_rows", "schema")

    def __init__(
        self,
        leaf: split_query.Leaf,
        schema: pa.Schema,
        duck: Duck,
        *,
        cumulative: bool = False,
        is_signed: bool = False,
    ) -> None:
        [self._number] = leaf.windows
        self.keeps_rows = bool(leaf.reason)
        self._partials = ChunkPartials(leaf, schema, duck)
        self.schema = self._partials.schema
        """The schema of its partials, and of their merge."""
        self._new_merge = bind(
            running_merge,
            *(leaf.groups, leaf.states, self.schema, duck),
            keep=leaf.keep,
            cumulative=cumulative,
            is_signed=is_signed,
        )
        self._merge = self._new_merge()

    def reads(self, number: int) -> bool:
        """Tell whether the leaf reads an input."""
        return number == self._number

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        """Evaluate rows; rows that fail are left out and noted."""
        return bind(self._merge.stage, self._partials.of(pieces, failed))

    def advance(self, spans: Sequence[Span]) -> None:
        """Move to a window, so that rows for it are merged as they arrive."""
        self._merge.advance(*spans[self._number])

    def settle(self) -> None:
        """Merge what has arrived, as far as possible before it is requested."""
        self._merge.settle()

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the merged relation of a window that is not forgotten."""
        return self._merge.merged(*spans[self._number])

    def read(self, spans: Sequence[Span], read: Read) -> pa.Table:
        """Return what `read` reads of a cumulative merge in NumPy; of others, the whole merge.

        It may leave out groups that the finish of a view does not need.
        """
        span = spans[self._number]
        merge = self._merge
        return merge.read(*span, read) if isinstance(merge, GrowingMerge) else merge.merged(*span)

    def forget(self, before: Sequence[int]) -> None:
        """Forget earlier chunks, once the window has passed them."""
        self._merge.forget(before[self._number])

    @property
    def merge_query(self) -> None:
        """None, since the tables from `merged` are already merged."""
        return None

    def saved(self) -> pa.Table:
        """Return the merge of all rows, which must be cumulative, to be restored in such a leaf."""
        return self._cumulative().saved()

    def restore(self, table: pa.Table) -> None:
        """Begin with what was saved; raise ValueError if it has another form."""
        self._cumulative().restore(table)

    def _cumulative(self) -> GrowingMerge | CumulativeMerge:
        assert isinstance(self._merge, GrowingMerge | CumulativeMerge)
        return self._merge

    def reset(self) -> None:
        """Forget everything."""
        merge, self._merge = self._merge, self._new_merge()
        merge.close()

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._merge.close()
        self._partials.close()

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return self._merge.rows

    def describe(self) -> str:
        """Describe how the leaf is merged."""
        return f"each chunk is evaluated once, and chunks are merged by {self._merge.describe()}"
