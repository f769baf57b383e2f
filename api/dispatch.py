"""From a request to its handler: ASGI handlers for the fast routes, FastAPI for the others.

A request for a fast route costs two string operations before its handler runs. An exception of a
handler becomes a problem (`errors`). An unexpected exception is logged, and answered with 500.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final
from urllib.parse import urlsplit

from .errors import Problem, RequestError, problem_of
from .http import ClientGoneError, answer_problem, check_path, read_body, received, routed_path
from .push.asgi import ALWAYS, Message, Receive, Scope, Send, header, refuse_socket
from .push.events import serve_events
from .push.socket import serve_socket
from .routes.dequeue import post_delivered, post_dequeue
from .routes.updates import post_updates
from .service import Service

Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Handler = Callable[[Service, str, Scope, Receive, Send], Awaitable[int]]

HUNG_UP: Final = 499
"""The status that is counted for a client that disconnected before its answer."""
FOREIGN: Final = Problem(
    403,
    "Foreign origin",
    "a page of another origin sent this request; UPSTREAM_ALLOWED_ORIGINS can allow its origin",
)
MOST_DEFINITION_BYTES: Final = 1 << 20
"""The longest body of a request that brings no updates."""
STOPS: Final = Problem(503, "Not ready", "the service is stopping; try again in a few seconds")
BUG: Final = Problem(500, "Internal error", "the service made a mistake; its log has the details")


async def refuse_get(
    service: Service, name: str, _scope: Scope, _receive: Receive, _send: Send
) -> int:
    """Refuse a request for the websocket route that is not a websocket handshake."""
    service.queue(name)
    raise RequestError(
        426,
        "No websocket",
        "this route is for websockets; connect to ws://.../socket with a websocket client",
    )


_STREAMS: Final = "/v1/streams/"
_QUEUES: Final = "/v1/queues/"
_SOCKET: Final = "/v1/queues/{queue}/socket"
_FAST: Final[dict[tuple[str, str], tuple[str, Handler, str]]] = {
    (_STREAMS, "updates"): ("POST", post_updates, "/v1/streams/{stream}/updates"),
    (_QUEUES, "dequeue"): ("POST", post_dequeue, "/v1/queues/{queue}/dequeue"),
    (_QUEUES, "delivered"): ("POST", post_delivered, "/v1/queues/{queue}/delivered"),
    (_QUEUES, "events"): ("GET", serve_events, "/v1/queues/{queue}/events"),
    (_QUEUES, "socket"): ("GET", refuse_get, _SOCKET),
}
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})

_ELSEWHERE: Final = frozenset({"cross-site", "same-site"})

_log = logging.getLogger("api")


def wrong_method(allowed: str) -> Problem:
    """Return the problem of a request with the wrong method."""
    headers = ((b"allow", allowed.encode()),)
    return Problem(405, "Wrong method", f"this route accepts {allowed} only", headers=headers)


class Dispatch:
    """An ASGI application: the fast routes, and `others` for everything else."""

    def __init__(self, service: Service, others: Application) -> None:
        self.service = service
        self._others = others
        self._allowed_origins = frozenset(service.settings.allowed_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, a websocket, or the application's lifespan."""
        kind = scope["type"]
        if kind == "lifespan":
            await self._others(scope, receive, send)
            return
        started_at = perf_counter()
        if kind == "websocket":
            await self._serve_websocket(scope, receive, send)
            return
        if self._is_foreign(scope):
            await self._refuse(scope, send, "other", FOREIGN)
            return
        path = routed_path(scope)
        prefix = _QUEUES if path.startswith(_QUEUES) else _STREAMS
        name, _, action = path[len(prefix) :].partition("/")
        fast = _FAST.get((prefix, action)) if path.startswith(prefix) else None
        if fast is None:
            await self._serve_others({**scope, "path": path}, receive, send, started_at)
            return
        method, handler, route = fast
        if handler is serve_events and self._is_foreign(scope, even_if_safe=True):
            await self._refuse(scope, send, route, FOREIGN)
            return
        if scope["method"] != method:
            await self._refuse(scope, send, route, wrong_method(method))
            return
        if method == "POST" and name.startswith("_"):
            name = ""  # queues of the service's own can only be followed
        status = await self._serve_fast(handler, name, scope, receive, send)
        if method == "GET" or b"wait=" in scope["query_string"]:
            self.service.meter.count(route, method, status)  # it lasts as long as the client likes
        else:
            self.service.meter.observe(route, method, status, perf_counter() - started_at)

    async def _refuse(self, scope: Scope, send: Send, route: str, problem: Problem) -> None:
        self.service.meter.count(route, scope["method"], problem.status)
        await answer_problem(send, problem)

    async def _serve_fast(
        self, handler: Handler, name: str, scope: Scope, receive: Receive, send: Send
    ) -> int:
        started = False

        async def send_noting(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            return await handler(self.service, name, scope, receive, send_noting)
        except ClientGoneError:
            return HUNG_UP
        except asyncio.CancelledError:
            if started or not self.service.closing.is_set():
                raise
            await answer_problem(send, STOPS)
            return STOPS.status
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                _log.exception("a request failed", extra={"handler": handler.__name__})
                problem = BUG
            if started:
                raise
            await answer_problem(send, problem)
            return problem.status

    async def _serve_others(
        self, scope: Scope, receive: Receive, send: Send, started_at: float
    ) -> None:
        status = HUNG_UP
        method = scope["method"]

        async def send_noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                names = {name for name, _ in message["headers"]}
                missing = [pair for pair in ALWAYS if pair[0] not in names]
                message = {**message, "headers": [*message["headers"], *missing]}
            await send(message)

        try:
            check_path(scope)
            body = await read_body(scope, receive, MOST_DEFINITION_BYTES)
            if method == "HEAD":
                scope = {**scope, "method": "GET"}  # the server leaves out the body of the answer
            await self._others(scope, received(body, receive), send_noting)
        except ClientGoneError:
            pass
        except asyncio.CancelledError:
            if status != HUNG_UP or not self.service.closing.is_set():
                raise
            await answer_problem(send_noting, STOPS)
        except RequestError as error:
            problem = problem_of(error)
            assert problem is not None
            await answer_problem(send_noting, problem)
        finally:
            route = getattr(scope.get("route"), "path_format", "other")
            self.service.meter.observe(route, method, status, perf_counter() - started_at)

    async def _serve_websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = routed_path(scope)
        name, _, action = path.removeprefix(_QUEUES).partition("/")
        is_known = path.startswith(_QUEUES) and action == "socket"
        status = 101
        try:
            if self._is_foreign(scope, even_if_safe=True):
                await receive()
                raise RequestError(FOREIGN.status, FOREIGN.title, FOREIGN.detail)
            if not is_known:
                await receive()
                raise RequestError(404, "No such route", "websockets are at /v1/queues/NAME/socket")
            await serve_socket(self.service, name, scope, receive, send)
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            status = problem.status
            await refuse_socket(
                scope, send, status=status, body=problem.body(), reason=problem.detail
            )
        finally:
            self.service.meter.count(_SOCKET if is_known else "other", "GET", status)

    def _is_foreign(self, scope: Scope, *, even_if_safe: bool = False) -> bool:
        """Tell whether a page of another origin sent this request, which may change something.

        There is no login, so any page in the user's browser could use the service. Following a
        queue is refused as well, since a subscription takes room.
        """
        if scope.get("method") in _SAFE and not even_if_safe:
            return False
        origin = header(scope, b"origin")
        if origin is None:  # as for an image; browsers say which site sent it
            return header(scope, b"sec-fetch-site") in _ELSEWHERE
        if origin in self._allowed_origins:
            return False
        try:
            return urlsplit(origin).netloc != header(scope, b"host")
        except ValueError:
            return True
