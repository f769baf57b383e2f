"""One call to the service, without the I/O: what to send, when to retry, and the result.

A :class:`Request` is a value. An :class:`Exchange` is the state of one request over its retries.
A `Call` makes several requests, one after the other. The clients only send bytes and wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import KW_ONLY, dataclass, field
from random import Random
from typing import Final, Generic, TypeAlias, TypeVar

import httpx2
import msgspec

from upstream.errors import UpStreamError

from .answers import Answer
from .errors import (
    AnswerNotUnderstoodError,
    RequestRefusedError,
    ServiceUnreachableError,
    refusal,
)
from .retries import WORTH_A_RETRY, RetryPolicy

R = TypeVar("R")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

BROKEN: Final = (httpx2.RequestError, RuntimeError)
"""What the HTTP library raises when no answer comes, or an incomplete one."""
NOT_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
"""Failures raised before anything was sent. After others, the service may have acted."""


@dataclass(frozen=True, slots=True)
class Request(Generic[T_co]):
    """What to send, and how to parse the answer."""

    method: str
    path: str
    """The path below the address of the service, encoded, with the query."""
    read: Callable[[bytes], T_co]
    """Parses the body of an answer; raises msgspec.DecodeError if it cannot."""
    body: bytes = b""
    content_type: str = ""
    idempotency_key: str = ""
    """The service recognises a retry by this key."""
    patience: float = 0.0
    """For how many seconds the service was asked to wait before it answers."""
    began_at: float | None = None
    """When an earlier call sent it first. The time limit for retries counts from then."""
    if_refused: Callable[[RequestRefusedError], T_co | None] | None = None
    """Returns the result that a refusal stands for, or None to raise the refusal."""

    def headers(self) -> dict[str, str]:
        """Return the HTTP headers of the request."""
        headers = {"Accept": "application/json"}
        if self.content_type:
            headers["Content-Type"] = self.content_type
        if self.idempotency_key:
            headers["Idempotency-Key"] = self.idempotency_key
        return headers


@dataclass(slots=True)
class Exchange(Generic[T]):
    """The state of one request, from the first attempt to its result; `url` is for messages."""

    request: Request[T]
    _: KW_ONLY
    url: str
    policy: RetryPolicy
    random: Random
    now: Callable[[], float]
    _began_at: float = field(init=False)
    _retries: int = field(init=False, default=0)
    _may_have_arrived: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        began_at = self.request.began_at
        self._began_at = self.now() if began_at is None else began_at

    def after_error(self, error: Exception) -> float:
        """Return the seconds to wait before the retry after an error of the HTTP library."""
        if not isinstance(error, httpx2.RequestError):
            raise error
        return self.after_failure(_reason(error), may_have_arrived=not isinstance(error, NOT_SENT))

    def after_failure(self, reason: str, *, may_have_arrived: bool = True) -> float:
        """Return the seconds to wait before the retry; ServiceUnreachableError after the last."""
        self._may_have_arrived |= may_have_arrived
        if not self._may_retry():
            raise ServiceUnreachableError(
                self.url, reason, self._retries + 1, may_have_arrived=self._may_have_arrived
            )
        self._retries += 1
        return self.policy.delay(self._retries, self.random)

    def after_answer(self, answer: Answer) -> float | None:
        """Return the seconds to wait before the retry; None if the answer is final."""
        if answer.status not in WORTH_A_RETRY or not self._may_retry():
            return None
        delay = self.policy.delay_asked_for(answer.retry_after, self._retries + 1, self.random)
        if delay is not None:
            self._retries += 1
            self._may_have_arrived = True
        return delay

    def result(self, answer: Answer) -> T:
        """Return the value of a final answer, or raise the exception for its refusal."""
        request = self.request
        if 200 <= answer.status < 300:
            return self._read(answer)
        refused = refusal(answer)
        meant = request.if_refused(refused) if request.if_refused is not None else None
        if meant is None:
            raise refused
        return meant

    def _may_retry(self) -> bool:
        return self.policy.is_worth_it(self._retries + 1, self.now() - self._began_at)

    def _read(self, answer: Answer) -> T:
        try:
            return self.request.read(answer.body)
        except msgspec.DecodeError as error:
            raise AnswerNotUnderstoodError(self.url, answer.status, str(error)) from error


Call: TypeAlias = Generator[Request[R], R, T]
"""A call that needs several requests: yields each request, is sent its result, returns a value."""


def run(call: Call[R, T], send: Callable[[Request[R]], R]) -> T:
    """Return the value of a call; `send` exchanges each request for its result."""
    try:
        request = next(call)
        while True:
            try:
                result = send(request)
            except UpStreamError as error:  # the call decides whether it goes on
                request = call.throw(error)
            else:
                request = call.send(result)
    except StopIteration as end:
        value: T = end.value
        return value


async def run_async(call: Call[R, T], send: Callable[[Request[R]], Awaitable[R]]) -> T:
    """Return the value of a call; awaits `send` for each request. See `run`."""
    try:
        request = next(call)
        while True:
            try:
                result = await send(request)
            except UpStreamError as error:  # the call decides whether it goes on
                request = call.throw(error)
            else:
                request = call.send(result)
    except StopIteration as end:
        value: T = end.value
        return value


def reader_of(kind: type[T]) -> Callable[[bytes], T]:
    """Return a function that parses JSON as `kind`."""
    return msgspec.json.Decoder(kind).decode


def _reason(error: Exception) -> str:
    if isinstance(error, httpx2.PoolTimeout):
        return "all connections of this client were busy for too long"
    return str(error) or type(error).__name__
