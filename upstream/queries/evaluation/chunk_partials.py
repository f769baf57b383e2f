"""Partials of rows by chunk: the statements that a leaf over one input runs as rows arrive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ...database.failure import DatabaseError
from ..chunks.pieces import by_chunk, portions, with_chunks
from ..results.failing_rows import spare
from ..sql.lending import prepare
from ..sql.names import STEP

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..chunks.cutter import Piece
    from ..results.failing_rows import FailedRows
    from ..rewriting.split_query import Leaf

_SHORT: Final = 4_096
"""Chunks with fewer rows than this are evaluated together, if several wait."""
_TOGETHER: Final = 65_536
"""At most this many rows are evaluated together."""


class ChunkPartials:
    """Evaluates the partial of a leaf over rows of one input."""

    __slots__ = ("_by_chunk", "_partial", "_relation", "schema")

    def __init__(self, leaf: Leaf, schema: pa.Schema, duck: Duck) -> None:
        self._relation = f"chunk_{leaf.windows[0]}"
        self._partial = prepare(duck, leaf.partial, {self._relation: schema})
        with_chunk = schema.append(pa.field(STEP, pa.int64()))
        self._by_chunk = prepare(duck, leaf.partial_by_step, {self._relation: with_chunk})
        self.schema = self._partial.schema

    def of(self, pieces: Sequence[Piece], failed: FailedRows | None) -> list[Piece]:
        """Return the partials of rows; rows that fail are left out and noted.

        Without a place to note them, DatabaseError is raised if any row fails.
        """
        found: list[Piece] = []
        short: list[Piece] = []
        for piece in pieces:
            if piece[1].num_rows < _SHORT:
                short.append(piece)
            else:
                found += self._of(*piece, failed)
        for together in portions(short, _TOGETHER):
            found += self._together(together, failed)
        return found

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._partial.close()
        self._by_chunk.close()

    def _of(self, chunk: int, rows: pa.Table, failed: FailedRows | None) -> list[Piece]:
        if failed is None:
            return [(chunk, self._run(rows))]
        spared = spare(self._run, rows)
        for place, count in spared.left_out:
            failed.note(chunk, range(place, place + count), spared.error)
        return [(chunk, partial) for partial in spared.results]

    def _run(self, rows: pa.Table) -> pa.Table:
        return self._partial.run(**{self._relation: rows})

    def _together(self, pieces: list[Piece], failed: FailedRows | None) -> list[Piece]:
        if len(pieces) > 1:
            try:
                return by_chunk(self._by_chunk.run(**{self._relation: with_chunks(pieces)}))
            except DatabaseError:
                pass  # one by one, so that the rows that fail can be found
        return [partial for piece in pieces for partial in self._of(*piece, failed)]
