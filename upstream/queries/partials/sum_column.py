"""What a column of sums by rows does, whatever its numbers are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from ...rows.arrow_words import Integers
    from .live_rows import LiveRows, Moves


class SumPart(Protocol):
    """The sums of one part of a step."""

    def enter(self, rows: Integers, live: LiveRows) -> None:
        """Add this part. O(its rows)."""

    def leave(self, rows: Integers) -> None:
        """Subtract this part. O(its rows)."""


class SumColumn(Protocol):
    """Sums by rows, of parts that enter and leave in any order. Of a row of no part it is zero."""

    def read(self, array: pa.Array) -> SumPart:
        """Return what is kept of a part."""

    def move(self, moves: Moves) -> None:
        """Move rows into gaps."""

    def clear(self) -> None:
        """Forget all rows."""

    def column(self, live: LiveRows) -> pa.Array | None:
        """Return the sums of the rows, or None if they cannot be known."""

    def _check(self, live: LiveRows) -> None:
        """Assert what always holds."""
