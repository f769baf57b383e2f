"""In how many portions the open chunk is processed (DataCell, "Optimized Incremental Plans").

The more of a chunk is in partials before its last row comes, the sooner the answer is there after
that row; but each portion costs a statement. The number of portions doubles every few slides for
as long as the response gets shorter, and goes back to the best when it does not.
"""

from __future__ import annotations

from typing import Final

_SLIDES: Final = 5
_MOST: Final = 1_024
_GAIN: Final = 0.95
"""A response has to fall to this for more portions to be worth it."""


class Portions:
    """Adapts the number of portions to the response times that are measured."""

    __slots__ = ("_best", "_is_settled", "_responses", "count")

    def __init__(self) -> None:
        self.count = 1
        """How many portions a chunk is processed in."""
        self._best: tuple[float, int] | None = None
        self._responses: list[float] = []
        self._is_settled = False

    def responded(self, seconds: float) -> None:
        """Tell how long after the last row of a chunk the answer was there."""
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
            self.count = min(2 * self.count, _MOST)
