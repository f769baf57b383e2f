"""States without an inverse in a window that slides: two stacks, and nothing is ever subtracted.

At the back is the merge of what came last. The front is the merge of what was there before, step by
step from the newest to the oldest; when the oldest leaves, what was there before it is put back,
which was kept for its groups only. So a slide costs the groups of the step that enters and of the
step that leaves. When the front is used up, it is built anew from all of the window: O(1) merges a
slide, amortised. What is late for a step in front goes to the back, and when that step leaves the
front is built anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .touched_rows import TouchedRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from ...rows.arrow_words import Integers
    from .live_rows import LiveRows, Moves
    from .stacked_state import StackedState, StateValues


class StackedPart:
    """The states of one part of a step, and what was in front before it."""

    __slots__ = ("before", "is_exact", "places", "values")

    def __init__(self, places: Integers, values: list[StateValues]) -> None:
        self.places = places
        self.values = values
        self.is_exact = all(value.is_exact for value in values)
        self.before: list[StateValues] | None = None


class TwoStacks:
    """The merges of several states over the parts of a window."""

    __slots__ = ("_inexact", "_states", "_touched", "is_broken")

    def __init__(self, states: Sequence[StackedState]) -> None:
        self._states = states
        self.is_broken = False
        """Whether the stacks are to be rebuilt before they are read."""
        self._touched = TouchedRows()
        """Rows whose front and back are not merged yet."""
        self._inexact = 0

    @property
    def is_exact(self) -> bool:
        """Whether no part of the window has values that are too large for 64 bits."""
        return self._inexact == 0

    def enter(self, part: StackedPart, rows: Integers, live: LiveRows) -> None:
        """Add a part of any step. O(rows)."""
        self._inexact += not part.is_exact
        if self.is_broken:
            return
        for state, values in zip(self._states, part.values, strict=True):
            state.reserve(live.count)
            state.push_back(rows, values)
        self._touched.add(rows)

    def leave(self, part: StackedPart, rows: Integers) -> None:
        """Take away a part, the oldest first. O(rows)."""
        self._inexact -= not part.is_exact
        if part.before is None:
            self.is_broken = True
        elif not self.is_broken:
            for state, before in zip(self._states, part.before, strict=True):
                state.restore_front(rows, before)
            self._touched.add(rows)
        part.before = None

    def move(self, moves: Moves) -> None:
        """Move rows into gaps."""
        if not self.is_broken:
            for state in self._states:
                state.move(moves)  # gaps are touched: a part has left them

    def join(self, parts: Sequence[StackedPart], joined: StackedPart) -> None:
        """Take one part for several of a step, of which it is the merge."""
        self._inexact += (not joined.is_exact) - sum(not part.is_exact for part in parts)

    def clear(self) -> None:
        """Forget all parts."""
        for state in self._states:
            state.clear()
        self.is_broken = False
        self._touched.clear()
        self._inexact = 0

    def columns(self, live: LiveRows) -> list[pa.Array]:
        """Return the columns of all states by rows; broken stacks are to be rebuilt before."""
        assert not self.is_broken
        rows = self._touched.take(live.count)
        for state in self._states:
            state.merge(rows)
        return [column for state in self._states for column in state.columns(live.count)]

    def rebuild(self, parts: Iterable[StackedPart], live: LiveRows) -> None:
        """Push all parts of the window to the front, the newest first. O(rows of all parts)."""
        for state in self._states:
            state.reserve(live.count)
            state.clear()
        for part in parts:
            rows = live.rows_of(part.places)
            pairs = zip(self._states, part.values, strict=True)
            part.before = [state.push_front(rows, values) for state, values in pairs]
        for state in self._states:
            state.merge(np.arange(live.count))
        self._touched.clear()
        self.is_broken = False

    def _check(self, parts: Sequence[StackedPart]) -> None:
        """Assert what always holds, given the parts of the window."""
        assert self._inexact == sum(not part.is_exact for part in parts)
