"""When to send a request again, and when to give up.

Only what may succeed a moment later is sent again: after connection errors and timeouts, and after
502, 503 and 504, which `Retry-After` may go with. A request that was sent twice counts once: either
it changes nothing the second time, or the service knows it by its idempotency key, which it
remembers for 600 seconds by default, and not over a restart. Delays grow twofold and are jittered,
so that many clients do not come back together.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np

from upstream.errors import ParameterError

LONGEST_SECONDS: Final = 100_000_000.0
"""No wait is longer than these three years, which every operating system can count."""
RETRIES: Final = 4
"""How often a request is sent again unless told otherwise."""
WORTH_A_RETRY: Final = frozenset({502, 503, 504})
"""Statuses that say nothing about the request, and pass."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to send a request again, and how long to wait before.

    >>> RetryPolicy(first_delay=0.1).delay(3, Random(1)) <= 0.8
    True
    """

    retries: int = RETRIES
    """How often, at most, after the first time."""
    first_delay: float = 0.1
    """Seconds before the first retry; each further one waits twice as long."""
    longest_delay: float = 10.0
    """Seconds that no delay exceeds that was not asked for."""
    longest_wait: float = 60.0
    """What a service may ask for, in seconds; if it is more, the request is given up at once."""
    longest_total: float = 300.0
    """Seconds after which nothing is sent again, well before the service forgets what it answered.

    A retry that came after that would count as a new request.
    """

    def __post_init__(self) -> None:
        if isinstance(self.retries, bool) or not isinstance(self.retries, int) or self.retries < 0:
            raise ParameterError("retries", self.retries, "a whole number, zero or more")
        for name in ("first_delay", "longest_delay", "longest_wait", "longest_total"):
            seconds = getattr(self, name)
            if not (is_wait(seconds) or seconds == 0):
                raise ParameterError(name, seconds, "a finite number of seconds, zero or more")

    def delay(self, retry: int, random: Random) -> float:
        """Return how many seconds to wait before the given retry, counted from 1."""
        grown = self.first_delay * 2.0 ** min(retry - 1, 60)
        return min(grown, self.longest_delay) * (0.5 + 0.5 * random.random())

    def is_worth_it(self, retry: int, elapsed: float) -> bool:
        """Tell whether to send a request again, so long after it was sent for the first time."""
        return retry <= self.retries and elapsed < self.longest_total

    def delay_asked_for(self, seconds: float | None, retry: int, random: Random) -> float | None:
        """Return as `delay`, but at least what was asked for; None if that is too long."""
        if seconds is None:
            return self.delay(retry, random)
        if seconds > self.longest_wait:
            return None
        return max(seconds, self.delay(retry, random))


def is_wait(seconds: object) -> bool:
    """Tell whether something is a time to wait: a number of seconds above 0 and not too long."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | np.number):
        return False
    return bool(0 < float(seconds) <= LONGEST_SECONDS)


def retry_after_seconds(header: str | None, now: float) -> float | None:
    """Return what a `Retry-After` header asks for, which is seconds or a date; None if neither.

    >>> retry_after_seconds("3", 0.0), retry_after_seconds("Thu, 01 Jan 1970 00:00:09 GMT", 4.0)
    (3.0, 5.0)
    """
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header)
    from email.utils import parsedate_to_datetime  # only dates need it, and few send them

    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - now)
