"""Answers kept for some time, so that a retry gets the answer of the first request.

A client that got no answer cannot know whether its request was carried out. It sends the request
again with the same `Idempotency-Key`. A retry that arrives while the first request is still under
way waits for its answer.

If an answer is too large to be kept that long, the service remembers that it existed. A retry then
gets an error that says so, and is not carried out again.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from upstream import UpStreamError

LONGEST_KEY: Final = 255


class IdempotencyKeyError(UpStreamError, ValueError):
    """An idempotency key is empty, too long, or not of printable ASCII."""

    def __init__(self) -> None:
        super().__init__(
            f"an Idempotency-Key has 1 to {LONGEST_KEY} printable ASCII characters; send a new "
            "UUID with each request, and the same UUID with its retries"
        )


class IdempotencyKeyReusedError(UpStreamError, ValueError):
    """An idempotency key was used for another request before."""

    def __init__(self) -> None:
        super().__init__(
            "this Idempotency-Key was used for another request; use a new one for each request"
        )


class AnswerNotKeptError(UpStreamError, LookupError):
    """A retry repeats a request that was carried out, but whose answer is no longer kept."""

    def __init__(self) -> None:
        super().__init__(
            "the request was carried out, but its answer is no longer kept; ask for fewer updates "
            "at once, or raise UPSTREAM_IDEMPOTENCY_BYTES"
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that a client got."""

    status: int
    content_type: str
    body: bytes


@dataclass(slots=True)
class Record:
    """A request that carries an idempotency key."""

    fingerprint: bytes
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the request was carried out or has failed."""
    is_done: bool = False
    """Whether the request was carried out."""
    answer: Answer | None = None
    """The answer, as long as it is kept."""
    done_at: float = math.inf
    lasts_until: float = math.inf
    """From when on a retry is a new request, even if the answer is still kept."""
    on_forget: Callable[[], None] | None = None
    """Called when retries can no longer get the answer."""

    def drop(self) -> int:
        """Forget the answer, and return its length."""
        answer, on_forget = self.answer, self.on_forget
        self.answer = self.on_forget = None
        if on_forget is not None:
            on_forget()
        return 0 if answer is None else len(answer.body)


def check_key(key: str) -> None:
    """Raise IdempotencyKeyError unless `key` is valid."""
    if not (1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        raise IdempotencyKeyError


def fingerprint(*parts: bytes) -> bytes:
    """Return a digest that identifies a request."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


class IdempotentAnswers:
    """Recent answers. The oldest are forgotten first: bounded by age, number and size."""

    def __init__(
        self, *, now: Callable[[], float], seconds: float, most_records: int, most_bytes: int
    ) -> None:
        self._now = now
        self._seconds = seconds
        self._most_records = most_records
        self._most_bytes = most_bytes
        self._under_way: dict[str, Record] = {}
        self._done: OrderedDict[str, Record] = OrderedDict()
        self._kept: OrderedDict[str, Record] = OrderedDict()
        """The entries of `_done` whose answers are kept."""
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self.replays = 0
        """How many requests were answered again."""

    async def once(
        self, what: str, retry_key: str | None, parts: Iterable[bytes], act: Callable[[], Answer]
    ) -> Answer:
        """Return the answer of `act`, or the answer to the same request before.

        `what` names the action and its object, and `parts` identify the request. Without a key
        `act` is always called. Raises IdempotencyKeyError if the key is not valid.
        """
        if retry_key is None:
            return act()
        check_key(retry_key)
        key = f"{what} {retry_key}"
        record = await self.begin(key, fingerprint(*parts))
        if record.answer is not None:
            return record.answer
        try:
            answer = act()
        except BaseException:
            self.cancel(key)
            raise
        self.finish(key, answer)
        return answer

    async def begin(self, key: str, request: bytes) -> Record:
        """Return the record of a request: with its answer, or else for the caller to carry out.

        The caller that receives a record without an answer must call `finish` or `cancel`. It waits
        while the same request is under way. Raises IdempotencyKeyReusedError if the key was used
        for another request, and AnswerNotKeptError if the answer is no longer kept.
        """
        self.forget_old()
        while True:
            record = self._known(key)
            if record is None:
                record = self._under_way[key] = Record(request)
                return record
            if record.fingerprint != request:
                raise IdempotencyKeyReusedError
            await record.ended.wait()
            if not record.is_done:
                continue
            if record.answer is None:
                raise AnswerNotKeptError
            self.replays += 1
            return record

    def finish(
        self,
        key: str,
        answer: Answer,
        *,
        on_forget: Callable[[], None] | None = None,
        lasts_until: float = math.inf,
    ) -> None:
        """Keep the answer. `on_forget` is called when a retry can no longer get it."""
        record = self._done[key] = self._kept[key] = self._under_way.pop(key)
        record.is_done = True
        record.answer = answer
        record.on_forget = on_forget
        record.lasts_until = lasts_until
        record.done_at = self._now()
        record.ended.set()
        self._bytes += len(answer.body)
        self.forget_old()
        self._set_timer()

    def cancel(self, key: str) -> None:
        """Let the next request with this key be carried out, since this one was not."""
        self._under_way.pop(key).ended.set()

    def forget_old(self) -> None:
        """Forget answers that are too old, too many, or too large together.

        The last answer is kept, however long it is.
        """
        oldest = self._now() - self._seconds
        done = self._done
        while done:
            key = next(iter(done))
            if done[key].done_at > oldest and len(done) <= self._most_records:
                break
            self._forget(key)
        while self._bytes > self._most_bytes and len(self._kept) > 1:
            self._bytes -= self._kept.popitem(last=False)[1].drop()

    def forget_all(self) -> None:
        """Forget all requests that are not under way."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for key in list(self._done):
            self._forget(key)

    def _known(self, key: str) -> Record | None:
        record = self._under_way.get(key) or self._done.get(key)
        if record is not None and record.is_done and record.lasts_until <= self._now():
            self._forget(key)
            return None
        return record

    def _forget(self, key: str) -> None:
        record = self._done.pop(key)
        if self._kept.pop(key, None) is not None:
            self._bytes -= record.drop()

    def _set_timer(self) -> None:
        """Forget old answers in time, even if no further request comes."""
        if self._timer is None and self._done:
            due = next(iter(self._done.values())).done_at + self._seconds
            delay = max(due - self._now(), 0.0) + 0.1
            self._timer = asyncio.get_running_loop().call_later(delay, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self.forget_old()
        self._set_timer()

    def __len__(self) -> int:
        """Return how many requests are remembered."""
        return len(self._under_way) + len(self._done)

    def _check(self) -> None:
        assert self._kept.keys() <= self._done.keys()
        answers = [record.answer for record in self._kept.values()]
        assert self._bytes == sum(len(answer.body) for answer in answers if answer is not None)
        assert not self._under_way.keys() & self._done.keys(), "a request that is done twice"
        times = [record.done_at for record in self._done.values()]
        assert times == sorted(times), "answers out of their order"
