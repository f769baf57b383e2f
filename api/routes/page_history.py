"""`/page/history.json`: what the page's charts show of the time before it was opened."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from ..history import History


def history_routes() -> list[BaseRoute]:
    """Return the route, which has to be found before that of the page's files."""
    return [Route("/page/history.json", _history, methods=["GET"], include_in_schema=False)]


async def _history(request: Request) -> JSONResponse:
    history = request.app.state.history
    assert isinstance(history, History), "an application without its history"
    return JSONResponse(history.states())
