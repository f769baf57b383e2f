"""Decides by measured times how windows are evaluated: in full or incrementally, how far ahead.

A window of one input is cheaper in full up to some size. For joined windows neither way always
wins. Incrementally, a slide costs about the same at any size. In full, the cost depends on the rows
and on the pairs that match, and is between a third and a hundred times as much. So the costs of
joined windows are measured.
"""

from __future__ import annotations

from statistics import median
from typing import Final

from ..chunks.grid import FOREVER

MOST_ROWS: Final = 65_536
"""Larger windows are not evaluated in full, and their rows are not kept for that."""
MOST_JOINED_ROWS: Final = 4_096
"""Joined windows of up to this many rows are evaluated in full; for larger ones both ways are
measured."""
_WINDOWS: Final = 4
"""This many windows are measured for each way."""
_HOPELESS: Final = 4
"""If a window costs this many times the other way, one measurement is enough."""
_SLIDES: Final = 5
"""The number of portions is kept for this many slides before their response is judged."""
_MOST_PORTIONS: Final = 1_024
_GAIN: Final = 0.95
"""The ratio to which a response has to fall for more portions to be worth it."""


class ChosenWay:
    """How the next window is evaluated, from the sizes and costs of those before it.

    `is_whole` is None if that has to be found out. Joined windows that are no longer small are
    first evaluated incrementally, and then some of them in full. Evaluation in full ends for good
    when it costs more, as it may once more rows match. `most_rows` is the greatest size that is
    evaluated in full, if it is not the usual one.
    """

    __slots__ = (
        "_by_increments",
        "_costs",
        "_is_joined",
        "is_measured",
        "is_whole",
        "keeps_rows",
        "most_rows",
    )

    def __init__(
        self, *, is_whole: bool | None, is_joined: bool, most_rows: int | None = None
    ) -> None:
        self.is_whole = is_whole is not False
        """Whether the next window is evaluated in full."""
        self.keeps_rows = self.is_whole
        """Whether rows are kept, for windows that are or may be evaluated in full."""
        self.is_measured = False
        """Whether both ways are tried, so that the costs of windows have to be passed to `cost`."""
        self._is_joined = is_joined
        most = most_rows or (MOST_JOINED_ROWS if is_joined else MOST_ROWS)
        self.most_rows = FOREVER if is_whole else most
        """Windows with more rows than this are not evaluated in full at present."""
        self._by_increments: float | None = None
        """The seconds that a window costs incrementally, once that is known."""
        self._costs: list[float] = []
        """The costs of the last windows, since the way was chosen."""

    def outgrown(self) -> None:
        """Note that windows have more rows than are evaluated in full."""
        if self._is_joined and not self.is_measured:
            self.is_measured, self.is_whole, self.most_rows = True, False, MOST_ROWS
        else:
            self.settle()

    def settle(self) -> None:
        """Evaluate incrementally from now on."""
        self.is_whole = self.keeps_rows = self.is_measured = False

    def cost(self, seconds: float) -> None:
        """Note what a window cost, and choose the way of the next one."""
        self._costs = [*self._costs[1 - _WINDOWS :], seconds]
        is_known = len(self._costs) == _WINDOWS
        if self._by_increments is None:
            if is_known:  # the first one also paid for all rows that were in no partial yet
                self._by_increments, self._costs = median(self._costs[1:]), []
                self.is_whole = True
            return
        is_dearer = is_known and min(self._costs) > self._by_increments
        if is_dearer or seconds > _HOPELESS * self._by_increments:
            self.settle()

    def describe(self, increments: str, noun: str = "window") -> str:
        """Describe how windows are evaluated; `increments` is the name of the other way.

        `noun` is the word for a window.
        """
        if not self.is_whole:
            return f"{noun}s are evaluated {increments}"
        if self.most_rows == FOREVER:
            return f"{noun}s are evaluated in full"
        whole = f"{noun}s of up to {self.most_rows:,} rows are evaluated in full, not in parts"
        cheaper = ", or in full where that is measured to be cheaper"
        larger = cheaper if self._is_joined and not self.is_measured else ""
        return f"{whole}; larger ones {increments}{larger}"


class Portions:
    """Adapts the number of portions of the open chunk (DataCell, "Optimized Incremental Plans").

    The more of a chunk is in partials before its last row arrives, the sooner the result is there
    after that row. But each portion costs a statement. The number of portions doubles every few
    slides as long as the response becomes shorter, and returns to the best number when it does not.
    If a number is given, it stays.
    """

    __slots__ = ("_best", "_is_settled", "_responses", "count")

    def __init__(self, count: int | None = None) -> None:
        self.count = count or 1
        """In how many portions a chunk is processed."""
        self._best: tuple[float, int] | None = None
        self._responses: list[float] = []
        self._is_settled = count is not None

    def responded(self, seconds: float) -> None:
        """Note how long after the last row of a chunk the result was there."""
        if self._is_settled:
            return
        self._responses.append(seconds)
        if len(self._responses) < _SLIDES:
            return
        response = sorted(self._responses)[_SLIDES // 2]
        self._responses.clear()
        if self._best is not None and response >= _GAIN * self._best[0]:
            self.count = self._best[1]
            self._is_settled = True
        else:
            self._best = (response, self.count)
            self.count = min(2 * self.count, _MOST_PORTIONS)
