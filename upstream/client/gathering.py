"""Updates gathered into batches, without the sending: what both kinds of feed have in common.

What could not be sent stays here with its idempotency key, so that the next attempt, whenever it
comes, cannot apply it twice.
"""

from __future__ import annotations

import math
from typing import Final

from upstream.clock import Clock
from upstream.errors import ParameterError

from . import requests
from .answers import Counts, Key
from .encoding import JSON, check_batch_size, encode_rows
from .exchange import Request

BATCH_SIZE: Final = 1_000
"""How many updates go at once unless told otherwise; JSON gains little beyond."""
BATCH_SECONDS: Final = 0.1
"""How old an update may become in a feed unless told otherwise."""


class Gathering:
    """The updates that wait to be sent, and the batch that is being sent."""

    __slots__ = ("_began_at", "_clock", "_rows", "_sent", "_size", "_stream", "_unsent", "counts")

    def __init__(self, stream: str, *, size: int, clock: Clock) -> None:
        check_batch_size(size)
        self._stream = stream
        self._size = size
        self._clock = clock
        self._rows: list[bytes] = []
        self._began_at = 0.0
        self._unsent: tuple[int, Request[Counts]] | None = None
        self._sent = 0
        self.counts = Counts()
        """What became of all that was sent so far."""

    def add(self, key: Key, value: object, time: float | None) -> int:
        """Add an update, and return how many wait now; ValueNotEncodableError if it is refused."""
        row = encode_rows(((key, time, value),))[1:-1]
        if not self._rows:
            self._began_at = self._clock.now()
        self._rows.append(row)
        return len(self._rows)

    @property
    def is_full(self) -> bool:
        """Whether there are enough updates to be sent."""
        return len(self._rows) >= self._size

    def age(self) -> float | None:
        """Return the seconds that the oldest update has waited to be sent, None if none does."""
        return self._clock.now() - self._began_at if self._rows else None

    def next_request(self) -> Request[Counts] | None:
        """Return what to send next, which is what failed if something did; None if nothing."""
        if self._unsent is None and self._rows:
            rows, self._rows = self._rows, []
            body = b"[" + b",".join(rows) + b"]"
            self._unsent = len(rows), requests.put_body(self._stream, body, JSON)
        return None if self._unsent is None else self._unsent[1]

    def sent(self, counts: Counts) -> None:
        """Note what became of the last request."""
        self.counts = self.counts.plus(counts, sent=self._sent)
        self.gave_up()

    def gave_up(self) -> None:
        """Forget the last request, as it is done or would be refused again."""
        assert self._unsent is not None
        self._sent += self._unsent[0]
        self._unsent = None


def check_batch_seconds(seconds: float | None) -> None:
    """Raise ParameterError unless `seconds` is a time to wait, or None."""
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise ParameterError("batch_seconds", seconds, "a number of seconds above 0, or None")
