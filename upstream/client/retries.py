"""When a request is retried.

Only failures that may pass are retried: connection errors, timeouts, and the statuses 502, 503 and
504, which may carry a `Retry-After` header. A request that arrives twice has an effect once: either
the second one changes nothing, or the service recognises its idempotency key. The service remembers
keys for 600 seconds by default, but not across a restart. Each delay is twice as long as the one
before, with jitter, so that many clients do not retry at the same moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np

from upstream.errors import ParameterError

LONGEST_SECONDS: Final = 100_000_000.0
"""The longest wait, three years; every operating system supports it."""
RETRIES: Final = 4
"""How often a request is retried by default."""
WORTH_A_RETRY: Final = frozenset({502, 503, 504})
"""Statuses that say nothing about the request and may pass."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is retried, and after which delays.

    - `retries`: how many retries follow the first attempt, at most.
    - `first_delay`: seconds before the first retry. Each further delay is twice as long.
    - `longest_delay`: the longest delay in seconds, unless the service asks for a longer one.
    - `longest_wait`: the longest delay in seconds that the service may ask for. If it asks for
      more, the request fails at once.
    - `longest_total`: no retry is sent later than this many seconds after the first attempt. It
      must be shorter than the time for which the service remembers idempotency keys, or a retry
      would count as a new request.

    >>> RetryPolicy(first_delay=0.1).delay(3, Random(1)) <= 0.8
    True
    """

    retries: int = RETRIES
    first_delay: float = 0.1
    longest_delay: float = 10.0
    longest_wait: float = 60.0
    longest_total: float = 300.0

    def __post_init__(self) -> None:
        if isinstance(self.retries, bool) or not isinstance(self.retries, int) or self.retries < 0:
            raise ParameterError("retries", self.retries, "a whole number, 0 or more")
        for name in ("first_delay", "longest_delay", "longest_wait", "longest_total"):
            seconds = getattr(self, name)
            if not (is_wait(seconds) or seconds == 0):
                raise ParameterError(name, seconds, "a finite number of seconds, 0 or more")

    def delay(self, retry: int, random: Random) -> float:
        """Return how many seconds to wait before a retry; the first retry is number 1."""
        grown = self.first_delay * 2.0 ** min(retry - 1, 60)
        return min(grown, self.longest_delay) * (0.5 + 0.5 * random.random())

    def is_worth_it(self, retry: int, elapsed: float) -> bool:
        """Tell whether to send a retry, `elapsed` seconds after the first attempt."""
        return retry <= self.retries and elapsed < self.longest_total

    def delay_asked_for(self, seconds: float | None, retry: int, random: Random) -> float | None:
        """Return the delay, at least the `seconds` asked for; None if those are too many."""
        if seconds is None:
            return self.delay(retry, random)
        if seconds > self.longest_wait:
            return None
        return max(seconds, self.delay(retry, random))


def is_wait(seconds: object) -> bool:
    """Tell whether this is a number of seconds above 0 that is not too long to wait."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | np.number):
        return False
    return bool(0 < float(seconds) <= LONGEST_SECONDS)


def retry_after_seconds(header: str | None, now: float) -> float | None:
    """Return the seconds that a `Retry-After` header asks for; None if it cannot be parsed.

    >>> retry_after_seconds("3", 0.0), retry_after_seconds("Thu, 01 Jan 1970 00:00:09 GMT", 4.0)
    (3.0, 5.0)
    """
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header)
    from email.utils import parsedate_to_datetime  # imported only for dates, which are rare

    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - now)
