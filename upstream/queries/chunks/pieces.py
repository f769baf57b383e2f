"""Combines pieces of rows with a column for their chunks, and separates them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ..sql.names import STEP
from .cutter import cut_by_chunk

if TYPE_CHECKING:
    from .cutter import Piece
    from .grid import Integers


def portions(pieces: Iterable[Piece], most_rows: int) -> list[list[Piece]]:
    """Return pieces in lists of at most this many rows, but at least one piece each."""
    found: list[list[Piece]] = []
    room = 0
    for piece in pieces:
        if not found or piece[1].num_rows > room:
            found.append([])
            room = most_rows
        found[-1].append(piece)
        room -= piece[1].num_rows
    return found


def with_chunks(pieces: Sequence[Piece]) -> pa.Table:
    """Return the rows of all pieces, with a column for their chunks in front."""
    chunks, tables = zip(*pieces, strict=True)
    column = np.repeat(np.array(chunks, np.int64), [table.num_rows for table in tables])
    return pa.concat_tables(tables).append_column(STEP, pa.array(column))


def by_chunk(rows: pa.Table) -> list[Piece]:
    """Return rows by chunk. The first column has the chunk and is removed."""
    rows, chunks = _in_order(rows)
    return cut_by_chunk(rows.remove_column(0), chunks)


def with_their_chunks(rows: pa.Table) -> list[Piece]:
    """Return rows by chunk. The first column has the chunk and stays."""
    return cut_by_chunk(*_in_order(rows))


def _in_order(rows: pa.Table) -> tuple[pa.Table, Integers]:
    """Return rows in the order of their chunks, and their chunks."""
    chunks: Integers = rows.column(0).to_numpy()
    if bool((chunks[1:] < chunks[:-1]).any()):
        order = np.argsort(chunks, kind="stable")
        rows, chunks = rows.take(order), chunks[order]
    return rows, chunks
