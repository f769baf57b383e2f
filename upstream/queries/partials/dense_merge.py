"""The running merge of numbers: columns by places of groups, changed in place as the window slides.

The cost of a slide depends on the groups of the chunks that enter and leave, and on a copy of the
returned columns, with 20 groups as with 200,000. Sums of integers and decimals are added and
subtracted exactly (`SubtractedSum`). Sums of doubles, minima, maxima and moments use two stacks
(`TwoStacks`). If values are too large for 64 bits or may overflow, DuckDB merges the window.

The partials in the ring are the truth, and the columns (`DenseWindow`) are derived from them. The
columns are released before they change and taken back when the change is complete. So after an
exception in between there are none, and the next call derives them again.
"""

from __future__ import annotations

from functools import partial as bind
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ...database.failure import DatabaseError
from ..chunks.ring import Ring
from .counted_columns import SubtractedSum
from .dense_window import DenseWindow, Part, column_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..chunks.cutter import Piece
    from ..rewriting.split_query import State
    from .dense_window import Bounds
    from .running_merge import TableMerge

_PARTS: Final = 8
"""If a chunk has this many parts, they are merged into one."""
_BEFORE_ALL: Final = -(1 << 63)
_NOWHERE: Final = (_BEFORE_ALL, _BEFORE_ALL)


class DenseMerge:
    """Adds the chunks that enter the window, and takes out those that leave."""

    __slots__ = (
        "_forgotten",
        "_is_subtracted",
        "_merge",
        "_new_window",
        "_position",
        "_ring",
        "_unread",
        "_window",
    )

    def __init__(self, groups: tuple[str, ...], states: Sequence[State], merge: TableMerge) -> None:
        self._new_window = bind(DenseWindow, groups, states, merge.schema)
        columns = (column_of(state, merge.schema) for state in states)
        self._is_subtracted = [isinstance(column, SubtractedSum) for column in columns]
        self._merge = merge
        self._ring = Ring[Part]()
        self._position: Bounds = _NOWHERE
        self._forgotten = _BEFORE_ALL
        self._unread: list[tuple[int, Part]] = []
        """The staged parts that are not in the window yet."""
        self._window: DenseWindow | None = None
        """The columns at this position, derived from the ring; None if a change was interrupted."""

    def stage(self, partials: Sequence[Piece]) -> None:
        """Take parts of partials, with their chunks. O(1) each."""
        for chunk, partial in partials:
            if partial.num_rows and chunk >= self.oldest:
                part = Part(partial)
                self._unread.append((chunk, part))
                self._ring.add(chunk, part)

    def settle(self) -> None:
        """Merge what was staged into the window, or give its groups places. O(rows)."""
        if self._unread or self._window is None:
            self._keep(self._taken())

    def advance(self, first: int, end: int) -> None:
        """Move the position to the chunks `[first, end)`."""
        if (first, end) == self._position:
            self.settle()
            return
        window = self._taken()
        window.slide(self._ring, self._position, (first, end))
        self._position = first, end
        self._keep(window)
        self._drop()

    def merged(self, first: int, end: int) -> pa.Table:
        """Return the merge of some chunks. O(groups) at the position."""
        if first >= self._position[0] and end >= self._position[1]:
            self.advance(first, end)
            return self._merged_here()
        merged = self._merged_near((first, end))
        return merged if merged is not None else self._plain(first, end)

    def forget(self, before: int) -> None:
        """Forget earlier chunks, once the position has passed them."""
        self._forgotten = max(before, self._forgotten)
        self._drop()

    @property
    def position(self) -> Bounds:
        """The chunks that were last requested: `[first, end)`."""
        return self._position

    @property
    def oldest(self) -> int:
        """The chunk before which chunks are forgotten."""
        return min(self._forgotten, self._position[0])

    def staged(self) -> list[Piece]:
        """Return everything that was staged and is not forgotten, by chunk."""
        return [(chunk, part.table) for chunk in self._ring for part in self._ring.of(chunk)]

    @property
    def rows(self) -> int:
        """How many rows are held. O(parts)."""
        parts = (part for chunk in self._ring for part in self._ring.of(chunk))
        held: int = sum(part.table.num_rows for part in parts)
        return held + (self._window.live.count if self._window is not None else 0)

    def describe(self) -> str:
        """Describe in a phrase how it merges."""
        if all(self._is_subtracted):
            return "adding the chunks that enter and subtracting those that leave, exactly"
        if not any(self._is_subtracted):
            return "two stacks of chunks, where one chunk enters and one leaves"
        return (
            "adding the chunks that enter and subtracting those that leave, where that is exact, "
            "and two stacks of chunks for the other states"
        )

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._merge.close()

    def _taken(self) -> DenseWindow:
        """Release the window for a change, and return it; derive it again if there is none."""
        window, self._window = self._window, None
        if window is None:
            window = self._new_window()
            for chunk in self._ring:
                for part in self._ring.of(chunk):
                    window.read(part)
            window.slide(self._ring, _NOWHERE, self._position)
            return window
        for chunk, part in self._unread:
            window.read(part)
            if chunk in range(*self._position):
                window.enter(chunk, part)
        for chunk in dict.fromkeys(chunk for chunk, _ in self._unread):
            if len(self._ring.of(chunk)) > _PARTS:
                self._join(chunk, window)
        return window

    def _keep(self, window: DenseWindow) -> None:
        """Keep a window that contains everything that was staged."""
        self._unread = []
        self._window = window

    def _join(self, chunk: int, window: DenseWindow) -> None:
        """Merge the parts of a chunk into one."""
        parts = list(self._ring.of(chunk))
        try:
            joined = Part(self._merge([part.table for part in parts]))
        except (DatabaseError, pa.ArrowException):  # the reader of the merge gets the error
            return
        window.read(joined)
        if chunk in range(*self._position):
            window.join(chunk, parts, joined)
        self._ring.replace(chunk, [joined])

    def _merged_here(self) -> pa.Table:
        window = self._window
        if window is None or window.merged is None:
            window = self._taken()
            window.merge(self._ring, self._position)
            self._keep(window)
        if window.merged is None:
            window.merged = self._plain(*self._position)
        return window.merged

    def _merged_near(self, bounds: Bounds) -> pa.Table | None:
        """Slide to another window and back, if possible and less work than merging that window."""
        both = max(bounds[0], self._position[0]), min(bounds[1], self._position[1])
        here, there, shared = (
            len(self._ring.chunks(*each)) for each in (self._position, bounds, both)
        )
        if not all(self._is_subtracted) or 2 * (there + here - 2 * shared) > there:
            return None
        window = self._taken()
        window.slide(self._ring, self._position, bounds)
        window.merge(self._ring, bounds)
        merged = window.merged
        window.slide(self._ring, bounds, self._position)
        self._keep(window)
        return merged

    def _plain(self, first: int, end: int) -> pa.Table:
        return self._merge([part.table for _, part in self._ring.between(first, end)])

    def _drop(self) -> None:
        self._ring.forget(self.oldest)

    def _check(self) -> None:
        """Assert every invariant."""
        self._ring._check()
        assert all(chunk >= self.oldest for chunk in self._ring)
        if self._window is not None and not self._unread:
            self._window._check(self._ring, self._position)
