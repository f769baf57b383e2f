"""What views keep of a stream: where it was read to, and the merged partials of their leaves.

Two views whose leaves over a stream are the same use one state: each row is evaluated and held once
for both (the stream pipelines of the views paper, section 3.3). A view means all rows since it was
made, so a state is shared only while no row has come since it was made itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ...held_interrupt import HeldInterrupt
from ..chunks.windows import Span
from ..partials.grouped_state import GroupedState
from ..results.failing_rows import FailingRows
from .increments import prepared

if TYPE_CHECKING:
    from ...tables.log import Batch, Log, LogReader
    from ..partials.grouped_state import Read
    from .stream_leaf import StreamLeaf

_CHUNK: Final = 0
"""All rows of a stream are in one chunk."""
ALL: Final = (Span(_CHUNK, _CHUNK + 1),)
"""The window of a view, which has all rows. A state has one input."""
_TOGETHER: Final = 65_536
"""Batches are evaluated together up to this many rows."""


class StreamState:
    """The leaves of some views over all rows of a stream, with the rows that failed.

    The last share that is closed closes the state.
    """

    __slots__ = (
        "_is_begun",
        "_log",
        "_merged",
        "failing",
        "leaves",
        "reader",
        "shares",
        "stream",
        "taken",
    )

    def __init__(
        self,
        stream: str,
        log: Log,
        reader: LogReader,
        leaves: Sequence[StreamLeaf],
        *,
        is_begun: bool,
    ) -> None:
        """Begin without rows, or with saved ones (`is_begun`) that the caller restores."""
        self.stream = stream
        self._log = log
        self._is_begun = is_begun
        self.reader = reader
        self.leaves = leaves
        self.failing = FailingRows()
        self.taken = 0
        """How many portions of rows were taken in."""
        self.shares: tuple[Share, ...] = ()
        """The parts that views have in it."""
        self._merged: dict[StreamLeaf, pa.Table] = {}
        """What was merged for one view and can be read by the others, until more rows come."""
        for leaf in leaves:
            leaf.merge.advance(ALL)  # so that rows are merged before a view is read

    def share(self, view: str) -> Share:
        """Let a view use the state."""
        share = Share(self, view)
        self.shares = (*self.shares, share)
        return share

    def is_empty(self, log: Log) -> bool:
        """Tell whether it begins where a new reader of this log would begin.

        What a moment lets readers see does not matter, because a new view begins behind all rows.
        """
        if self._log is not log or self._is_begun:
            return False
        return self.reader.origin == self.reader.position == log.rows

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return sum(leaf.merge.rows for leaf in self.leaves)

    def take_in(self) -> None:
        """Read what waits into the partials; do nothing if another view has just done so."""
        merges = [leaf.merge for leaf in self.leaves]
        for batches in _portions(self.reader.peek()):
            rows = pa.concat_tables([batch.rows for batch in batches])
            take = prepared(merges, self.failing, 0, [(_CHUNK, rows)])
            with HeldInterrupt():
                self.reader.take(rows.num_rows)
                take()
                self.taken += 1
                self._merged.clear()
                for share in self.shares:
                    share.note(batches[0].arrival)
        for merge in merges:
            merge.settle()

    def merged(self, leaf: StreamLeaf, read: Read) -> pa.Table:
        """Return the merged relation of a leaf, of which `read` may leave out groups.

        The whole relation is computed once for all views. What one view leaves out, another one may
        need, so other relations are computed for each view.
        """
        if read is not GroupedState.table:
            return leaf.merge.read(ALL, read)
        found = self._merged.get(leaf)
        if found is None:
            found = leaf.merge.merged(ALL)
            if len(self.shares) > 1:
                self._merged[leaf] = found
        return found

    def close(self, share: Share) -> None:
        """Let a view use the state no longer."""
        self.shares = tuple(each for each in self.shares if each is not share)
        if not self.shares:
            self.reader.close()
            for leaf in self.leaves:
                leaf.close()


class Share:
    """The part that one view has in a state. For the view, it is the reader of a stream."""

    __slots__ = ("_view", "state", "unanswered")

    def __init__(self, state: StreamState, view: str) -> None:
        self._view = view
        self.state = state
        self.unanswered: float | None = None
        """When the first row arrived that the state has, and no answer of this view."""

    @property
    def others(self) -> list[str]:
        """The names of the other views that use the state; none once this share is closed."""
        shares = self.state.shares
        return [each._view for each in shares if each is not self] if self in shares else []

    @property
    def origin(self) -> int:
        """Where the view began to read."""
        return self.state.reader.origin

    @property
    def deletions(self) -> None:
        """None, since a view of all rows follows no deletions."""
        return None

    @property
    def position(self) -> int:
        """Up to where rows were taken in."""
        return self.state.reader.position

    @property
    def waiting(self) -> int:
        """How many rows wait to be taken in."""
        return self.state.reader.waiting

    @property
    def waiting_rows(self) -> int:
        """How many rows wait to be taken in."""
        return self.state.reader.waiting_rows

    def first_waiting(self) -> float | None:
        """Return the arrival of the first row that waits, or None."""
        return self.state.reader.first_waiting()

    def note(self, arrival: float) -> None:
        """Note that rows were taken in, of which the first arrived at this moment."""
        if self.unanswered is None:
            self.unanswered = arrival

    def close(self) -> None:
        """Use the state no longer."""
        self.state.close(self)


def _portions(batches: Sequence[Batch]) -> list[list[Batch]]:
    """Return batches in lists of at most so many rows, but at least one batch each."""
    found: list[list[Batch]] = []
    room = 0
    for batch in batches:
        if not found or batch.rows.num_rows > room:
            found.append([])
            room = _TOGETHER
        found[-1].append(batch)
        room -= batch.rows.num_rows
    return found
