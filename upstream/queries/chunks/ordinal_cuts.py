"""Divides batches into numbered chunks in the order of arrival: by count, object, or punctuation.

Chunks are numbered from 0 on. A division says after which rows of a batch a chunk ends. Everything
else is the same for all three sorts. A chunk may have rows of several batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...rows.group_codes import has_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .cutter import Piece
    from .grid import Integers

    Truths = NDArray[np.bool_]


class OpenChunk(NamedTuple):
    """The chunk that the next row may belong to."""

    number: int = 0
    rows: int = 0
    """How many rows it has so far."""
    last: pa.Table | None = None
    """The columns of its last row that the division asks for; None if it has no rows."""


class OrdinalCut(NamedTuple):
    """A batch in pieces, the rows of one chunk each, in the order of chunks.

    `failed` are chunks with how many rows were left out there, because the condition that ends
    chunks fails on them, and `error` is how it failed.
    """

    pieces: list[Piece]
    chunk: OpenChunk
    failed: tuple[tuple[int, int], ...] = ()
    error: str | None = None

    @property
    def open(self) -> int:
        """The first chunk that can still get rows after this batch."""
        return self.chunk.number

    @property
    def left_out(self) -> int:
        """How many rows were left out."""
        return sum(count for _, count in self.failed)


class Divided(NamedTuple):
    """Where chunks end in a batch: before the rows at these ascending places.

    A place may be 0, if the first row does not belong to the open chunk, and the number of rows, if
    the last row ended its chunk. `failed` tells which rows of the batch are in no chunk.
    """

    ends: Integers
    failed: Truths | None = None
    error: str | None = None


class Division(Protocol):
    """Says where chunks end."""

    @property
    def remembers(self) -> Sequence[str]:
        """The columns of the open chunk's last row that are needed to divide the next batch."""

    def divide(self, rows: pa.Table, chunk: OpenChunk) -> Divided:
        """Say where chunks end in a batch that has rows; this changes nothing."""


class OrdinalCuts:
    """Divides the batches of one input; nothing has changed until `took`.

    >>> cuts = OrdinalCuts(ByCount(2))
    >>> cut = cuts.cut(pa.table({"x": [1, 2, 3]}))
    >>> [(chunk, rows["x"].to_pylist()) for chunk, rows in cut.pieces], cut.open, cuts.open
    ([(0, [1, 2]), (1, [3])], 1, 0)
    >>> cuts.took(cut)
    >>> cuts.open, cuts.end()
    (1, 2)
    """

    __slots__ = ("_chunk", "_division")

    def __init__(self, division: Division) -> None:
        self._division = division
        self._chunk = OpenChunk()

    @property
    def open(self) -> int:
        """The first chunk that can still get rows."""
        return self._chunk.number

    @property
    def open_rows(self) -> int:
        """How many rows the open chunk has so far."""
        return self._chunk.rows

    def cut(self, rows: pa.Table, at_least: int = 0) -> OrdinalCut:
        """Divide a batch; no row gets a number below `at_least`. O(rows).

        If `at_least` is greater than the open chunk, a new chunk begins there.
        """
        chunk = self._open_from(at_least)
        if not rows.num_rows:
            return OrdinalCut([], chunk)
        ends, failed, error = self._division.divide(rows, chunk)
        left_out: tuple[tuple[int, int], ...] = ()
        if failed is not None and failed.any():
            left_out = _by_chunk(np.flatnonzero(failed), ends, chunk.number)
            ends = ends - np.cumsum(np.append(0, failed))[ends]
            rows = rows.filter(pa.array(~failed))
        places = [0, *ends.tolist(), rows.num_rows]
        pieces = [
            (chunk.number + number, rows.slice(place, end - place))
            for number, (place, end) in enumerate(pairwise(places))
            if end > place
        ]
        return OrdinalCut(pieces, self._open_after(chunk, rows, places), left_out, error)

    def took(self, cut: OrdinalCut) -> None:
        """Take a batch that was cut. This cannot fail."""
        self._chunk = cut.chunk

    def end(self, at_least: int = 0) -> int:
        """End the open chunk, even if it has no rows, and return the number of the new one.

        If chunks before `at_least` have ended already, the chunk `at_least` ends.
        """
        self._chunk = OpenChunk(self._open_from(at_least).number + 1)
        return self._chunk.number

    def _open_from(self, at_least: int) -> OpenChunk:
        return self._chunk if at_least <= self._chunk.number else OpenChunk(at_least)

    def _open_after(self, chunk: OpenChunk, rows: pa.Table, places: Sequence[int]) -> OpenChunk:
        """Return the open chunk after rows whose chunks begin at all places but the last."""
        ended = len(places) - 2
        count = places[-1] - places[-2]
        if not ended:
            count += chunk.rows
        last = chunk.last
        if places[-1] > places[-2] and (columns := self._division.remembers):
            # a copy, since a slice would keep the whole batch in memory
            last = rows.select([*columns]).take([rows.num_rows - 1])
        return OpenChunk(chunk.number + ended, count, last)


