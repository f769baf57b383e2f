"""How many parts of the window have NULL in each row, so that a sum of nothing else is NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...rows.arrow_words import grown

if TYPE_CHECKING:
    from ...rows.arrow_words import Integers, Present
    from .live_rows import LiveRows, Moves


class NullCounts:
    """Counts by rows, which take no room as long as there are no NULLs."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: Integers | None = None

    def enter(self, rows: Integers, present: Present, live: LiveRows) -> None:
        """Count the NULLs of a part."""
        if self._counts is None:
            if present is None:
                return
            self._counts = np.zeros(live.count, np.int64)
        self._counts = grown(self._counts, live.count)
        if present is not None:
            self._counts[rows[~present]] += 1

    def leave(self, rows: Integers, present: Present) -> None:
        """Count the NULLs of a part no more."""
        if present is not None and self._counts is not None:
            self._counts[rows[~present]] -= 1

    def move(self, moves: Moves) -> None:
        """Move rows into gaps."""
        if self._counts is not None:
            self._counts[moves.targets] = self._counts[moves.sources]
            self._counts[moves.sources] = 0

    def present(self, live: LiveRows) -> Present:
        """Return in which rows some part has a value, or None for all."""
        return None if self._counts is None else self._counts[: live.count] < live.parts

    def _check(self, live: LiveRows) -> None:
        """Assert what always holds."""
        if self._counts is not None:
            assert not self._counts[live.count :].any()
            assert (self._counts[: live.count] <= live.parts).all()
