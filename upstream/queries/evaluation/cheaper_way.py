"""Which of two ways is cheaper: to evaluate a window by increments, or whole.

A small window is evaluated whole in less time than its parts can be put together. Both ways are
measured while the query runs. The one that is not taken is tried again after 16 windows, then after
64 and so on up to 4,096, for a few windows in a row, or until it has turned out to be the dearer
one. The first of them pays for what is not prepared (rows that are not in partials yet, a statement
that has not run yet), and is not counted.
"""

from __future__ import annotations

from collections import deque
from typing import Final

MOST_ROWS: Final = 65_536
"""Larger windows are not evaluated whole, and their rows are not kept for that."""
_SMALL: Final = 4_096
"""Windows up to here begin by being evaluated whole."""
_TRIALS: Final = 4
_FIRST_PERIOD, _LONGER, _LAST_PERIOD = 16, 4, 4_096
_DEARER: Final = 1.5
"""A trial ends when the cheaper of two windows costs so many times what the other way costs."""
_HOPELESS: Final = 4
"""It ends at once when one window does."""
_REMEMBERED: Final = 8
"""A way costs the least of so many windows: more it costs when somebody else has the processor."""


class CheaperWay:
    """Chooses between two ways by their costs as measured."""

    __slots__ = ("_costs", "_period", "_since", "_trial", "is_whole")

    def __init__(self, *, window_rows: int) -> None:
        self.is_whole = window_rows <= _SMALL
        """The way to take next."""
        self._costs = {way: deque[float](maxlen=_REMEMBERED) for way in (True, False)}
        self._period = _FIRST_PERIOD
        self._since = 0
        self._trial = 0

    def measured(self, seconds: float) -> None:
        """Tell what the way taken cost, and choose the next."""
        self._since += 1
        is_bearable = seconds <= _HOPELESS * min(self._costs[not self.is_whole], default=seconds)
        if self._trial == 1 and (is_bearable or not self.is_whole):
            self._trial += 1
            return
        self._costs[self.is_whole].append(seconds)
        if self._trial:
            self._trial += 1
            other = min(self._costs[not self.is_whole])
            tried = self._costs[self.is_whole]
            is_dearer = len(tried) > 1 and min(tried) > _DEARER * other
            if self._trial > _TRIALS or is_dearer or seconds > _HOPELESS * other:
                self._trial = self._since = 0
                self.is_whole = self._cheaper()
        elif self._since >= self._period:
            self._period = min(_LONGER * self._period, _LAST_PERIOD)
            self.is_whole = not self.is_whole
            self._trial = 1
            self._costs[self.is_whole].clear()

    def describe(self, parts: str) -> str:
        """Return what was measured, in words; `parts` is what to call the way that is not whole."""
        names = {False: parts, True: "whole"}
        costs = [
            f"{name} {1e3 * min(self._costs[way]):.2f} ms"
            for way, name in names.items()
            if self._costs[way]
        ]
        known = f"a window costs {', '.join(costs)}" if costs else "no window was measured yet"
        return f"{names[self.is_whole]} ({known})"

    def _cheaper(self) -> bool:
        whole, increments = min(self._costs[True]), min(self._costs[False])
        return self.is_whole if whole == increments else whole < increments
