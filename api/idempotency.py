"""Answers kept for a while, so that a retry of a request gets the same one and does nothing again.

A client that got no answer cannot know whether its request was carried out. It sends the request
again with the same `Idempotency-Key`; who comes while the first is still under way waits for it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from upstream import UpStreamError

LONGEST_KEY: Final = 255


class IdempotencyKeyError(UpStreamError, ValueError):
    """An idempotency key is empty, too long, or not of printable ASCII."""

    def __init__(self) -> None:
        super().__init__(
            f"an Idempotency-Key is 1 to {LONGEST_KEY} printable ASCII characters; send a new UUID "
            "with each request, and the same one with its retries"
        )


class IdempotencyKeyReusedError(UpStreamError, ValueError):
    """An idempotency key came with another request than before."""

    def __init__(self) -> None:
        super().__init__(
            "this Idempotency-Key came with another request before; use a new one for each request"
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client was answered."""

    status: int
    content_type: str
    body: bytes


@dataclass(slots=True)
class Record:
    """A request that carries an idempotency key."""

    fingerprint: bytes
    began_at: float
    done: asyncio.Event = field(default_factory=asyncio.Event)
    answer: Answer | None = None
    on_forget: Callable[[], None] | None = None
    """What to do when a retry can no longer come."""


def check_key(key: str) -> None:
    """Raise IdempotencyKeyError unless `key` can be one."""
    if not (1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        raise IdempotencyKeyError


def fingerprint(*parts: bytes) -> bytes:
    """Return what tells one request from another."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


class IdempotentAnswers:
    """The answers of late, the oldest forgotten first: by age, number and size."""

    __slots__ = (
        "_bytes",
        "_most_bytes",
        "_most_records",
        "_now",
        "_records",
        "_seconds",
        "_timer",
        "replays",
    )

    def __init__(
        self, *, now: Callable[[], float], seconds: float, most_records: int, most_bytes: int
    ) -> None:
        self._now = now
        self._seconds = seconds
        self._most_records = most_records
        self._most_bytes = most_bytes
        self._records: OrderedDict[str, Record] = OrderedDict()
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self.replays = 0
        """How many requests were answered again."""

    async def begin(self, key: str, request: bytes) -> Record:
        """Return the record of a request: with an answer if there is one, else it is the caller's.

        Who gets one without an answer has to call `finish` or `abandon`. Waits while the same
        request is under way. IdempotencyKeyReusedError if the key came with another request.
        """
        self.forget_old(but=key)
        if self._is_old(key):
            self._forget(key)
        while True:
            record = self._records.get(key)
            if record is None:
                record = self._records[key] = Record(request, self._now())
                return record
            if record.fingerprint != request:
                raise IdempotencyKeyReusedError
            if record.answer is not None:
                self.replays += 1
                return record
            await record.done.wait()

    def finish(
        self, key: str, answer: Answer, *, on_forget: Callable[[], None] | None = None
    ) -> None:
        """Keep the answer; `on_forget` is called when a retry can no longer come."""
        record = self._records[key]
        record.answer = answer
        record.on_forget = on_forget
        record.began_at = self._now()
        self._records.move_to_end(key)
        self._bytes += len(answer.body)
        record.done.set()
        self.forget_old(but=key)
        self._set_timer()

    def abandon(self, key: str) -> None:
        """Let the next one with this key carry the request out, since this one was not."""
        self._records.pop(key).done.set()

    def forget_old(self, *, but: str = "") -> None:
        """Forget what is too old, or too much, `but` one. Requests under way are kept."""
        oldest = self._now() - self._seconds
        doomed = []
        records, size = len(self._records), self._bytes
        for key, record in self._records.items():
            is_too_much = records > self._most_records or size > self._most_bytes
            if record.began_at > oldest and not is_too_much:
                break
            if record.answer is not None and key != but:
                doomed.append(key)
                records -= 1
                size -= len(record.answer.body)
        for key in doomed:
            self._forget(key)

    def _is_old(self, key: str) -> bool:
        record = self._records.get(key)
        if record is None or record.answer is None:
            return False
        return record.began_at <= self._now() - self._seconds

    def forget_all(self) -> None:
        """Forget everything that is not under way."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for key in [key for key, record in self._records.items() if record.answer is not None]:
            self._forget(key)

    def _forget(self, key: str) -> None:
        record = self._records.pop(key)
        assert record.answer is not None, "a request that is under way was forgotten"
        self._bytes -= len(record.answer.body)
        if record.on_forget is not None:
            record.on_forget()

    def _set_timer(self) -> None:
        """Forget what is old in time, though no further request comes."""
        if self._timer is None and self._records:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._seconds + 0.1, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self.forget_old()
        self._set_timer()

    def __len__(self) -> int:
        return len(self._records)
