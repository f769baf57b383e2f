"""Windows by increments: each row is in a partial once, and partials are merged for each window.

    rows of chunks -> partials, by DuckDB -> running merges -> finish

What has failed somewhere in between leaves all of it as it was: partials of all leaves are computed
first and taken in together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ...queues.held_interrupt import HeldInterrupt
from ..results.description import BY_INCREMENTS, OVER_KEPT_ROWS
from ..results.failing_rows import FailedRows

if TYPE_CHECKING:
    import pyarrow as pa

    from ..chunks.chunk_rows import ChunkRows
    from ..chunks.cutter import Piece
    from ..chunks.windows import Span
    from ..results.failing_rows import FailingRows
    from ..sql.trees import Query
    from .finish import Finish

Take = Callable[[], None]
"""Takes in what was computed. Nothing can fail in it, so that several are called together."""


class Leaf(Protocol):
    """One leaf of a query: its partials, and their merge for a window."""

    schema: pa.Schema
    keeps_rows: bool
    """Whether it merges nothing, and all that the query asks is left to the finish."""

    @property
    def merge_query(self) -> Query | None:
        """The query that merges what `merged` gives, if that is left to the finish."""

    def reads(self, number: int) -> bool:
        """Tell whether it reads an input."""

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        """Evaluate rows of an input; those that fail are left out and noted.

        Nothing has changed until what is returned is called.
        """

    def settle(self) -> None:
        """Merge what came, as far as that can be done before it is asked for."""

    def advance(self, spans: Sequence[Span]) -> None:
        """Move on to a window, and merge what came for it; windows never go back."""

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the merged relation of a window that is not forgotten."""

    def forget(self, before: Sequence[int]) -> None:
        """Say that chunks below, by input, are not asked for again."""

    @property
    def rows(self) -> int:
        """How many rows are held. O(what is held)."""

    def close(self) -> None:
        """Give back what it has of DuckDB."""

    def describe(self) -> str:
        """Return how it is merged, in words."""


class Increments:
    """The leaves of a query, and the finish over what they merge."""

    __slots__ = ("_failing", "_finish", "_leaves")

    def __init__(self, leaves: Sequence[Leaf], finish: Finish, failing: FailingRows) -> None:
        self._leaves = leaves
        self._finish = finish
        self._failing = failing

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return sum(leaf.rows for leaf in self._leaves)

    def feed(self, number: int, rows: ChunkRows, end: int) -> None:
        """Take the rows of an input before a chunk that are in no partial yet."""
        pieces = rows.unfed(end)
        if not pieces:
            return
        take = self.prepared(number, pieces)
        with HeldInterrupt():
            take()
            rows.take_as_fed(pieces)

    def prepared(self, number: int, pieces: Sequence[Piece]) -> Take:
        """Evaluate rows of an input; what is returned takes them in."""
        failed = FailedRows(number)
        takes = [leaf.feed(number, pieces, failed) for leaf in self._leaves if leaf.reads(number)]

        def take() -> None:
            for each in takes:
                each()
            self._failing.add(failed.by_place(), failed.error)

        return take

    def settle(self) -> None:
        """Merge what came, as far as that can be done before it is asked for."""
        for leaf in self._leaves:
            leaf.settle()

    def advance(self, spans: Sequence[Span]) -> None:
        """Move on to a window, and merge what came for it."""
        for leaf in self._leaves:
            leaf.advance(spans)

    def table(self, spans: Sequence[Span], bounds: Mapping[str, pa.Table]) -> pa.Table:
        """Return the result for a window, of which the query reads these bounds."""
        return self._finish.run([leaf.merged(spans) for leaf in self._leaves], bounds)

    def forget(self, before: Sequence[int]) -> None:
        """Say that chunks below, by input, are in no window any more."""
        for leaf in self._leaves:
            leaf.forget(before)
        self._failing.forget(before)

    def describe(self) -> tuple[str, ...]:
        """Return how each leaf is merged, in words."""
        return tuple(leaf.describe() for leaf in self._leaves)

    @property
    def way(self) -> str:
        """What this way of evaluation is called."""
        is_kept = all(leaf.keeps_rows for leaf in self._leaves)
        return OVER_KEPT_ROWS if is_kept else BY_INCREMENTS

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._finish.close()
        for leaf in self._leaves:
            leaf.close()
