"""How many updates a consumer takes at a time, chosen by how long it needs for each.

Updates that were taken are no longer replaced by newer ones, so they age while the consumer works
on those before them. A small batch keeps them fresh, and a large batch saves requests. So a batch
should take `ROUND_TRIPS` times as long to process as to request and deliver, and requests then use
about a tenth of the consumer's time. Three bounds come first: a batch has at most `MOST` updates,
it takes at most `LONGEST_SECONDS` to process, and it takes no less time than its requests.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

MOST: Final = 100
"""How many updates are taken at a time, at most, unless the caller gives a limit."""
ROUND_TRIPS: Final = 10
"""How many times longer a batch should take to process than to request."""
LONGEST_SECONDS: Final = 0.25
"""How long a batch should take to process, at most, unless requests take longer than that."""
GROWTH: Final = 4
"""How many times larger than the last batch the next one may be, unless it is quick."""
QUICK_SECONDS: Final = 0.01
"""A batch that takes no longer than this to process may be of any size."""
SMOOTHING: Final = 0.5
"""The weight of the last batch in the estimated cost of an update."""
SHORTEST_COST: Final = 1e-9
"""The least cost of an update in seconds; the clock may show no time at all."""
FORGETTING: Final = 1.5
"""By how much the estimated time of a request may grow with each batch."""


@dataclass(slots=True)
class Pace:
    """Choose the size of a consumer's next batch; a given `limit` is always used as it is.

    Call `next_limit` before updates are requested, `received` with how many came, and `used` when
    the consumer has processed all of them, before they are delivered.

    >>> times = iter([0.0, 0.001, 0.021, 0.021])  # 1 ms to request, 20 ms to process
    >>> pace = Pace(None, lambda: next(times))
    >>> first = pace.next_limit(); pace.received(1); pace.used()
    >>> first, pace.next_limit()  # the first batch is small, because its cost is not known
    (1, 1)
    """

    limit: int | None
    now: Callable[[], float]
    _cost: float | None = field(init=False, default=None)
    _request_seconds: float = field(init=False, default=math.inf)
    _deliver_seconds: float = field(init=False, default=math.inf)
    _asked_at: float = field(init=False, default=0.0)
    _received_at: float = field(init=False, default=0.0)
    _used_at: float = field(init=False, default=0.0)
    _requested: int = field(init=False, default=0)
    _last: int = field(init=False, default=0)

    def next_limit(self) -> int:
        """Return how many updates to request now."""
        self._asked_at = self.now()
        if self._last:
            seconds = self._asked_at - self._used_at
            self._deliver_seconds = min(FORGETTING * self._deliver_seconds, seconds)
        self._requested = self._chosen() if self.limit is None else self.limit
        return self._requested

    def received(self, count: int) -> None:
        """Note that the request was answered with `count` updates."""
        self._received_at = self.now()
        # If fewer came, the service may have waited for them, so the time says nothing. The
        # shortest of the last times has the least waiting in it.
        if count >= self._requested:
            seconds = self._received_at - self._asked_at
            self._request_seconds = min(FORGETTING * self._request_seconds, seconds)
        self._last = count

    def used(self) -> None:
        """Note that the consumer has processed all updates of the batch."""
        self._used_at = self.now()
        if self._last:
            cost = (self._used_at - self._received_at) / self._last
            known = cost if self._cost is None else self._cost
            self._cost = known + SMOOTHING * (cost - known)

    def _chosen(self) -> int:
        if self._cost is None:
            return 1
        requests = self._request_seconds + self._deliver_seconds
        seconds = max(requests, min(ROUND_TRIPS * requests, LONGEST_SECONDS))
        cost = max(self._cost, SHORTEST_COST)
        most = min(MOST, max(GROWTH * self._last, QUICK_SECONDS / cost))
        return max(1, int(min(most, seconds / cost)))
