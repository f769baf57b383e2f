"""`/livez`, `/readyz`, `/metrics`: for those who watch over the service."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from upstream import __version__

from ..errors import RequestError
from ..service import Service
from .descriptions import PROBLEMS
from .surroundings import service_of

router = APIRouter(tags=["health"])


class State(BaseModel):
    """That the service is well."""

    status: str = "ok"
    run: str
    version: str = __version__


@router.get("/livez", summary="Is it alive?")
async def get_livez(service: Annotated[Service, Depends(service_of)]) -> State:
    """Return as long as the event loop runs."""
    return State(run=service.run)


@router.get("/readyz", summary="Is it ready for requests?", responses=PROBLEMS[503])
async def get_readyz(service: Annotated[Service, Depends(service_of)]) -> State:
    """Return while requests are welcome, which they no longer are when it shuts down."""
    if service.closing.is_set() or not service.is_ready:
        raise RequestError(503, "Not ready", "the service starts, or shuts down")
    return State(run=service.run)


@router.get("/metrics", summary="Read the metrics", response_class=Response)
async def get_metrics(
    service: Annotated[Service, Depends(service_of)], request: Request
) -> Response:
    """Return all metrics in Prometheus' text format, or as OpenMetrics by `Accept`."""
    content_type, body = await service.metrics.exposition(request.headers.get("accept", ""))
    return Response(body, headers={"content-type": content_type})
