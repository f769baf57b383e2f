"""Which chunk each row of a batch belongs to: by its time, its arrival, its number or its order.

Each class cuts the batches of one input. A cut changes nothing until it is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..sql.window_clause import Axis
from .cutter import Cut, microseconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...rows.stream_definition import StreamDefinition
    from ...tables.log import Batch, LogReader
    from .cutter import Cutter
    from .ordinal_cuts import OrdinalCuts
    from .progress import Progress


class InputCuts(Protocol):
    """Cuts the batches of one input into chunks."""

    def cut(self, batch: Batch, newest: int | None) -> Cut:
        """Cut a batch; `newest` is how far time had passed before it."""

    def took(self, cut: Cut) -> None:
        """Note that the batch was taken in. It cannot fail."""

    def end_of_open(self, progress: Progress) -> int | None:
        """End the open chunk, and return how far time has passed then; None if none is open.

        It cannot fail.
        """


def cuts_along(
    axis: Axis, definition: StreamDefinition, cutter: Cutter, reader: LogReader
) -> InputCuts:
    """Return what cuts the batches of an input along an axis of time, or by numbers of rows."""
    if axis is Axis.ROWS:
        return NumberCuts(cutter, reader.origin)
    return ArrivalCuts(cutter) if axis is Axis.ARRIVAL else SourceCuts(definition, cutter)


class SourceCuts:
    """Cuts by the times of rows."""

    __slots__ = ("_cutter", "_definition")

    def __init__(self, definition: StreamDefinition, cutter: Cutter) -> None:
        self._definition = definition
        self._cutter = cutter

    def cut(self, batch: Batch, newest: int | None) -> Cut:
        """Cut a batch by the times of its rows."""
        return self._cutter.cut(batch.rows, self._definition.times(batch.rows), newest)

    def took(self, cut: Cut) -> None:
        """Do nothing, since time says what is late."""

    def end_of_open(self, progress: Progress) -> int | None:
        """Return the end of the chunk of the newest row, or how far time has passed beyond it."""
        if progress.newest is None or progress.newest_row is None:
            return None
        return max(progress.newest, self._cutter.end_of_chunk(progress.newest_row))


class ArrivalCuts:
    """Cuts by the arrival of rows."""

    __slots__ = ("_cutter",)

    def __init__(self, cutter: Cutter) -> None:
        self._cutter = cutter

    def cut(self, batch: Batch, newest: int | None) -> Cut:
        """Return a batch as one piece, since its rows arrived together."""
        return self._cutter.cut_one(batch.rows, microseconds(batch.arrival), newest)

    def took(self, cut: Cut) -> None:
        """Do nothing, since time says what is late."""

    def end_of_open(self, progress: Progress) -> int | None:
        """Return None, since the clock ends chunks."""
        return None


class NumberCuts:
    """Cuts by the numbers of rows, counted from the row with the number `origin`."""

    __slots__ = ("_cutter", "_origin")

    def __init__(self, cutter: Cutter, origin: int) -> None:
        self._cutter = cutter
        self._origin = origin

    def cut(self, batch: Batch, newest: int | None) -> Cut:
        """Cut a batch by the numbers of its rows."""
        return self._cutter.cut_counted(batch.rows, batch.first - self._origin)

    def took(self, cut: Cut) -> None:
        """Do nothing, since batches know the numbers of their rows."""

    def end_of_open(self, progress: Progress) -> int | None:
        """Return None, since a window of rows is over when it has its rows."""
        return None


class OrderCuts:
    """Cuts by what the rows say in their order of arrival: counts, objects, punctuations.

    `fail` notes rows that are left out of a chunk, because the condition fails on them.
    """

    __slots__ = ("_fail", "_ordinals")

    def __init__(self, ordinals: OrdinalCuts, fail: Callable[[int, int, str | None], None]) -> None:
        self._ordinals = ordinals
        self._fail = fail

    def cut(self, batch: Batch, newest: int | None) -> Cut:
        """Cut a batch; `newest` is the least number that a chunk can have."""
        found = self._ordinals.cut(batch.rows, newest or 0)
        if not found.pieces:
            return Cut([], found.open, ordinals=found)
        first, last = found.pieces[0][0], found.pieces[-1][0]
        return Cut(found.pieces, found.open, first, last, ordinals=found)

    def took(self, cut: Cut) -> None:
        """Count the rows of a batch."""
        assert cut.ordinals is not None
        self._ordinals.took(cut.ordinals)
        for chunk, count in cut.ordinals.failed:
            self._fail(chunk, count, cut.ordinals.error)

    def end_of_open(self, progress: Progress) -> int:
        """End the open chunk, even one without rows."""
        return self._ordinals.end(progress.newest or 0)
