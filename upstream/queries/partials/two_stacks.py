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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...rows.arrow_words import Integers
    from ..chunks.ring import Ring
    from .dense_window import Part
    from .stacked_state import StackedState

_BEFORE_ALL: Final = -(1 << 63)
_UNREAD: Final = 256
"""When so many parts came and left that nothing was read since, they are merged without."""


class TwoStacks:
    """The merges of several states over the chunks of a window."""

    __slots__ = (
        "_back_from",
        "_built_from",
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
        self._touched: list[Integers] = []
        """The places at which front, middle and back are not merged yet."""

    def enter(self, chunk: int, part: Part) -> None:
        """Merge a part of any chunk, which is counted. O(rows)."""
        if self.is_broken:
            return
        to = Stack.BACK if chunk >= self._back_from else Stack.MIDDLE
        for state, values in zip(self._states, part.stacked, strict=True):
            state.add(to, part.places, values.arrays)
        self._touch(part.places)
        self.amend(chunk)

    def leave(self, chunk: int, part: Part) -> None:
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
            state.restore_front(part.places, arrays)
        self._touch(part.places)

    def amend(self, chunk: int) -> None:
        """Begin the next front anew if this chunk, which has other parts now, is in it."""
        if self._built_from <= chunk < self._back_from and not self.is_broken:
            for state in self._states:
                state.clear(Stack.NEXT)
            self._built_from = self._back_from

    def build(self, ring: Ring[Part], window: tuple[int, int], by: int) -> None:
        """Build some of the next front, before the window moves by so many chunks."""
        if self.is_broken or by <= 0:
            return
        first, end = window
        if self._middle_from == self._back_from:
            held = ring.chunks(max(self._back_from, first), end)  # some may wait behind the window
            if held and held[0] - first <= len(held):
                for state in self._states:
                    state.swap(Stack.MIDDLE, Stack.BACK)
                self._built_from = self._back_from = end
        waiting = ring.chunks(max(self._middle_from, first), self._built_from)
        if waiting:
            slides_left = max(waiting[0] + 1 - first, by)
            count = -(-len(waiting) * by // slides_left)
            for chunk in reversed(waiting[-count:]):
                self._push(Stack.NEXT, ring.of(chunk))
            self._built_from = self._middle_from if count == len(waiting) else waiting[-count]

    def rebuild(self, ring: Ring[Part], window: tuple[int, int]) -> None:
        """Build everything anew: the older half of the chunks in front. O(rows of all parts)."""
        for state in self._states:
            for stack in Stack:
                state.clear(stack)
        chunks = ring.chunks(*window)
        half = len(chunks) // 2
        for chunk in reversed(chunks[:half]):
            self._push(Stack.FRONT, ring.of(chunk))
        for part in (part for chunk in chunks[half:] for part in ring.of(chunk)):
            for state, values in zip(self._states, part.stacked, strict=True):
                state.add(Stack.BACK, part.places, values.arrays)
        self._middle_from = self._built_from = self._back_from = chunks[half] if half else window[0]
        for state in self._states:
            state.merge(slice(None))
        self._touched.clear()
        self.is_broken = False

    def merge(self) -> None:
        """Merge front, middle and back where they have changed; broken ones are rebuilt before."""
        assert not self.is_broken
        if self._touched:
            places = np.concatenate(self._touched)
            for state in self._states:
                state.merge(places)
            self._touched.clear()

    def _touch(self, places: Integers) -> None:
        self._touched.append(places)
        if len(self._touched) > _UNREAD:
            self.merge()

    def _push(self, to: Stack, parts: Sequence[Part]) -> None:
        """Push the parts of a chunk to a front, the newest first."""
        for part in reversed(parts):
            pairs = zip(self._states, part.stacked, strict=True)
            part.before = [state.push(to, part.places, values.arrays) for state, values in pairs]

    def _turn(self) -> None:
        """Take the next front for the one that is used up, if all of the middle is in it."""
        if self._built_from > self._middle_from:
            return
        for state in self._states:
            state.swap(Stack.FRONT, Stack.NEXT)
            state.clear(Stack.MIDDLE)
        self._middle_from = self._built_from = self._back_from

    def _check(self) -> None:
        """Assert what always holds."""
        assert self._middle_from <= self._built_from <= self._back_from
