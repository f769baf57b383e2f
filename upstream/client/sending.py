"""What both clients are made of, but for the waiting: addresses, headers, errors of the network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeVar

import httpx2

from upstream.clock import Clock, SystemClock
from upstream.errors import ParameterError

from .addresses import service_url, without_password
from .answers import Answer
from .exchange import Exchange, Request
from .gathering import Gathering
from .retries import LONGEST_SECONDS, RetryPolicy, is_wait, retry_after_seconds
from .watching import Watching, WatchOptions

TIMEOUT_SECONDS: Final = 30.0
"""How long each step of a call may take unless told otherwise."""

FAILURES: Final = httpx2.RequestError
"""What is raised when no answer comes, or a garbled one."""
NOT_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
"""Those of them after which the service has not acted for sure; after others, nobody knows."""
LIMITS: Final = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
"""As many connections as calls, since those that wait for updates hold theirs for long."""

T = TypeVar("T")

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class Connection:
    """The parameters of a client: where the service is, and how patient to be with it."""

    url: str
    timeout: float = TIMEOUT_SECONDS
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    headers: dict[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    random: Random = field(default_factory=Random)

    @classmethod
    def to(
        cls,
        url: str,
        *,
        timeout: float,
        retries: int | RetryPolicy,
        headers: Mapping[str, str] | None,
        clock: Clock | None,
        random: Random | None,
    ) -> Connection:
        """Return the parameters as checked; ParameterError names the one that makes no sense."""
        if not is_wait(timeout):
            raise ParameterError(
                "timeout", timeout, f"a number of seconds above 0, at most {LONGEST_SECONDS:,.0f}"
            )
        return cls(
            service_url(url),
            float(timeout),
            retries if isinstance(retries, RetryPolicy) else RetryPolicy(retries),
            checked_headers(headers or {}),
            clock or SystemClock(),
            random or Random(),
        )

    def exchange(self, request: Request[T]) -> Exchange[T]:
        """Return what follows a request over its retries."""
        return Exchange(
            request,
            url=str(without_password(self.url)),
            policy=self.retries,
            random=self.random,
            now=self.clock.now,
        )

    def message(self, request: Request[T]) -> httpx2.Request:
        """Return a request as HTTP sends it."""
        patience = httpx2.Timeout(self.timeout, read=self.timeout + request.patience)
        return httpx2.Request(
            request.method,
            self.url + request.path,
            content=request.body or None,
            headers=httpx2.Headers(self.headers | request.headers(), encoding="latin-1"),
            extensions={"timeout": patience.as_dict()},
        )

    def answer(self, response: httpx2.Response) -> Answer:
        """Return what came back."""
        after = retry_after_seconds(response.headers.get("Retry-After"), self.clock.now())
        return Answer(response.status_code, response.content, after)

    def watching(self, queue: str, options: WatchOptions, reconnects: int | None) -> Watching:
        """Return what follows a watch over its connections."""
        return Watching(
            self.url,
            queue,
            options,
            policy=self.retries,
            reconnects=reconnects,
            random=self.random,
            now=self.clock.now,
        )

    def gathering(self, stream: str, batch_size: int) -> Gathering:
        """Return what gathers the updates of a feed."""
        return Gathering(
            stream, size=batch_size, clock=self.clock, policy=self.retries, random=self.random
        )


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers as they may be sent; ParameterError names the one that may not."""
    for name, value in headers.items():
        if not (isinstance(name, str) and _HEADER_NAME.fullmatch(name)):
            raise ParameterError("the name of a header", name, "letters, digits and hyphens")
        if not (isinstance(value, str) and _HEADER_VALUE.fullmatch(value)):
            raise ParameterError(f"the header {name}", value, "one line of text in Latin-1")
    return dict(headers)


def reason(error: Exception) -> str:
    """Return what went wrong on the network, in words."""
    if isinstance(error, httpx2.PoolTimeout):
        return "all connections of this client were in use for too long"
    return str(error) or type(error).__name__
