"""What the service counts about requests and connections, at the lowest possible cost.

The fast routes answer 20,000 requests per second on one core, so counting one may not cost a
microsecond. Hence dicts and lists, from which `metrics` makes the exposition for a scrape.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

BOUNDS_SECONDS: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005),
    *(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
"""The upper bounds of the histogram's buckets, dense around a millisecond, where requests are."""

METHODS: Final = frozenset(
    {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
)
OTHER_METHOD: Final = "other"
"""Stands for any method that a client invents, since labels must not grow without bound."""

Request = tuple[str, str, int]
"""The route's template, the method, and the status of the answer."""


class Durations:
    """A histogram of the duration of one route's requests."""

    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS_SECONDS) + 1)
        """How many requests each bucket has. The last bucket has those beyond all bounds."""
        self.seconds = 0.0

    def cumulative(self) -> Iterator[tuple[float, int]]:
        """Yield each bound, infinity last, with how many requests took at most so long."""
        total = 0
        for bound, count in zip((*BOUNDS_SECONDS, float("inf")), self.buckets, strict=True):
            total += count
            yield bound, total


class RequestMeter:
    """Counts requests by route, method and status, and measures them by route.

    A route is its template, or one name for all paths without one: never the path itself.

    >>> meter = RequestMeter()
    >>> meter.observe("/livez", "GET", 200, 0.0003)
    >>> meter.requests
    {('/livez', 'GET', 200): 1}
    """

    __slots__ = ("durations", "push_updates_sent", "requests")

    def __init__(self) -> None:
        self.requests: dict[Request, int] = {}
        self.durations: dict[str, Durations] = {}
        self.push_updates_sent = 0
        """Updates written to websockets and event streams, over all connections."""

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered after this many seconds."""
        try:
            durations = self.durations[route]
            self.requests[route, method, status] += 1
        except KeyError:
            durations = self._begin(route, method, status)
        durations.buckets[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        durations.seconds += seconds

    def count(self, route: str, method: str, status: int) -> None:
        """Count a request whose duration means nothing, such as a stream or a long poll."""
        request = route, method if method in METHODS else OTHER_METHOD, status
        self.requests[request] = self.requests.get(request, 0) + 1

    def _begin(self, route: str, method: str, status: int) -> Durations:
        """Count the first request with these labels."""
        self.count(route, method, status)
        return self.durations.setdefault(route, Durations())
