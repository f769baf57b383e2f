"""The files of the page and of `/docs` as routes. Nothing comes from another host.

The page's own files are in this package, the plot library is in its own. There is no build step.
Each file is read, compressed and hashed once, when it is first requested.

`/docs` is Swagger UI for the API. FastAPI's own page fetches it from another host, which fails
behind a firewall. Here its files come from an installed package.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import util
from importlib.resources import files
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from .errors import PROBLEM_TYPE, Problem
from .history import History

PAGE_FOLDER: Final = Path(__file__).parent / "page"
INDEX: Final = "index.html"
PLOT_LIBRARY: Final = "plotly.min.js"

MEDIA_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}

SECURITY_HEADERS: Final = {
    # The plot library puts style sheets and style attributes into the page; nothing else may be
    # inline, and nothing at all may come from another host.
    "content-security-policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}
"""Headers of every answer about the page."""

NO_WEIGHT: Final = re.compile(r"q\s*=\s*0(\.0*)?", re.IGNORECASE)

REVALIDATE: Final = "no-cache"
KEEP_FOR_A_DAY: Final = "public, max-age=86400"


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A file as it is sent, with and without compression."""

    plain: bytes
    compressed: bytes
    etag: str
    media_type: str

    @classmethod
    def read(cls, path: Path) -> ServedFile:
        """Read the file at `path`; raises OSError if that fails."""
        plain = path.read_bytes()
        return cls(
            plain=plain,
            compressed=gzip.compress(plain, compresslevel=6, mtime=0),
            etag=f'"{hashlib.sha256(plain).hexdigest()[:32]}"',
            media_type=MEDIA_TYPES[path.suffix],
        )

    def answer(self, request: Request, cache_control: str) -> Response:
        """Answer with the file, or with 304 if the client has it already."""
        headers = SECURITY_HEADERS | {
            "etag": self.etag,
            "cache-control": cache_control,
            "vary": "accept-encoding",
        }
        if knows(request.headers.getlist("if-none-match"), self.etag):
            return Response(status_code=304, headers=headers)
        headers["content-type"] = self.media_type
        if not accepts_gzip(request.headers.getlist("accept-encoding")):
            return Response(self.plain, headers=headers)
        return Response(self.compressed, headers=headers | {"content-encoding": "gzip"})


def page_routes() -> list[BaseRoute]:
    """Return the routes of the page: `/`, and `/page/{file}` for its parts."""
    paths = page_paths()
    read: dict[str, ServedFile] = {}

    async def file(request: Request) -> Response:
        name = request.path_params.get("file", INDEX)
        if name not in paths:
            return _not_found(name)
        if name not in read:
            # In a thread: to compress the plot library takes a quarter of a second.
            read[name] = await asyncio.to_thread(ServedFile.read, paths[name])
        return read[name].answer(request, KEEP_FOR_A_DAY if name == PLOT_LIBRARY else REVALIDATE)

    return [
        Route("/page/history.json", _history, methods=["GET"], include_in_schema=False),
        Route("/", file, methods=["GET"], include_in_schema=False),
        Route("/page/{file}", file, methods=["GET"], include_in_schema=False),
    ]


def page_paths() -> dict[str, Path]:
    """Return the paths of the page's files by name, with the plot library if it is installed."""
    paths = {
        path.name: path for path in sorted(PAGE_FOLDER.iterdir()) if path.suffix in MEDIA_TYPES
    }
    plotly = plotly_folder()
    if plotly is not None:
        paths[PLOT_LIBRARY] = plotly / "package_data" / PLOT_LIBRARY
    return paths


def plotly_folder() -> Path | None:
    """Return the folder of the package plotly, or None if it is not installed.

    It is not imported, which would take a second and many megabytes for one file.
    """
    found = util.find_spec("plotly")
    return None if found is None or found.origin is None else Path(found.origin).parent


def _not_found(name: str) -> Response:
    detail = "The page has no file of this name."
    if name == PLOT_LIBRARY:
        detail = "The page's charts need the package plotly, which is not installed."
    body = Problem(404, "Not Found", detail).body()
    return Response(body, 404, SECURITY_HEADERS, PROBLEM_TYPE)


def knows(if_none_match: Iterable[str], etag: str) -> bool:
    """Tell whether these `If-None-Match` headers name the entity tag, or any.

    >>> knows(['W/"a", "b"'], '"a"'), knows(["*"], '"a"'), knows([], '"a"')
    (True, True, False)
    """
    tags = {tag.strip().removeprefix("W/") for line in if_none_match for tag in line.split(",")}
    return etag in tags or "*" in tags


def accepts_gzip(accept_encoding: Iterable[str]) -> bool:
    """Tell whether these `Accept-Encoding` headers allow gzip.

    >>> accepts_gzip(["br, gzip;q=0.5"]), accepts_gzip(["gzip;q=0"]), accepts_gzip([])
    (True, False, False)
    """
    for coding in ",".join(accept_encoding).split(","):
        name, _, weight = coding.partition(";")
        if name.strip().lower() in {"gzip", "*"}:
            return NO_WEIGHT.fullmatch(weight.strip()) is None
    return False


async def _history(request: Request) -> JSONResponse:
    history = request.app.state.history
    assert isinstance(history, History), "an application without its history"
    return JSONResponse(history.states())


_DOCS_FILES: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}
_KEPT: Final = {"cache-control": KEEP_FOR_A_DAY, "x-content-type-options": "nosniff"}


def docs_routes() -> list[BaseRoute]:
    """Return the routes of `/docs` and its files."""
    return [
        Route("/docs", _docs, include_in_schema=False),
        Route("/docs/{file}", _docs_file, include_in_schema=False),
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


async def _docs_file(request: Request) -> Response:
    name = request.path_params["file"]
    if name not in _DOCS_FILES:
        raise HTTPException(404, "no file has this name")
    return Response(_docs_content(name), media_type=_DOCS_FILES[name], headers=_KEPT)


@cache
def _docs_content(name: str) -> bytes:
    return (files("fastapi_swagger") / "resources" / name).read_bytes()
