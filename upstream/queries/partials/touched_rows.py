"""Which rows have changed since the last look, so that only they are worked out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ...rows.arrow_words import Integers

_ROWS: Final = 65_536


class TouchedRows:
    """Rows, each as often as it changed, but at most a few times all there are.

    >>> touched = TouchedRows()
    >>> touched.add(np.array([3, 0, 9]))
    >>> touched.take(count=5).tolist()
    [3, 0]
    """

    __slots__ = ("_added", "_most", "_rows")

    def __init__(self) -> None:
        self._rows: list[Integers] = []
        self._added = 0
        self._most = _ROWS

    def add(self, rows: Integers) -> None:
        """Add rows that changed. Amortised O(rows)."""
        self._rows.append(rows)
        self._added += rows.size
        if self._added > self._most:  # they are never taken
            self._rows = [np.unique(np.concatenate(self._rows))]
            self._added = self._rows[0].size
            self._most = 2 * self._added + _ROWS

    def take(self, count: int) -> Integers:
        """Return those below `count` that changed, and begin anew."""
        rows = np.concatenate(self._rows) if self._rows else np.empty(0, np.int64)
        self.clear()
        return rows[rows < count]

    def clear(self) -> None:
        """Begin anew."""
        self._rows.clear()
        self._added = 0

    def size(self) -> int:
        """Return how many rows are kept."""
        return self._added
