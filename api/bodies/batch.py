"""What a body comes to: columns of good updates, and which rows were bad."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any, TypeVar, cast

import msgspec
import numpy as np

from upstream import Key
from upstream.columns import Column

Entry = TypeVar("Entry")


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

    def without(self, rows: Collection[int], reason: str) -> Batch:
        """Return the batch without some rows of its columns, which are rejected for a reason."""
        count = len(self.keys)
        indices = range(count) if self.indices is None else self.indices
        out = frozenset(rows)
        kept = [row for row in range(count) if row not in out]
        rejections = [*self.rejections, *(Rejection(indices[row], reason) for row in rows)]
        return Batch(
            keys=_picked(self.keys, kept),
            values=_picked(self.values, kept),
            times=None if self.times is None else _picked(self.times, kept),
            rows=self.rows,
            is_single=self.is_single,
            rejections=sorted(rejections, key=attrgetter("index")),
            indices=[indices[row] for row in kept],
        )

    def listed_values(self) -> Sequence[object]:
        """Return the values as Python objects."""
        return _listed(self.values)

    def columns(self) -> tuple[Column, Column, Column | None]:
        """Return the keys, the values and the times."""
        return self.keys, self.values, self.times


def _picked(column: Sequence[Entry], rows: list[int]) -> Sequence[Entry]:
    """Return some rows of a column, in a column of its kind."""
    if isinstance(column, list):
        return type(column)(column[row] for row in rows)
    array: Any = column
    return cast(Sequence[Entry], array.take(np.array(rows, dtype=np.int64)))


def _listed(column: Sequence[Entry]) -> Sequence[Entry]:
    """Return a column of Python objects, whatever holds it."""
    array: Any = column
    return column if isinstance(column, list) else array.to_pylist()
