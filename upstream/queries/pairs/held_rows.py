"""The rows of one input that are held for later partners, in the order of their places.

Rows are held in pieces that are sorted by place. So rows leave at the front of a piece, without a
copy. Small pieces are combined into larger ones, so that a row is copied a few times in all, and
there are never many pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ALONE: Final = (1 << 63) - 1
"""The first meeting of a row that has no partner yet."""
_LARGE: Final = 1 << 16
"""Pieces of this many rows are not combined with others."""


class HeldPiece(NamedTuple):
    """Rows with their places, in ascending order.

    `met` is, for each row, the least place at which it has met a partner. `numbers` tell the rows
    of an input apart. Both are None if they are not needed. `copied` is how many rows the memory
    has that the piece keeps alive.
    """

    rows: pa.Table
    places: NDArray[np.int64]
    met: NDArray[np.int64] | None
    numbers: NDArray[np.int64] | None
    copied: int

    def between(self, first: int, last: int) -> HeldPiece:
        """Return the rows with places from `first` to `last`, without a copy."""
        start = int(np.searchsorted(self.places, first, "left"))
        end = int(np.searchsorted(self.places, last, "right"))
        return self if end - start == len(self.places) else self._slice(start, end)

    def _slice(self, start: int, end: int) -> HeldPiece:
        return HeldPiece(
            self.rows.slice(start, max(0, end - start)),
            self.places[start:end],
            None if self.met is None else self.met[start:end],
            None if self.numbers is None else self.numbers[start:end],
            self.copied,
        )

    def alone(self) -> pa.Table:
        """Return the rows that have met no partner."""
        return self.rows.filter(pa.array(self.met == ALONE))

    def split(self, before: int) -> tuple[HeldPiece, HeldPiece]:
        """Return the rows with a place before this one, and the others."""
        cut = int(np.searchsorted(self.places, before, "left"))
        return self._slice(0, cut), self._slice(cut, len(self.places))

    def taken(self, order: NDArray[np.int64]) -> HeldPiece:
        """Return a copy of some rows."""
        return HeldPiece(
            self.rows.take(pa.array(order)),
            self.places[order],
            None if self.met is None else self.met[order],
            None if self.numbers is None else self.numbers[order],
            len(order),
        )


class ReachedRows:
    """The rows of some pieces, numbered from 0 on."""

    __slots__ = ("_ends", "pieces", "places")

    def __init__(self, pieces: Sequence[HeldPiece]) -> None:
        self.pieces = pieces
        self._ends = np.cumsum([len(piece.places) for piece in pieces], dtype=np.int64)
        self.places = _joined([piece.places for piece in pieces])

    def __len__(self) -> int:
        return len(self.places)

    def met(self) -> NDArray[np.int64]:
        """Return the first meetings of the rows."""
        return _joined([piece.met for piece in self.pieces if piece.met is not None])

    def numbers(self) -> NDArray[np.int64]:
        """Return what tells the rows apart."""
        return _joined([piece.numbers for piece in self.pieces if piece.numbers is not None])

    def table(self, columns: Sequence[str], number: str) -> pa.Table:
        """Return some columns of the rows, and a column with their numbers."""
        numbers = pa.array(np.arange(len(self), dtype=np.int64))
        if not columns:  # a table without columns has no length
            return pa.table({number: numbers})
        table = pa.concat_tables([piece.rows.select(columns) for piece in self.pieces])
        return table.append_column(number, numbers)

    def take(self, rows: NDArray[np.int64]) -> pa.Table:
        """Copy rows by their numbers. Each piece is copied from alone, never as a whole."""
        if len(self.pieces) == 1:
            return self.pieces[0].rows.take(pa.array(rows))
        order = np.argsort(rows, kind="stable")
        is_sorted = bool(np.all(rows[1:] >= rows[:-1]))
        ordered = rows if is_sorted else rows[order]
        cuts = np.searchsorted(ordered, self._ends, "left")
        parts, start = [], 0
        for piece, end, cut in zip(self.pieces, self._ends, cuts, strict=True):
            first = int(end) - len(piece.places)
            if cut > start:
                parts.append(piece.rows.take(pa.array(ordered[start:cut] - first)))
            start = int(cut)
        table = pa.concat_tables(parts) if parts else self.pieces[0].rows.slice(0, 0)
        if is_sorted:
            return table
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return table.combine_chunks().take(pa.array(back))

    def by_piece(
        self, rows: NDArray[np.int64]
    ) -> list[tuple[HeldPiece, NDArray[np.int64], NDArray[np.bool_]]]:
        """Return the pieces that have some rows: where the rows are in each, and which they are."""
        found = []
        which = np.searchsorted(self._ends, rows, "right")
        for i, piece in enumerate(self.pieces):
            mask = which == i
            if mask.any():
                first = int(self._ends[i]) - len(piece.places)
                found.append((piece, rows[mask] - first, mask))
        return found


class HeldRows:
    """Rows that wait for partners."""

    __slots__ = ("_next", "_pieces", "_tells_apart", "_tracks")

    def __init__(self, *, tracks: bool, tells_apart: bool) -> None:
        self._pieces: list[HeldPiece] = []
        self._tracks = tracks
        self._tells_apart = tells_apart
        self._next = 0
        """The number of the next row."""

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return sum(len(piece.places) for piece in self._pieces)

    def piece(self, rows: pa.Table, places: NDArray[np.int64]) -> HeldPiece:
        """Return new rows as a piece; the rows have the order of their places in it."""
        count = len(places)
        met = np.full(count, ALONE, np.int64) if self._tracks else None
        numbers = np.arange(self._next, self._next + count) if self._tells_apart else None
        piece = HeldPiece(rows, places, met, numbers, count)
        if np.all(places[1:] >= places[:-1]):
            return piece
        return piece.taken(np.argsort(places, kind="stable"))

    def between(self, first: int, last: int) -> ReachedRows:
        """Return the rows with places from `first` to `last`."""
        within = [piece.between(first, last) for piece in self._pieces]
        return ReachedRows([piece for piece in within if len(piece.places)])

    def with_piece(self, piece: HeldPiece) -> list[HeldPiece]:
        """Return the pieces with one more; small ones are combined."""
        pieces = [*self._pieces, piece]
        while len(pieces) > 1 and _are_small(*pieces[-2:]):
            pieces[-2:] = [_combined(*pieces[-2:])]
        return pieces

    def hold(self, pieces: list[HeldPiece]) -> None:
        """Hold the pieces that `with_piece` returned. Nothing can fail here."""
        self._next += sum(len(piece.places) for piece in pieces) - self.rows
        self._pieces = pieces

    def without(self, before: int) -> tuple[list[HeldPiece], list[HeldPiece]]:
        """Return what leaves if the rows with places before this one leave, and what stays."""
        gone, kept = [], []
        for piece in self._pieces:
            left, rest = piece.split(before)
            if len(left.places):
                gone.append(left)
            if len(rest.places):
                is_sparse = 2 * len(rest.places) < rest.copied
                kept.append(rest.taken(np.arange(len(rest.places))) if is_sparse else rest)
        return gone, kept

    def keep(self, pieces: list[HeldPiece]) -> None:
        """Hold only what stays. Nothing can fail here."""
        self._pieces = pieces

    def beyond(self, place: int) -> int:
        """Return how many rows have a greater place. O(pieces)."""
        found = [
            len(piece.places) - int(np.searchsorted(piece.places, place, side="right"))
            for piece in self._pieces
        ]
        return sum(found)

    def first_alone(self) -> int | None:
        """Return the least place of a row that has met no partner."""
        found = [piece.places[piece.met == ALONE] for piece in self._pieces]
        return min((int(places[0]) for places in found if len(places)), default=None)

    def _check(self) -> None:
        """Assert every invariant."""
        for piece in self._pieces:
            assert len(piece.places) == piece.rows.num_rows > 0
            assert np.all(piece.places[1:] >= piece.places[:-1])
            assert (piece.met is not None) == self._tracks
            assert (piece.numbers is not None) == self._tells_apart
            assert 2 * len(piece.places) >= piece.copied


def _are_small(one: HeldPiece, other: HeldPiece) -> bool:
    return len(one.places) < _LARGE and len(one.places) <= 2 * len(other.places)


def _combined(one: HeldPiece, other: HeldPiece) -> HeldPiece:
    rows = pa.concat_tables([one.rows, other.rows]).combine_chunks()
    places = _joined([one.places, other.places])
    met = None if one.met is None or other.met is None else _joined([one.met, other.met])
    numbers = None
    if one.numbers is not None and other.numbers is not None:
        numbers = _joined([one.numbers, other.numbers])
    piece = HeldPiece(rows, places, met, numbers, len(places))
    if one.places[-1] <= other.places[0]:
        return piece
    return piece.taken(np.argsort(places, kind="stable"))


def _joined(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(arrays) if arrays else np.empty(0, np.int64)
