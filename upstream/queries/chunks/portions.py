"""The number of portions of the open chunk (DataCell, "Optimized Incremental Plans").

The more of a chunk is in partials before its last row arrives, the sooner the result is there after
that row. But each portion costs a statement. The number of portions doubles every few slides as
long as the response becomes shorter, and returns to the best number when it does not.
"""

from __future__ import annotations

from typing import Final

_SLIDES: Final = 5
_MOST: Final = 1_024
_GAIN: Final = 0.95
"""The ratio to which a response has to fall for more portions to be worth it."""


class Portions:
    """Adapts the number of portions to measured response times."""

    __slots__ = ("_best", "_is_settled", "_responses", "count")

    def __init__(self) -> None:
        self.count = 1
        """In how many portions a chunk is processed."""
        self._best: tuple[float, int] | None = None
        self._responses: list[float] = []
        self._is_settled = False

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
            self.count = min(2 * self.count, _MOST)
