"""Routes of FastAPI's that do something once, however often they are asked to by one retry key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec
from fastapi import Header, Response
from pydantic import BaseModel

from ..http import JSON
from ..idempotency import Answer
from ..service import Service
from .descriptions import RETRY_KEY, RETRY_KEY_SCHEMA

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

    `told_by` is what tells this request from others that do `what`.
    """

    def answer() -> Answer:
        return Answer(status, JSON, act().model_dump_json().encode())

    parts = (msgspec.json.encode(told_by),)
    kept = await service.idempotent.once(what, retry_key, parts, answer)
    return Response(kept.body, kept.status, media_type=kept.content_type)
