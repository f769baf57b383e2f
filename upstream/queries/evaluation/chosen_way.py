"""Which way windows are evaluated: whole, or by increments.

A window of one input is cheaper whole up to some size. Of windows that are joined neither way wins
always: by increments a slide costs about the same at any size; whole it costs by the rows and by
the pairs that match, which is a third as much or a hundred times as much. There it is measured.
"""

from __future__ import annotations

from statistics import median
from typing import Final

from ..chunks.grid import FOREVER

MOST_ROWS: Final = 65_536
"""Larger windows are not evaluated whole, and their rows are not kept for that."""
MOST_JOINED_ROWS: Final = 4_096
"""Up to so many rows windows that are joined are evaluated whole; beyond that it is measured."""
_WINDOWS: Final = 4
"""So many windows are measured of each way."""
_HOPELESS: Final = 4
"""One that costs so many times what the other way does is enough."""


class ChosenWay:
    """The way in which the next window is evaluated, by what those before it were like.

    `is_whole` is None where that is to be found out. Joined windows that are not small any more are
    evaluated by increments at first, and then some of them whole. Whole is left for good when it is
    the dearer way, as it may be once more rows match.
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

    def __init__(self, *, is_whole: bool | None, is_joined: bool) -> None:
        self.is_whole = is_whole is not False
        """Whether the next window is evaluated whole."""
        self.keeps_rows = self.is_whole
        """Whether rows are kept, for windows that are or may be evaluated whole."""
        self.is_measured = False
        """Whether both ways are tried, and what windows cost is to be told."""
        self._is_joined = is_joined
        most = MOST_JOINED_ROWS if is_joined else MOST_ROWS
        self.most_rows = FOREVER if is_whole else most
        """A window of more rows than this is not evaluated whole as things are."""
        self._by_increments: float | None = None
        """What a window costs by increments, in seconds, once that is known."""
        self._costs: list[float] = []
        """What the last windows cost, since the way was taken."""

    def outgrown(self) -> None:
        """Learn that windows have more rows than are evaluated whole."""
        if self._is_joined and not self.is_measured:
            self.is_measured, self.is_whole, self.most_rows = True, False, MOST_ROWS
        else:
            self.settle()

    def settle(self) -> None:
        """Go by increments from now on."""
        self.is_whole = self.keeps_rows = self.is_measured = False

    def cost(self, seconds: float) -> None:
        """Tell what a window cost, and choose the way of the next one."""
        self._costs = [*self._costs[1 - _WINDOWS :], seconds]
        is_known = len(self._costs) == _WINDOWS
        if self._by_increments is None:
            if is_known:  # the first one paid for all rows that were in no partial yet
                self._by_increments, self._costs = median(self._costs[1:]), []
                self.is_whole = True
            return
        is_dearer = is_known and min(self._costs) > self._by_increments
        if is_dearer or seconds > _HOPELESS * self._by_increments:
            self.settle()

    def describe(self, increments: str) -> str:
        """Say which windows are evaluated how; `increments` is what the other way is called."""
        if not self.is_whole:
            return f"windows are evaluated {increments}"
        if self.most_rows == FOREVER:
            return "windows are evaluated whole"
        whole = f"windows of up to {self.most_rows:,} rows are evaluated whole, not in these parts"
        cheaper = ", or as is measured to be cheaper"
        larger = cheaper if self._is_joined and not self.is_measured else ""
        return f"{whole}; larger ones {increments}{larger}"
