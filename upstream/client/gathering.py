"""The state of a feed, without the I/O: updates are gathered into batches, and batches retried.

A batch that failed keeps its idempotency key, so the next attempt cannot apply it twice as long as
the service remembers the key (600 seconds by default). A batch that the service may have received
longer ago than retries are allowed to take is not sent again; OutcomeUnknownError says so.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Final

from upstream.errors import ParameterError, UpStreamError

from . import requests
from .answers import Counts, Key
from .bodies import BODY_BYTES, check_batch_size, next_body
from .connection import Connection
from .encoding import JSON, encode_row
from .errors import OutcomeUnknownError, ServiceError, ServiceUnreachableError
from .exchange import Call, Request
from .retries import is_wait
from .rows import Moment, seconds_of

BATCH_SECONDS: Final = 0.1
"""How many seconds an update may wait in a feed by default."""


@dataclass(slots=True)
class Batch:
    """Updates that are being sent, until their outcome is known."""

    updates: int
    request: Request[Counts]
    attempts: int = 0
    retry_at: float = -math.inf
    arrived_at: float | None = None
    """When the service may have received it first; None if it certainly never did."""
    arrived_before: float | None = None
    """The value of `arrived_at` before the current attempt."""

    def attempt(self, now: float) -> Request[Counts]:
        """Return the request; from now on the service may have received it."""
        self.attempts += 1
        self.arrived_before = self.arrived_at
        if self.arrived_at is None:
            self.arrived_at = now
        return replace(self.request, began_at=self.arrived_at)


@dataclass(slots=True)
class Gathering:
    """The updates that wait to be sent, the batch that is being sent, and the counts so far."""

    connection: Connection
    stream: str
    size: int
    counts: Counts = field(init=False, default_factory=Counts)
    """What happened to the updates sent so far."""
    _rows: deque[bytes] = field(init=False, default_factory=deque)
    _bytes: int = field(init=False, default=0)
    _began_at: float = field(init=False, default=0.0)
    _unsent: Batch | None = field(init=False, default=None)
    _failure: UpStreamError | None = field(init=False, default=None)
    _added: int = field(init=False, default=0)
    _passed: int = field(init=False, default=0)
    _confirmed: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        check_batch_size(self.size)

    def add(self, key: Key, value: object, time: Moment | None) -> int:
        """Add an update; return how many wait. ValueNotEncodableError if it cannot be sent."""
        row = encode_row(key, seconds_of(time), value)
        if not self._rows:
            self._began_at = self.connection.clock.now()
        self._rows.append(row)
        self._bytes += len(row)
        self._added += 1
        return len(self._rows)

    @property
    def is_full(self) -> bool:
        """Whether there are enough updates for a batch."""
        return len(self._rows) >= self.size or self._bytes >= BODY_BYTES

    @property
    def unconfirmed(self) -> int:
        """How many updates were added whose outcome is not known."""
        return self._added - self._confirmed

    def due_in(self, seconds: float) -> float | None:
        """Return in how many seconds to send, if updates may wait for `seconds`; None if empty."""
        now = self.connection.clock.now()
        if self._unsent is not None:
            return max(0.0, self._unsent.retry_at - now)
        return max(0.0, self._began_at + seconds - now) if self._rows else None

    def next_request(self) -> Request[Counts] | None:
        """Return the next request, which repeats the batch that failed, if any; None if empty.

        Raises OutcomeUnknownError for a failed batch that might be applied twice, and drops it.
        """
        now = self.connection.clock.now()
        batch = self._unsent
        if batch is None:
            if not self._rows:
                return None
            updates, body = next_body(self._rows, self.size)
            self._bytes = sum(map(len, self._rows)) if self._rows else 0
            self._unsent = batch = Batch(updates, requests.put_body(self.stream, body, JSON))
        elif batch.arrived_at is not None:
            age = now - batch.arrived_at
            if age > self.connection.retries.longest_total:
                self._end_batch()
                raise OutcomeUnknownError(batch.updates, age)
        return batch.attempt(now)

    def batches(self) -> Call[Counts, None]:
        """Send everything, in batches. A batch that fails is kept or dropped; see `failed`."""
        while (request := self.next_request()) is not None:
            try:
                counts = yield request
            except ServiceError as error:
                self.failed(error)
                raise
            self.sent(counts)

    def sent(self, counts: Counts) -> None:
        """Note the result of the last request, which also settles a failure that passed."""
        self.counts = self.counts.plus(counts, sent=self._passed)
        self._confirmed += self._end_batch()
        if _is_passing(self._failure):
            self._failure = None

    def failed(self, error: ServiceError) -> None:
        """Note that the last request failed. It is repeated later if the failure may pass."""
        batch = self._unsent
        assert batch is not None
        if not error.is_passing:
            self._end_batch()
            return
        if isinstance(error, ServiceUnreachableError) and not error.may_have_arrived:
            batch.arrived_at = batch.arrived_before
        connection = self.connection
        delay = connection.retries.delay(batch.attempts, connection.random)
        batch.retry_at = connection.clock.now() + delay

    def note(self, failure: UpStreamError) -> None:
        """Keep a failure in the background for the next call; one that cannot pass is kept."""
        if self._failure is None or _is_passing(self._failure):
            self._failure = failure

    def raise_failure(self, *, but_passing: bool = False) -> None:
        """Raise the noted failure once; ignore it if `but_passing` and it may pass."""
        failure, self._failure = self._failure, None
        if failure is not None and not (but_passing and _is_passing(failure)):
            raise failure

    def _end_batch(self) -> int:
        assert self._unsent is not None
        updates, self._unsent = self._unsent.updates, None
        self._passed += updates
        return updates


def check_batch_seconds(seconds: float | None) -> None:
    """Raise ParameterError unless `seconds` is a number of seconds to wait, or None."""
    if seconds is not None and not is_wait(seconds):
        raise ParameterError("batch_seconds", seconds, "a number of seconds above 0, or None")


def _is_passing(failure: UpStreamError | None) -> bool:
    return isinstance(failure, ServiceError) and failure.is_passing
