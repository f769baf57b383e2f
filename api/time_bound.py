"""The bound on times: a time far in the future would make all later updates late.

The usual case is milliseconds sent as seconds. So once the times of a stream are near the clock, a
time more than a day ahead is rejected. Until then there is no bound: the times may have an epoch of
their own, or may all be milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal

import numpy as np

MostAhead = float | Literal["auto"] | None

DAY: Final = 86_400.0
LONGEST_AGO: Final = 366 * DAY


class TimeBound:
    """The bound on the times of one stream, in seconds ahead of the clock, or no bound.

    With "auto" the bound is a day. It applies once as many times were near the clock (from a year
    before it to a day after) as were further ahead.

    >>> bound = TimeBound("auto", now=lambda: 1.6e9)
    >>> bound.rows_ahead([1.6e9, 1.6e12])
    [1]
    """

    __slots__ = ("_ahead", "_most_ahead", "_near", "_now", "seconds")

    def __init__(self, most_ahead: MostAhead, *, now: Callable[[], float]) -> None:
        self._most_ahead = most_ahead
        self._now = now
        self._near = self._ahead = 0
        self.seconds = math.inf if isinstance(most_ahead, str | None) else most_ahead
        """How far ahead of the clock a time may be now."""

    @property
    def limit(self) -> float:
        """The latest time that is accepted now; infinity without a bound."""
        return self._now() + self.seconds

    def rows_ahead(self, times: Sequence[float] | None) -> list[int]:
        """Return the rows whose times are too far ahead; `times` may be None. O(rows).

        The times are finite, in a list or an array.
        """
        if self._most_ahead is None or (times is not None and len(times) == 0):
            return []
        is_auto = self._most_ahead == "auto" and self.seconds == math.inf
        if times is None:
            if is_auto:
                self._learn(near=1, ahead=0)
            return []
        latest = times.max() if isinstance(times, np.ndarray) else max(times)
        if is_auto:
            self._look_at(times, latest)
        limit = self.limit
        if latest <= limit:
            return []
        rows: list[int] = np.flatnonzero(np.asarray(times) > limit).tolist()
        return rows

    def _look_at(self, times: Sequence[float], latest: float) -> None:
        now = self._now()
        if latest < now - LONGEST_AGO:  # a time scale of its own, or a history
            return
        moments = np.asarray(times)
        ahead = int(np.count_nonzero(moments > now + DAY))
        near = int(np.count_nonzero(moments >= now - LONGEST_AGO)) - ahead
        self._learn(near=near, ahead=ahead)

    def _learn(self, *, near: int, ahead: int) -> None:
        self._near += near
        self._ahead += ahead
        if 0 < self._near >= self._ahead:
            self.seconds = DAY
