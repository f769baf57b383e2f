"""`/docs`: Swagger UI for the API, without files from the web.

FastAPI's own page fetches Swagger UI from another host, which fails behind a firewall. Here the
files come from an installed package.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

_FILES: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}
_KEPT: Final = {"cache-control": "public, max-age=86400", "x-content-type-options": "nosniff"}


def docs_routes() -> list[BaseRoute]:
    """Return the routes of the page and its files."""
    return [
        Route("/docs", _docs, include_in_schema=False),
        Route("/docs/{file}", _file, include_in_schema=False),
    ]


async def _docs(request: Request) -> HTMLResponse:
    app: FastAPI = request.app
    return get_swagger_ui_html(
        openapi_url=str(app.openapi_url).lstrip("/"),
        title=f"{app.title}: the API",
        swagger_js_url="docs/swagger-ui-bundle.js",
        swagger_css_url="docs/swagger-ui.css",
        swagger_favicon_url="docs/favicon-32x32.png",
    )


async def _file(request: Request) -> Response:
    name = request.path_params["file"]
    if name not in _FILES:
        raise HTTPException(404, "no file has this name")
    return Response(_content(name), media_type=_FILES[name], headers=_KEPT)


@cache
def _content(name: str) -> bytes:
    return (files("fastapi_swagger") / "resources" / name).read_bytes()
