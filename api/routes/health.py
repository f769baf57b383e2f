"""`/livez`, `/readyz`, `/metrics`: for probes and monitoring."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from upstream import __version__

from ..errors import RequestError
from .descriptions import problems
from .parameters import TheService

router = APIRouter(tags=["health"])


class State(BaseModel):
    """The answer of a service that is alive, or ready."""

    status: str = Field(default="ok", description="Always `ok`; anything else is a problem.")
    run: str = Field(description="Identifies this run of the service; it changes with a restart.")
    version: str = Field(default=__version__, description="The version of UpStream.")


@router.get("/livez", summary="Is it alive?")
async def get_livez(service: TheService) -> State:
    """Answer as long as the event loop runs."""
    return State(run=service.run)


@router.get("/readyz", summary="Is it ready for requests?", responses=problems(503))
async def get_readyz(service: TheService) -> State:
    """Answer 200 while the service accepts requests, and 503 while it starts or stops."""
    if service.closing.is_set() or not service.is_ready:
        raise RequestError(
            503, "Not ready", "the service is starting or stopping; try again in a few seconds"
        )
    return State(run=service.run)


@router.get("/metrics", summary="Read the metrics", response_class=Response)
async def get_metrics(service: TheService, request: Request) -> Response:
    """Return all metrics in Prometheus' text format, or as OpenMetrics if `Accept` asks for it."""
    content_type, body = await service.metrics.exposition(request.headers.get("accept", ""))
    return Response(body, headers={"content-type": content_type})
