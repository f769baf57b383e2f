"""States without an inverse in a window that slides: two stacks, and nothing is ever subtracted.

    oldest                                                 newest
    |---- front ----|---------- middle ----------|---- back ----|
                      next front <--- built so far

At the back is the merge of what came last. The front is the merge of the oldest chunks, which was
made chunk by chunk from the newest to the oldest; when the oldest leaves, what was there before it
is put back, which was kept for its groups only. When the front is used up, another takes its place.

That one is built a few chunks a slide while the present front is used up, so that no slide costs
much more than the others (as in DABA: Tangwongsan, Hirzel and Schneider, "Low-Latency
Sliding-Window Aggregation in Worst-Case Constant Time", 2017). It is built of the middle, which is
the back of some slides ago: as soon as the back has as many chunks as slides are left until its
oldest leaves, it becomes the middle. So front and middle are half a window each, and a slide merges
one chunk into the back, takes one out of the front, and pushes one to the next front: O(their
groups).

What is late for a chunk of the next front has this begun anew. What is late for a chunk in front is
kept in the middle, and when that chunk leaves, all is built anew, at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .stacked_state import Stack
from .touched_rows import TouchedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...rows.arrow_words import Integers
    from ..chunks.ring import Ring
    from .dense_columns import Part
    from .live_rows import LiveRows, Moves
    from .stacked_state import StackedState

_BEFORE_ALL: Final = -(1 << 63)


class TwoStacks:
    """The merges of several states over the chunks of a window."""

    __slots__ = (
        "_back_from",
        "_built_from",
        "_inexact",
        "_middle_from",
        "_states",
        "_touched",
        "is_broken",
    )

    def __init__(self, states: Sequence[StackedState]) -> None:
        self._states = states
        self.is_broken = True
        """Whether the stacks are to be built anew before they are read."""
        self._middle_from = self._back_from = _BEFORE_ALL
        """The first chunks of the middle and of the back, whether there are such or not."""
        self._built_from = _BEFORE_ALL
        """From which chunk of the middle on there is a next front."""
        self._touched = TouchedRows()
        """Rows whose front, middle and back are not merged yet."""
        self._inexact = 0

    @property
    def is_exact(self) -> bool:
        """Whether no part of the window has values that are too large to be merged here."""
        return self._inexact == 0

    def count(self, part: Part, rows: Integers, live: LiveRows) -> None:
        """Count what a part that enters the window has of NULLs and large values. O(rows)."""
        self._inexact += not part.is_exact
        for state, values in zip(self._states, part.stacked, strict=True):
            state.count(rows, values, live)

    def discount(self, part: Part, rows: Integers) -> None:
        """Count the same of a part no more, which leaves the window. O(rows)."""
        self._inexact -= not part.is_exact
        for state, values in zip(self._states, part.stacked, strict=True):
            state.discount(rows, values)

    def enter(self, chunk: int, part: Part, rows: Integers) -> None:
        """Merge a part of any chunk, which is counted. O(rows)."""
        if self.is_broken:
            return
        to = Stack.BACK if chunk >= self._back_from else Stack.MIDDLE
        for state, values in zip(self._states, part.stacked, strict=True):
            state.add(to, rows, values.arrays)
        self._touched.add(rows)
        self.amend(chunk)

    def leave(self, chunk: int, part: Part, rows: Integers) -> None:
        """Take away a part of the oldest chunk. O(rows)."""
        before, part.before = part.before, None
        if self.is_broken:
            return
        if chunk >= self._middle_from:
            self._turn()
        if before is None or chunk >= self._middle_from:
            self.is_broken = True
            return
        for state, arrays in zip(self._states, before, strict=True):
            state.restore_front(rows, arrays)
        self._touched.add(rows)

    def amend(self, chunk: int) -> None:
        """Begin the next front anew if this chunk, which has other parts now, is in it."""
        if self._built_from <= chunk < self._back_from and not self.is_broken:
            for state in self._states:
                state.clear(Stack.NEXT)
            self._built_from = self._back_from

    def move(self, moves: Moves) -> None:
        """Move rows into gaps."""
        for state in self._states:
            state.move(moves)  # gaps are touched: a part has left them

    def build(self, ring: Ring[Part], window: tuple[int, int], by: int, live: LiveRows) -> None:
        """Build some of the next front, before the window moves by so many chunks."""
        if self.is_broken or by <= 0:
            return
        first, end = window
        if self._middle_from == self._back_from:
            held = ring.chunks(self._back_from, end)
            if held and held[0] - first <= len(held):
                for state in self._states:
                    state.swap(Stack.MIDDLE, Stack.BACK)
                self._built_from = self._back_from = end
        waiting = ring.chunks(self._middle_from, self._built_from)
        if waiting:
            slides_left = max(waiting[0] + 1 - first, by)
            count = -(-len(waiting) * by // slides_left)
            for chunk in reversed(waiting[-count:]):
                self._push(Stack.NEXT, ring.of(chunk), live)
            self._built_from = self._middle_from if count == len(waiting) else waiting[-count]

    def rebuild(self, ring: Ring[Part], window: tuple[int, int], live: LiveRows) -> None:
        """Build everything anew: the older half of the chunks in front. O(rows of all parts)."""
        for state in self._states:
            for stack in Stack:
                state.clear(stack)
        chunks = ring.chunks(*window)
        half = len(chunks) // 2
        for chunk in reversed(chunks[:half]):
            self._push(Stack.FRONT, ring.of(chunk), live)
        for part in (part for chunk in chunks[half:] for part in ring.of(chunk)):
            for state, values in zip(self._states, part.stacked, strict=True):
                state.add(Stack.BACK, live.rows_of(part.places), values.arrays)
        self._middle_from = self._built_from = self._back_from = chunks[half] if half else window[0]
        for state in self._states:
            state.merge(np.arange(live.count))
        self._touched.clear()
        self.is_broken = False

    def columns(self, live: LiveRows) -> list[pa.Array]:
        """Return the columns of all states by rows; broken stacks are to be rebuilt before."""
        assert not self.is_broken
        rows = self._touched.take(live.count)
        for state in self._states:
            state.merge(rows)
        return [column for state in self._states for column in state.columns(live)]

    def _push(self, to: Stack, parts: Sequence[Part], live: LiveRows) -> None:
        """Push the parts of a chunk to a front, the newest first."""
        for part in reversed(parts):
            rows = live.rows_of(part.places)
            pairs = zip(self._states, part.stacked, strict=True)
            part.before = [state.push(to, rows, values.arrays) for state, values in pairs]

    def _turn(self) -> None:
        """Take the next front for the one that is used up, if all of the middle is in it."""
        if self._built_from > self._middle_from:
            return
        for state in self._states:
            state.swap(Stack.FRONT, Stack.NEXT)
            state.clear(Stack.MIDDLE)
        self._middle_from = self._built_from = self._back_from

    def _check(self, parts: Sequence[Part], live: LiveRows) -> None:
        """Assert what always holds, given the parts of the window."""
        assert self._inexact == sum(not part.is_exact for part in parts)
        assert self._middle_from <= self._built_from <= self._back_from
        for state in self._states:
            state._check(live)
