"""A join in which some pairs of rows fail: these pairs are left out, and all others stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...database.failure import DatabaseError
from ..results.failing_rows import spare

if TYPE_CHECKING:
    import pyarrow as pa

    from ..chunks.cutter import Piece
    from ..results.failing_rows import Place, Spared

Join = Callable[[int, "pa.Table", Mapping[int, "pa.Table"]], "pa.Table"]
"""Joins rows of an input with rows of the others."""

_PLACE = "__place_0"
"""Our column for the place of each row."""


class Joined(NamedTuple):
    """The result of a join, and how many pairs were left out of it, by the places of their rows."""

    results: list[pa.Table]
    failed: Counter[Place]
    error: str | None


def sparing_join(
    join: Join,
    number: int,
    rows: pa.Table,
    others: Mapping[int, pa.Table],
    pieces: Mapping[int, Iterable[Piece]],
) -> Joined:
    """Join rows of one input with rows of the others, except those that fail.

    If a row fails on its own, the cause may be a row of another input. That row is then searched
    for, so that the pairs of the first row with all others stay. `pieces` are the pieces that the
    rows consist of, by input; they are used only if a row fails.
    """
    try:
        return Joined([join(number, rows, others)], Counter(), None)
    except DatabaseError:
        chunks = {
            each: [chunk for chunk, piece in of for _ in range(piece.num_rows)]
            for each, of in pieces.items()
        }
    found: list[pa.Table] = []
    failed: Counter[Place] = Counter()
    error: str | None = None

    def join_part(part: pa.Table) -> pa.Table:
        nonlocal error
        plain = part.drop_columns([_PLACE])
        try:
            return join(number, plain, others)
        except DatabaseError:
            if part.num_rows != 1 or len(others) != 1:
                raise
        [(other, table)] = others.items()
        spared = spare(lambda half: join(number, plain, {other: half}), table)
        found.extend(spared.results)
        error = spared.error or error
        own = number, chunks[number][part.column(_PLACE)[0].as_py()]
        failed.update(tuple(sorted((own, (other, it)))) for it in _left_out(spared, chunks[other]))
        return join(number, plain.slice(0, 0), others)

    spared = spare(join_part, rows.append_column(_PLACE, [np.arange(rows.num_rows)]))
    failed.update(((number, chunk),) for chunk in _left_out(spared, chunks[number]))
    return Joined([*spared.results, *found], failed, spared.error or error)


def _left_out(spared: Spared, chunks: list[int]) -> list[int]:
    """Return the chunk of each row that was left out."""
    return [chunk for place, count in spared.left_out for chunk in chunks[place : place + count]]