@dataclass(frozen=True, slots=True)
class ByCount:
    """Chunks of a number of rows."""

    count: int
    remembers: ClassVar[Sequence[str]] = ()

    def divide(self, rows: pa.Table, chunk: OpenChunk) -> Divided:
        """Say where chunks end in a batch."""
        return Divided(np.arange(self.count - chunk.rows, rows.num_rows + 1, self.count))


@dataclass(frozen=True, slots=True)
class ByObject:
    """Chunks of consecutive rows with the same values of some columns, as for GROUP BY.

    NULL equals NULL, NaN equals NaN, and -0.0 equals 0.0. The columns must have types that
    `has_places` accepts: every type that a stream can have but INTERVAL, BIGNUM and nested ones.
    """

    remembers: Sequence[str]

    def divide(self, rows: pa.Table, chunk: OpenChunk) -> Divided:
        """Say where chunks end in a batch."""
        values = rows.select([*self.remembers])
        if chunk.last is not None:
            values = pa.concat_tables([chunk.last, values])
        is_new = np.logical_or.reduce([_changes(column) for column in values.columns])
        return Divided(np.flatnonzero(is_new) + 1 - (values.num_rows - rows.num_rows))


class LastRows(NamedTuple):
    """Which rows of a batch are the last of their chunk, and on which ones the condition fails."""

    is_last: Truths
    failed: Truths | None = None
    error: str | None = None


class FindsLastRows(Protocol):
    """Finds the rows of a batch that are the last of their chunk."""

    def __call__(self, rows: pa.Table) -> LastRows:
        """Find them; a row on which the condition fails is not the last of a chunk."""


@dataclass(frozen=True, slots=True)
class ByPunctuation:
    """Chunks that end with the rows for which a condition is true."""

    find: FindsLastRows
    remembers: ClassVar[Sequence[str]] = ()

    def divide(self, rows: pa.Table, chunk: OpenChunk) -> Divided:
        """Say where chunks end in a batch."""
        is_last, failed, error = self.find(rows)
        return Divided(np.flatnonzero(is_last) + 1, failed, error)


def _by_chunk(rows: Integers, ends: Integers, first: int) -> tuple[tuple[int, int], ...]:
    """Return the chunks of some rows, each with how many of the rows it has."""
    chunks, counts = np.unique(np.searchsorted(ends, rows, side="right"), return_counts=True)
    return tuple(zip((chunks + first).tolist(), counts.tolist(), strict=True))


def _changes(column: pa.ChunkedArray) -> Truths:
    """Tell of each value but the first whether it differs from the value before, as in GROUP BY."""
    assert has_places(column.type), "DuckDB compares other types, such as intervals, otherwise"
    before, after = column[:-1], column[1:]
    changes = pc.not_equal(before, after)
    if pa.types.is_floating(column.type):
        changes = pc.and_not(changes, pc.and_(pc.is_nan(before), pc.is_nan(after)))
    if column.null_count:
        changes = pc.coalesce(changes, pc.not_equal(before.is_null(), after.is_null()))
    is_new: Truths = changes.to_numpy().astype(np.bool_)  # without values, NumPy chooses float64
    return is_new
