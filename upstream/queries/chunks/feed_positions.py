"""Where the chunks of an input began in its stream, so that they can be read again from there.

A chunk by time may be begun too early, since rows before it do no harm: they belong to earlier
chunks, or are late. So in a batch whose rows are not in order, all chunks begin with the batch. A
chunk that is numbered in the order of arrival has to begin with exactly its first row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...tables.log import Batch
    from .cutter import Cut


class FeedStart(NamedTuple):
    """Where an input begins to read its stream again.

    `position` is the number of the first row. `chunk` is the number of the chunk that begins there,
    if chunks are numbered in the order of arrival.
    """

    stream: str
    position: int
    chunk: int | None = None


class FeedPositions:
    """Notes where chunks begin. `start` is where the input begins to read."""

    __slots__ = ("_first", "_newest", "start")

    def __init__(self, start: FeedStart) -> None:
        self.start = start
        self._first: dict[int, int] = {} if start.chunk is None else {start.chunk: start.position}
        """The position of each chunk that was noted and not forgotten."""
        self._newest = start.chunk
        """The newest chunk that had rows, if chunks are numbered in the order of arrival."""

    def took(self, batch: Batch, cut: Cut) -> None:
        """Note the chunks that begin in a batch; this cannot fail."""
        position = batch.first
        if self._newest is None:
            for chunk, rows in cut.pieces:
                self._first.setdefault(chunk, position)
                position += rows.num_rows if cut.is_in_order else 0
            return
        is_known = cut.ordinals is not None and not cut.ordinals.failed
        for chunk, rows in cut.pieces:
            if chunk > self._newest:
                self._newest = chunk
                if is_known:  # otherwise rows that are in no chunk may be before it
                    self._first[chunk] = position
            position += rows.num_rows

    def before(self, chunk: int, position: int) -> FeedStart:
        """Return where to begin so that no row of this chunk or of later ones is missing.

        All rows before a position were read. O(noted chunks).
        """
        stream = self.start.stream
        if self._newest is None:
            known = [first for each, first in self._first.items() if each >= chunk]
            return FeedStart(stream, min(known, default=position))
        number = self._from(chunk)
        return FeedStart(stream, self._first[number], number)

    def forget(self, chunk: int) -> None:
        """Forget what is not needed to begin at this chunk or at later ones."""
        oldest = chunk if self._newest is None else self._from(chunk)
        for each in [each for each in self._first if each < oldest]:
            del self._first[each]

    def _from(self, chunk: int) -> int:
        """Return the newest noted chunk that is not after this one, or the oldest one."""
        return max((each for each in self._first if each <= chunk), default=min(self._first))
