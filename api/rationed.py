"""A costly result that is computed again only for a share of the time.

The service has one event loop. A client that asks for the staleness of a queue with a million keys
again and again would take all of it. So the result is kept, and for longer if it took longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")

DEFAULT_SHARE = 0.1


class Rationed(Generic[Made]):
    """The last result of `make`, made again if `make` then takes at most `share` of the time.

    `clock` returns the time in seconds, and measures how long `make` takes. If `make` raises, the
    last result and its time stay.

    >>> from upstream import ManualClock
    >>> clock = ManualClock()
    >>> times = Rationed(lambda: clock.advance(2) or clock.now(), share=0.1, clock=clock.now)
    >>> times.get(), times.get()
    (2.0, 2.0)
    >>> clock.advance(18)
    >>> times.get()
    22.0
    """

    __slots__ = ("_clock", "_make", "_result", "_started_at", "_took", "share")

    def __init__(
        self,
        make: Callable[[], Made],
        *,
        share: float = DEFAULT_SHARE,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        assert 0 < share <= 1, "a share outside of 0 to 1"
        self._make = make
        self._clock = clock
        self.share = share
        """The largest share of the time for `make`; it can be changed."""
        self._result: tuple[Made] | None = None
        self._started_at = 0.0
        self._took = 0.0

    @property
    def is_due(self) -> bool:
        """Whether `get` would make the result again."""
        if self._result is None:
            return True
        return self._took <= self.share * (self._clock() - self._started_at)

    def get(self) -> Made:
        """Return the result, made again if that is due."""
        if self._result is not None and not self.is_due:
            return self._result[0]
        started_at = self._clock()
        made = self._make()
        self._result = (made,)
        self._started_at = started_at
        self._took = self._clock() - started_at
        return made
