"""A join of which some pairs of rows fail: these are left out, and all others stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...database.failure import DatabaseError
from ..results.failing_rows import spare

if TYPE_CHECKING:
    import pyarrow as pa

    from ..chunks.cutter import Piece
    from ..chunks.windows import Span
    from ..results.failing_rows import Place

Join = Callable[[int, "pa.Table", Mapping[int, "pa.Table"]], "pa.Table"]
"""Joins rows of an input with those of the others."""


class Joined(NamedTuple):
    """What a join gave, and how many pairs were left out of it, by where their rows are."""

    results: list[pa.Table]
    failed: Counter[Place]
    error: str | None


class SparingJoin:
    """Joins rows of one input with those of the others.

    Where one row fails by itself, it may be for a row of the other input: then that one is looked
    for, so that the pairs of the first with all others stay. `chunks` tell the chunk of each row,
    by input; they are asked for only if a row fails.
    """

    def __init__(
        self, join: Join, number: int, chunks: Mapping[int, Callable[[], list[int]]]
    ) -> None:
        self._join = join
        self._number = number
        self._chunks = chunks
        self._failed: Counter[Place] = Counter()
        self._found: list[pa.Table] = []
        self._error: str | None = None

    def run(self, rows: pa.Table, others: Mapping[int, pa.Table]) -> Joined:
        """Join all rows but those that fail."""
        try:
            return Joined([self._join(self._number, rows, others)], Counter(), None)
        except DatabaseError:
            return self._spared(rows, others)

    def _spared(self, rows: pa.Table, others: Mapping[int, pa.Table]) -> Joined:
        import numpy as np
        import pyarrow as pa

        own = self._chunks[self._number]()
        numbered = rows.append_column(_PLACE, pa.array(np.arange(rows.num_rows)))

        def join(part: pa.Table) -> pa.Table:
            plain = part.drop_columns([_PLACE])
            try:
                return self._join(self._number, plain, others)
            except DatabaseError:
                if part.num_rows != 1 or len(others) != 1:
                    raise
            self._spare_pairs(plain, own[part.column(_PLACE)[0].as_py()], others)
            return self._join(self._number, plain.slice(0, 0), others)

        spared = spare(join, numbered)
        for place, count in spared.left_out:
            for chunk in own[place : place + count]:
                self._failed[((self._number, chunk),)] += 1
        error = spared.error or self._error
        return Joined([*spared.results, *self._found], self._failed, error)

    def _spare_pairs(self, row: pa.Table, own: int, others: Mapping[int, pa.Table]) -> None:
        """Join one row with those of the only other input that it does not fail with."""
        [(other, table)] = others.items()
        chunks = self._chunks[other]()
        spared = spare(lambda half: self._join(self._number, row, {other: half}), table)
        self._found += spared.results
        self._error = spared.error or self._error
        for place, count in spared.left_out:
            for chunk in chunks[place : place + count]:
                pair = sorted([(self._number, own), (other, chunk)])
                self._failed[tuple(pair)] += 1


_PLACE = "__place_0"
"""Our column with the place of each row."""


def chunks_of(pieces: Iterable[Piece], span: Span) -> list[int]:
    """Return the chunk of each row of the pieces in a span."""
    return [
        chunk
        for chunk, rows in pieces
        if span.first <= chunk < span.end
        for _ in range(rows.num_rows)
    ]
