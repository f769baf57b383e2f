"""The updates of a body: columns of the valid ones, and which rows were rejected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar, cast

import msgspec
import numpy as np

from upstream import Key
from upstream.columns import Column, FiniteTimes

Entry = TypeVar("Entry")


class Rejection(msgspec.Struct, frozen=True, gc=False):
    """A row that was not taken in: its place in the body, counted from 0, and the reason."""

    index: int
    reason: str


class Batch(msgspec.Struct, frozen=True):
    """The updates of a body, as `Stream.enqueue_many` takes them.

    The columns are lists, or Arrow arrays (times a NumPy array) where the body was one of these.
    """

    keys: Sequence[Key]
    values: Sequence[object]
    times: Sequence[float] | None
    """None if all updates have the service's time."""
    rows: int
    """How many rows the body has, including those that were rejected."""
    is_single: bool = False
    """Whether the body is one update rather than a list with one update."""
    rejections: Sequence[Rejection] = ()
    """All rows that were rejected, in their order."""
    indices: Sequence[int] | None = None
    """The place in the body of each row of the columns; None if no row was rejected."""

    def without(self, rows: Collection[int], reason: str) -> Batch:
        """Return the batch without some rows of its columns, which are rejected with `reason`."""
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
    """Return some rows of a column, as a column of the same kind."""
    if isinstance(column, list):
        return type(column)(column[row] for row in rows)
    array: Any = column
    return cast(Sequence[Entry], array.take(np.array(rows, dtype=np.int64)))


def _listed(column: Sequence[Entry]) -> Sequence[Entry]:
    """Return a column as a list of Python objects."""
    array: Any = column
    return column if isinstance(column, list) else array.to_pylist()


Now: TypeAlias = Callable[[], float]


def filled(times: list[float | None], now: Now) -> FiniteTimes | None:
    """Return times with `now` for the missing ones, or None if all are missing.

    The given times are finite floats already.
    """
    given = cast(list[float], times)
    try:
        sum(given)  # the fastest way to find out whether one is missing
    except TypeError:
        if not any(time is not None for time in times):
            return None
        moment = now()
        return FiniteTimes(moment if time is None else time for time in times)
    return FiniteTimes(given)
