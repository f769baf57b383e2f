"""The parameters that both clients share: the service's address, headers, timeouts and retries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeVar
from urllib.parse import urlsplit

import httpx2

from upstream.clock import Clock, SystemClock
from upstream.errors import ParameterError

from .answers import Answer
from .exchange import Exchange, Request
from .retries import LONGEST_SECONDS, RetryPolicy, is_wait, retry_after_seconds

TIMEOUT_SECONDS: Final = 30.0
"""How long each step of a call may take by default."""
LIMITS: Final = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
"""No limit on connections, because a call that waits for updates occupies one for a long time."""

T = TypeVar("T")

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class Connection:
    """The checked parameters of a client, and the HTTP messages that follow from them."""

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
        """Check the parameters; ParameterError names the first one that is invalid."""
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
        """Return the state of one request over its retries."""
        return Exchange(
            request,
            url=str(without_password(self.url)),
            policy=self.retries,
            random=self.random,
            now=self.clock.now,
        )

    def message(self, request: Request[T]) -> httpx2.Request:
        """Return the HTTP request for a request."""
        patience = httpx2.Timeout(self.timeout, read=self.timeout + request.patience)
        return httpx2.Request(
            request.method,
            self.url + request.path,
            content=request.body or None,
            headers=httpx2.Headers(self.headers | request.headers(), encoding="latin-1"),
            extensions={"timeout": patience.as_dict()},
        )

    def answer(self, response: httpx2.Response) -> Answer:
        """Return the answer in an HTTP response."""
        after = retry_after_seconds(response.headers.get("Retry-After"), self.clock.now())
        return Answer(response.status_code, response.content, after)


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers that can be sent; ParameterError names the first one that cannot."""
    for name, value in headers.items():
        if not (isinstance(name, str) and _HEADER_NAME.fullmatch(name)):
            raise ParameterError("the name of a header", name, "letters, digits and hyphens")
        if not (isinstance(value, str) and _HEADER_VALUE.fullmatch(value)):
            raise ParameterError(f"the header {name}", value, "one line of text in Latin-1")
    return dict(headers)


def service_url(url: str) -> str:
    """Return the address of a service without a trailing slash; ParameterError if it is invalid.

    >>> service_url("http://127.0.0.1:8000/")
    'http://127.0.0.1:8000'
    """
    try:
        is_address = _is_address(url)
    except (ValueError, AttributeError, TypeError, httpx2.InvalidURL):
        is_address = False
    if not is_address:
        raise ParameterError(
            "url",
            without_password(url),
            "the address of the service, such as http://127.0.0.1:8000",
        )
    return url.rstrip("/")


def web_socket_url(url: str) -> str:
    """Return the websocket address of the same service.

    >>> web_socket_url("https://example.org/upstream")
    'wss://example.org/upstream'
    """
    return "ws" + url.removeprefix("http")


def without_password(url: object) -> object:
    """Return an address with its password masked, for messages.

    >>> without_password("http://me:secret@example.org")
    'http://me:***@example.org'
    """
    if not isinstance(url, str):
        return url
    return re.sub(r"//([^/@:]*):.*@", r"//\1:***@", url)


def _is_address(url: str) -> bool:
    if not url.isprintable() or " " in url:  # urlsplit silently removes some of these
        return False
    httpx2.URL(url).raw_host.decode("ascii").encode("idna")  # as the name resolver does it
    parts = urlsplit(url)
    is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
    return is_address and parts.port != 0 and not (parts.query or parts.fragment)
