"""Updates gathered into batches, without the sending: what both kinds of feed have in common.

A batch that could not be sent stays here with its idempotency key, so that the next attempt cannot
apply it twice, as long as the service remembers the key (600 seconds by default). One that the
service may have had for longer than a retry may take is given up, and that is raised.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from upstream.clock import Clock
from upstream.errors import ParameterError, UpStreamError

from . import requests
from .answers import Counts, Key
from .batches import BODY_BYTES, check_batch_size, next_body
from .encoding import JSON, encode_row
from .errors import OutcomeUnknownError, ServiceError, ServiceUnreachableError
from .exchange import Request
from .moments import Moment, seconds_of
from .retries import RetryPolicy, is_wait

BATCH_SECONDS: Final = 0.1
"""How old an update may become in a feed unless told otherwise."""


@dataclass(slots=True)
class Batch:
    """Updates on their way, until it is known what became of them."""

    updates: int
    request: Request[Counts]
    attempts: int = 0
    retry_at: float = -math.inf
    arrived_at: float | None = None
    """When the service may have had it first; None if it never did for sure."""
    arrived_before: float | None = None
    """The same before the present attempt."""

    def attempt(self, now: float) -> Request[Counts]:
        """Return what to send; from now on the service may have it."""
        self.attempts += 1
        self.arrived_before = self.arrived_at
        if self.arrived_at is None:
            self.arrived_at = now
        return replace(self.request, began_at=self.arrived_at)


class Gathering:
    """The updates that wait to be sent, and the batch that is being sent."""

    __slots__ = (
        "_added",
        "_began_at",
        "_bytes",
        "_clock",
        "_confirmed",
        "_failure",
        "_passed",
        "_policy",
        "_random",
        "_rows",
        "_size",
        "_stream",
        "_unsent",
        "counts",
    )

    def __init__(
        self, stream: str, *, size: int, clock: Clock, policy: RetryPolicy, random: Random
    ) -> None:
        check_batch_size(size)
        self._stream = stream
        self._size = size
        self._clock = clock
        self._policy = policy
        self._random = random
        self._rows: deque[bytes] = deque()
        self._bytes = 0
        self._began_at = 0.0
        self._unsent: Batch | None = None
        self._failure: UpStreamError | None = None
        self._added = self._passed = self._confirmed = 0
        self.counts = Counts()
        """What became of all that was sent so far."""

    def add(self, key: Key, value: object, time: Moment | None) -> int:
        """Add an update, and return how many wait now; ValueNotEncodableError if it is refused."""
        row = encode_row(key, seconds_of(time), value)
        if not self._rows:
            self._began_at = self._clock.now()
        self._rows.append(row)
        self._bytes += len(row)
        self._added += 1
        return len(self._rows)

    @property
    def is_full(self) -> bool:
        """Whether there are enough updates to be sent."""
        return len(self._rows) >= self._size or self._bytes >= BODY_BYTES

    @property
    def unconfirmed(self) -> int:
        """Return how many updates were added of which it is not known what became of them."""
        return self._added - self._confirmed

    def due_in(self, seconds: float) -> float | None:
        """Return when something is to be sent if no update may wait longer; None if nothing is."""
        now = self._clock.now()
        if self._unsent is not None:
            return max(0.0, self._unsent.retry_at - now)
        return max(0.0, self._began_at + seconds - now) if self._rows else None

    def next_request(self) -> Request[Counts] | None:
        """Return what to send next, which is what failed if something did; None if nothing.

        OutcomeUnknownError if what failed is given up, as it might be applied twice.
        """
        now = self._clock.now()
        batch = self._unsent
        if batch is None:
            if not self._rows:
                return None
            updates, body = next_body(self._rows, self._size)
            self._bytes = sum(map(len, self._rows)) if self._rows else 0
            self._unsent = batch = Batch(updates, requests.put_body(self._stream, body, JSON))
        elif batch.arrived_at is not None:
            age = now - batch.arrived_at
            if age > self._policy.longest_total:
                self._end_batch()
                raise OutcomeUnknownError(batch.updates, age)
        return batch.attempt(now)

    def sent(self, counts: Counts) -> None:
        """Note what became of the last request, which makes up for what failed before it."""
        self.counts = self.counts.plus(counts, sent=self._passed)
        self._confirmed += self._end_batch()
        if _is_passing(self._failure):
            self._failure = None

    def failed(self, error: ServiceError) -> None:
        """Note that the last request failed: for good, or it comes again after a while."""
        batch = self._unsent
        assert batch is not None
        if not error.is_passing:
            self._end_batch()
            return
        if isinstance(error, ServiceUnreachableError) and not error.may_have_arrived:
            batch.arrived_at = batch.arrived_before
        batch.retry_at = self._clock.now() + self._policy.delay(batch.attempts, self._random)

    def note(self, failure: UpStreamError) -> None:
        """Remember what nobody waited for; what is lost for good is not forgotten for another."""
        if self._failure is None or _is_passing(self._failure):
            self._failure = failure

    def raise_failure(self, *, but_passing: bool = False) -> None:
        """Raise what was noted, once; what is passing is forgotten if `but_passing`."""
        failure, self._failure = self._failure, None
        if failure is not None and not (but_passing and _is_passing(failure)):
            raise failure

    def _end_batch(self) -> int:
        assert self._unsent is not None
        updates, self._unsent = self._unsent.updates, None
        self._passed += updates
        return updates


def check_batch_seconds(seconds: float | None) -> None:
    """Raise ParameterError unless `seconds` is a time to wait, or None."""
    if seconds is not None and not is_wait(seconds):
        raise ParameterError("batch_seconds", seconds, "a number of seconds above 0, or None")


def _is_passing(failure: UpStreamError | None) -> bool:
    return isinstance(failure, ServiceError) and failure.is_passing
