"""A leaf of a query over one input: a partial per chunk, and their running merge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial as bind
from typing import TYPE_CHECKING, Final

from ...database.failure import DatabaseError
from ..chunks.pieces import by_chunk, portions, with_chunks
from ..partials.running_merge import running_merge
from ..results.failing_rows import spare
from ..sql.lending import prepare
from ..sql.names import STEP

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.duck import Duck
    from ..chunks.cutter import Piece
    from ..chunks.windows import Span
    from ..results.failing_rows import FailedRows
    from ..rewriting.split_query import Leaf
    from .increments import Take

_SHORT: Final = 4_096
"""Chunks of fewer rows than this are evaluated together, if several wait."""
_TOGETHER: Final = 65_536
"""How many rows are evaluated together at most."""


class ChunkLeaf:
    """Evaluate a leaf over one input, chunk by chunk."""

    __slots__ = (
        "_by_chunk",
        "_merge",
        "_new_merge",
        "_number",
        "_partial",
        "_relation",
        "keeps_rows",
        "schema",
    )

    def __init__(
        self, leaf: Leaf, schema: pa.Schema, duck: Duck, *, cumulative: bool = False
    ) -> None:
        import pyarrow as pa

        [self._number] = leaf.windows
        self._relation = f"chunk_{self._number}"
        self.keeps_rows = bool(leaf.reason)
        self._partial = prepare(duck, leaf.partial, {self._relation: schema})
        with_chunk = schema.append(pa.field(STEP, pa.int64()))
        self._by_chunk = prepare(duck, leaf.partial_by_step, {self._relation: with_chunk})
        self.schema = self._partial.schema
        """The schema of its partials, and of what they are merged to."""
        self._new_merge = bind(
            running_merge, leaf.groups, leaf.states, self.schema, duck, cumulative=cumulative
        )
        self._merge = self._new_merge()

    def reads(self, number: int) -> bool:
        """Tell whether it reads an input."""
        return number == self._number

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        """Evaluate rows; those that fail are left out and noted."""
        found: list[Piece] = []
        short: list[Piece] = []
        for piece in pieces:
            if piece[1].num_rows < _SHORT:
                short.append(piece)
            else:
                found += self._partials_of(*piece, failed)
        for together in portions(short, _TOGETHER):
            found += self._together(together, failed)
        return bind(self._merge.stage, found)

    def advance(self, spans: Sequence[Span]) -> None:
        """Move on to a window, so that what comes for it is merged as it comes."""
        self._merge.advance(*spans[self._number])

    def settle(self) -> None:
        """Merge what came, as far as that can be done before it is asked for."""
        self._merge.settle()

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the merged relation of a window that is not forgotten."""
        return self._merge.merged(*spans[self._number])

    def forget(self, before: Sequence[int]) -> None:
        """Say that chunks below are not asked for again once the window has passed them."""
        self._merge.forget(before[self._number])

    @property
    def merge_query(self) -> None:
        """Return None: what `merged` gives is merged."""
        return None

    def reset(self) -> None:
        """Forget everything."""
        merge, self._merge = self._merge, self._new_merge()
        merge.close()

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._merge.close()
        self._partial.close()
        self._by_chunk.close()

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return self._merge.rows

    def describe(self) -> str:
        """Return how it is merged, in words."""
        return f"each chunk is evaluated once; chunks are merged by {self._merge.describe()}"

    def _partials_of(self, chunk: int, rows: pa.Table, failed: FailedRows) -> list[Piece]:
        spared = spare(self._run, rows)
        for place, count in spared.left_out:
            failed.note(chunk, range(place, place + count), spared.error)
        return [(chunk, partial) for partial in spared.results]

    def _run(self, rows: pa.Table) -> pa.Table:
        return self._partial.run(**{self._relation: rows})

    def _together(self, pieces: list[Piece], failed: FailedRows) -> list[Piece]:
        if len(pieces) > 1:
            try:
                return list(by_chunk(self._by_chunk.run(**{self._relation: with_chunks(pieces)})))
            except DatabaseError:
                pass  # one by one, so that rows that fail can be told apart
        return [partial for piece in pieces for partial in self._partials_of(*piece, failed)]
