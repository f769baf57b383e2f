"""What a body comes to: columns of good updates, and which rows were bad."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from upstream import Key
from upstream.queues.columns import Column


class Rejection(msgspec.Struct, frozen=True, gc=False):
    """A row that was not taken in: its place in the body, from 0, and why."""

    index: int
    reason: str


class Batch(msgspec.Struct, frozen=True):
    """The updates of a body, as `Stream.enqueue_many` takes them.

    The columns are lists, or Arrow arrays (times a NumPy array) where the body was one of these.
    """

    keys: Sequence[Key]
    values: Sequence[object]
    times: Sequence[float] | None
    """None if the times of all updates are the server's."""
    rows: int
    """How many rows the body has, with those that were rejected."""
    is_single: bool = False
    """Whether the body is one update rather than a list with one."""
    rejections: Sequence[Rejection] = ()
    """All rows that were rejected, in their order."""
    indices: Sequence[int] | None = None
    """The place in the body of each row of the columns; None if all rows are there."""

    def columns(self) -> tuple[Column, Column, Column | None]:
        """Return the keys, the values and the times."""
        return self.keys, self.values, self.times
