"""The application: the service, its routes, and its background tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final, cast, get_args

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from upstream import UpStreamError, __version__

from .bodies import BodyError
from .definitions import QueueDefinition, StreamDefinition, WindowDefinition
from .demo_feed import DemoFeed
from .dispatch import BUG, Dispatch
from .errors import PROBLEM_TYPE, Problem, problem_of
from .history import History
from .monitor import Monitor
from .openapi import describe
from .page_files import docs_routes, page_routes
from .routes import health, queues, streams
from .service import Service
from .settings import Settings
from .unknown_names import unknown_name


def create_application(settings: Settings | None = None) -> Dispatch:
    """Return the service as an ASGI application."""
    service = Service(Settings() if settings is None else settings)
    app = FastAPI(
        title="UpStream",
        summary="Keeps the newest update of every key, and serves the keys so that the picture "
        "stays fresh.",
        version=__version__,
        lifespan=_lifespan,
        generate_unique_id_function=lambda route: route.name,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    app.state.history = History(service)
    app.router.routes.extend([*page_routes(), *docs_routes()])
    for module in (streams, queues, health):
        app.include_router(module.router)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]  # as FastAPI advises
    app.add_exception_handler(UpStreamError, _answer_error)
    app.add_exception_handler(BodyError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(Exception, _answer_error)
    return Dispatch(service, app)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Run the background tasks while the application is up."""
    service: Service = app.state.service
    tasks = [
        asyncio.create_task(Monitor(service).run(), name="monitor"),
        asyncio.create_task(app.state.history.run(), name="history"),
    ]
    if service.settings.demo:
        tasks.append(asyncio.create_task(DemoFeed(service).run(), name="demo"))
    if service.event_log is not None:
        tasks.append(asyncio.create_task(service.event_log.run(), name="event log"))
    service.is_ready = True
    try:
        yield
    finally:
        service.begin_shutdown()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        service.finish()


def _respond(problem: Problem) -> Response:
    headers = {name.decode(): value.decode() for name, value in problem.headers}
    return Response(problem.body(), problem.status, headers, PROBLEM_TYPE)


async def _answer_error(_request: Request, error: Exception) -> Response:
    return _respond(problem_of(error) or BUG)


async def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    headers = {**(error.headers or {})}
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers["allow"] = _allowed(request)
    raw = tuple((name.lower().encode(), value.encode()) for name, value in headers.items())
    return _respond(Problem(status, status.phrase, error.detail, headers=raw))


def _allowed(request: Request) -> str:
    """Return the methods of a path. Each has a route of its own, which does not know the others."""
    routes = request.app.router.routes
    return ", ".join(
        shown
        for method, shown in _METHODS.items()
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes
        )
    )


async def _answer_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if isinstance(error.body, bytes):  # FastAPI takes nothing else for JSON
        return _respond(Problem(415, "Unsupported content type", "send it as application/json"))
    known = _members(request)
    faults = [
        {"where": _where(fault["loc"], fault["type"]), "what": _what(fault, known)}
        for fault in error.errors()[:10]
    ]
    detail = "; ".join(f"{fault['where']}: {fault['what']}" for fault in faults)
    return _respond(Problem(422, "Bad request", detail, {"faults": faults}))


def _members(request: Request) -> Iterable[str]:
    """Return the members that the body of a request may have."""
    field = getattr(request.scope.get("route"), "body_field", None)
    annotation = None if field is None else field.field_info.annotation
    for kind in (StreamDefinition, QueueDefinition):
        if kind in get_args(annotation):
            return kind.model_fields
    return ()


def _where(location: tuple[object, ...], kind: str) -> str:
    """Return where a fault is, by known names only: other names would repeat the input."""
    if kind == UNKNOWN_MEMBER:
        location = location[:-1]
    return ".".join(str(part) for part in location if part in _KNOWN_NAMES) or "request"


def _what(fault: dict[str, object], known: Iterable[str]) -> str:
    if fault["type"] == UNKNOWN_MEMBER:
        *parents, name = cast("tuple[object, ...]", fault["loc"])
        members = WindowDefinition.model_fields if "window" in parents else known
        return unknown_name("member", str(name), members)
    return str(fault["msg"]).removeprefix("Value error, ")


UNKNOWN_MEMBER: Final = "extra_forbidden"
_METHODS: Final = {"GET": "GET, HEAD", "PUT": "PUT", "POST": "POST", "DELETE": "DELETE"}
_KNOWN_NAMES: Final = frozenset(
    {
        *("body", "path", "query", "header", "stream", "queue", "key", "json", "stalest"),
        *StreamDefinition.model_fields,
        *QueueDefinition.model_fields,
        *WindowDefinition.model_fields,
    }
)
