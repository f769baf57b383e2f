"""A service that answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import httpx2
import msgspec

from upstream import Clock, ManualClock
from upstream.client import AsyncClient, Client, RetryPolicy

from .both_clients import Connect

URL = "http://service.test"

Reply: TypeAlias = httpx2.Response | Exception
"""What a request comes to: an answer, or what the network raises."""


class ScriptedService:
    """Gives the replies in their order, the last one again and again."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.requests: list[httpx2.Request] = []
        self.delays: list[float] = []
        self.before_reply: Callable[[httpx2.Request], None] = lambda _: None
        """Called with each request, before it is answered."""

    def replies(self, *replies: Reply) -> None:
        """Give these replies from now on."""
        self._replies = list(replies)

    def client(
        self,
        connect: Connect = Client,
        *,
        retries: int | RetryPolicy = 3,
        clock: Clock | None = None,
    ) -> Client:
        """Return a client that never sleeps, and whose clock stands still unless one is given."""
        return connect(
            URL,
            retries=retries,
            transport=httpx2.MockTransport(self.reply),
            sleep=self.delays.append,
            clock=clock or ManualClock(),
        )

    def async_client(self, *, clock: Clock) -> AsyncClient:
        """Return a client to await."""
        return AsyncClient(URL, transport=httpx2.MockTransport(self.reply), clock=clock)

    @property
    def last(self) -> httpx2.Request:
        """Return the last request."""
        return self.requests[-1]

    @property
    def bodies(self) -> list[object]:
        """Return the JSON bodies of the requests, None for those that have none."""
        return [msgspec.json.decode(each.content or b"null") for each in self.requests]

    @property
    def keys(self) -> list[str]:
        """Return the idempotency keys of the requests."""
        return [each.headers["Idempotency-Key"] for each in self.requests]

    def reply(self, request: httpx2.Request) -> httpx2.Response:
        """Return the next reply, or raise it."""
        self.requests.append(request)
        self.before_reply(request)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, Exception):
            raise reply
        # One that was sent is spent; a new one is as good.
        return httpx2.Response(reply.status_code, headers=reply.headers, content=reply.content)


def answer(value: object, status: int = 200, **headers: str) -> httpx2.Response:
    """Return an answer with a JSON body."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return httpx2.Response(status, headers=named, content=msgspec.json.encode(value))


def problem(status: int, title: str, detail: str = "", **members: object) -> httpx2.Response:
    """Return a refusal as the service sends it."""
    said = {"type": "about:blank", "title": title, "status": status, "detail": detail, **members}
    return httpx2.Response(
        status,
        headers={"Content-Type": "application/problem+json"},
        content=msgspec.json.encode(said),
    )


COUNTS = answer({"waiting": 1, "superseded": 0, "late": 0, "rejected": 0, "outside": 0}, 202)


def requested(service: ScriptedService, call: Callable[[Client], object]) -> httpx2.Request:
    """Return what a call sends."""
    with service.client() as client:
        call(client)
    return service.last


def targets(requests: Iterable[httpx2.Request]) -> list[tuple[str, str]]:
    """Return the method, and the path with its query as it was sent, of each request."""
    return [(each.method, each.url.raw_path.decode()) for each in requests]
