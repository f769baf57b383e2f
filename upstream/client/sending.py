"""What both clients are made of, but for the waiting: addresses, headers, errors of the network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeVar

import httpx2

from upstream.clock import Clock, SystemClock
from upstream.errors import ParameterError

from .addresses import service_url
from .answers import Answer
from .exchange import Exchange, Request
from .retries import RetryPolicy, retry_after_seconds
from .watching import Watching, WatchOptions

TIMEOUT_SECONDS: Final = 30.0
"""How long each step of a call may take unless told otherwise."""

FAILURES: Final = httpx2.RequestError
"""What is raised when no answer comes, or a garbled one: nobody knows if the service has acted."""

T = TypeVar("T")


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
        if not timeout > 0:
            raise ParameterError("timeout", timeout, "a number of seconds above 0")
        return cls(
            service_url(url),
            timeout,
            retries if isinstance(retries, RetryPolicy) else RetryPolicy(retries),
            dict(headers or {}),
            clock or SystemClock(),
            random or Random(),
        )

    def exchange(self, request: Request[T]) -> Exchange[T]:
        """Return what follows a request over its retries."""
        return Exchange(
            request,
            url=self.url,
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
            headers=self.headers | request.headers(),
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


def reason(error: Exception) -> str:
    """Return what went wrong on the network, in words."""
    return str(error) or type(error).__name__
