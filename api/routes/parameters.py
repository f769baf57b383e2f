"""What FastAPI's routes read from a request: the service, names, keys, and the retry key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final
from urllib.parse import quote, unquote

import msgspec
from fastapi import Depends, Header, Path, Query, Request, Response
from pydantic import BaseModel
from starlette.convertors import Convertor, register_url_convertor

from upstream import Key

from ..bodies import read_path_key
from ..definitions import Name
from ..entries import QueueEntry, StreamEntry
from ..http import JSON
from ..idempotency import Answer
from ..service import Service
from .descriptions import RETRY_KEY, RETRY_KEY_SCHEMA

KEY: Final = "{key:anything}"
"""A key in a path: any text, with slashes and line ends, which Starlette's convertors reject."""


class _Anything(Convertor[str]):
    """Any text, including the empty one."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return unquote(value)  # `routed_path` has left it as it was sent

    def to_string(self, value: str) -> str:
        return quote(value, safe="")


# Starlette looks convertors up by name when a route is made, which is when its module is imported.
register_url_convertor("anything", _Anything())


# Dependencies are coroutines: FastAPI would call functions in another thread.


async def service_of(request: Request) -> Service:
    """Return the service that the application runs."""
    service = request.app.state.service
    assert isinstance(service, Service), "an application without its service"
    return service


TheService = Annotated[Service, Depends(service_of)]
StreamName = Annotated[
    Name, Path(alias="stream", description="The stream's name.", examples=["trades"])
]
QueueName = Annotated[
    Name, Path(alias="queue", description="The queue's name.", examples=["trades"])
]


async def stream_of(service: TheService, name: StreamName) -> StreamEntry:
    """Return the stream that the path names; UnknownNameError if it does not exist."""
    return service.stream(name)


async def queue_of(service: TheService, name: QueueName) -> QueueEntry:
    """Return the queue that the path names; UnknownNameError if it does not exist."""
    return service.queue(name)


async def key_of(
    service: TheService,
    text: Annotated[
        str, Path(alias="key", description="The update key, a string.", examples=["IBM"])
    ],
    *,
    as_json: Annotated[
        bool,
        Query(
            alias="json", description='Read the key as JSON: an integer, or a list `["IBM", 1]`.'
        ),
    ] = False,
) -> Key:
    """Return the key that the path names; InvalidKeyError if it is not a key."""
    return read_path_key(text, as_json=as_json, limits=service.limits)


# A route that needs both declares the stream or queue first: it is looked up first.
TheStream = Annotated[StreamEntry, Depends(stream_of)]
TheQueue = Annotated[QueueEntry, Depends(queue_of)]
TheKey = Annotated[Key, Depends(key_of)]

RetryKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description=RETRY_KEY,
        # Described, and not checked here: a bad one is a 400, as it is everywhere.
        json_schema_extra=RETRY_KEY_SCHEMA,
    ),
]


async def done_once(
    service: Service,
    what: str,
    retry_key: str | None,
    act: Callable[[], BaseModel],
    *,
    told_by: object = None,
    status: int = 200,
) -> Response:
    """Answer with what `act` returns, or with what it returned to the same request before.

    `told_by` distinguishes this request from others that do `what`.
    """

    def answer() -> Answer:
        return Answer(status, JSON, act().model_dump_json().encode())

    parts = (msgspec.json.encode(told_by),)
    kept = await service.idempotent.once(what, retry_key, parts, answer)
    return Response(kept.body, kept.status, media_type=kept.content_type)
