"""One call to the service, without the sending: what to send, how often, and what it came to.

A :class:`Request` is a value; an :class:`Exchange` follows one request over its retries. Both
clients do nothing but send what they are told to and report what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

import msgspec

from .answers import Answer
from .errors import (
    AnswerNotUnderstoodError,
    RequestRefusedError,
    ServiceUnreachableError,
    refusal,
)
from .retries import WORTH_A_RETRY, RetryPolicy

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Request(Generic[T_co]):
    """What to send, and how to read the answer."""

    method: str
    path: str
    """From the root of the service on, encoded, with the query."""
    read: Callable[[bytes], T_co]
    """Makes a value of the body of an answer; msgspec.DecodeError if it is another body."""
    body: bytes = b""
    content_type: str = ""
    idempotency_key: str = ""
    """What the service tells a retry by."""
    patience: float = 0.0
    """Seconds that the service was asked to wait for something before it answers."""
    began_at: float | None = None
    """When it was sent first, if that was by an earlier call; retries end so long after that."""
    if_refused: Callable[[RequestRefusedError], T_co | None] | None = None
    """Makes a value of a refusal that is an answer for all that; None if it is not."""

    def headers(self) -> dict[str, str]:
        """Return the headers that go with it."""
        headers = {"Accept": "application/json"}
        if self.content_type:
            headers["Content-Type"] = self.content_type
        if self.idempotency_key:
            headers["Idempotency-Key"] = self.idempotency_key
        return headers


class Exchange(Generic[T]):
    """One request from its first sending to its result; `url` is the service's, for messages."""

    __slots__ = (
        "_began_at",
        "_may_have_arrived",
        "_now",
        "_policy",
        "_random",
        "_request",
        "_retries",
        "_url",
    )

    def __init__(
        self,
        request: Request[T],
        *,
        url: str,
        policy: RetryPolicy,
        random: Random,
        now: Callable[[], float],
    ) -> None:
        self._request = request
        self._url = url
        self._policy = policy
        self._random = random
        self._now = now
        self._began_at = now() if request.began_at is None else request.began_at
        self._retries = 0
        self._may_have_arrived = False

    def after_failure(self, reason: str, *, may_have_arrived: bool = True) -> float:
        """Return the seconds to wait before it is sent again; ServiceUnreachableError if never."""
        self._may_have_arrived |= may_have_arrived
        if not self._may_retry():
            raise ServiceUnreachableError(
                self._url, reason, self._retries + 1, may_have_arrived=self._may_have_arrived
            )
        self._retries += 1
        return self._policy.delay(self._retries, self._random)

    def after_answer(self, answer: Answer) -> float | None:
        """Return the seconds to wait before it is sent again; None if the answer is final."""
        if answer.status not in WORTH_A_RETRY or not self._may_retry():
            return None
        delay = self._policy.delay_asked_for(answer.retry_after, self._retries + 1, self._random)
        if delay is not None:
            self._retries += 1
            self._may_have_arrived = True
        return delay

    def result(self, answer: Answer) -> T:
        """Return what a final answer says; an error named after the condition if it refuses."""
        request = self._request
        if 200 <= answer.status < 300:
            return self._read(answer)
        refused = refusal(answer)
        meant = request.if_refused(refused) if request.if_refused is not None else None
        if meant is None:
            raise refused
        return meant

    def _may_retry(self) -> bool:
        return self._policy.is_worth_it(self._retries + 1, self._now() - self._began_at)

    def _read(self, answer: Answer) -> T:
        try:
            return self._request.read(answer.body)
        except msgspec.DecodeError as error:
            raise AnswerNotUnderstoodError(self._url, answer.status, str(error)) from error


def reader_of(kind: type[T]) -> Callable[[bytes], T]:
    """Return what reads JSON into values of `kind`."""
    return msgspec.json.Decoder(kind).decode
