"""`/v1/queues`: queues, what waits in them, and how stale they are."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Body, Depends, Path, Query, Request, Response
from pydantic import BaseModel, Field

from upstream import UnknownKeyError

from ..bodies import read_path_key, write_update
from ..definitions import Name, QueueDefinition
from ..entries import QueueEntry, Serves
from ..http import JSON
from ..queue_reports import MOST_STALEST
from ..service import Service
from .descriptions import LINKS_OF_QUEUE, PROBLEMS, STALENESS, UPDATE
from .key_paths import KEY, AsJson, PathKey
from .retries import RetryKey, done_once
from .statistics_view import Counters, counters_of
from .surroundings import service_of

router = APIRouter(prefix="/v1/queues", tags=["queues"])

TheService = Annotated[Service, Depends(service_of)]
QueueName = Annotated[Name, Path(alias="queue", description="The queue's name.")]
USUAL_STALEST: Final = 10
SERVES: Final = (
    "`push` once connections were served and nothing was dequeued yet: each connection has a "
    "queue of its own, and this one holds nothing. The first dequeue makes it `dequeue`: it begins "
    "with the newest values of the keys that changed since it was defined, and with the deletions "
    "since then that are remembered (10,000 per stream). See `keep_for_dequeue`."
)


class QueueView(QueueDefinition):
    """A queue as it is."""

    name: str
    waiting: int
    in_process: int
    subscribers: int
    serves: Serves = Field(description=SERVES)


class QueueList(BaseModel):
    """All queues."""

    queues: list[QueueView]


class DroppedQueue(BaseModel):
    """A queue that is gone, with its final statistics."""

    name: str
    statistics: Counters


def view_of(entry: QueueEntry) -> QueueView:
    """Return what clients see of a queue."""
    entry.catch_up()
    return QueueView(
        **entry.definition.model_dump(),
        name=entry.name,
        waiting=len(entry.queue),
        in_process=entry.statistics().in_process,
        subscribers=sum(1 for other in entry.stream.subscribers if other.queue == entry.name),
        serves=entry.serves,
    )


@router.get("", summary="List the queues", responses=PROBLEMS[406])
async def list_queues(service: TheService) -> QueueList:
    """Return all queues, in the order of their creation."""
    shown = (entry for name, entry in service.queues.items() if not name.startswith("_"))
    return QueueList(queues=[view_of(entry) for entry in shown])


@router.put(
    "/{queue}",
    summary="Create a queue",
    status_code=201,
    response_model=QueueView,
    responses={
        200: {"model": QueueView, "description": "It is there, and just like that."},
        201: {"description": "It is new.", "links": LINKS_OF_QUEUE},
        **PROBLEMS[400, 409, 413, 415, 422],
    },
)
async def put_queue(
    service: TheService,
    name: QueueName,
    response: Response,
    definition: Annotated[QueueDefinition | None, Body()] = None,
) -> QueueView:
    """Create the queue, and its stream if that is missing, or find that it is like that already."""
    entry, is_new = service.define_queue(name, definition or QueueDefinition())
    response.status_code = 201 if is_new else 200
    return view_of(entry)


@router.get("/{queue}", summary="Look at a queue", responses=PROBLEMS[404, 422])
async def get_queue(service: TheService, name: QueueName) -> QueueView:
    """Return the queue's definition, and how much waits."""
    return view_of(service.queue(name))


@router.delete(
    "/{queue}",
    summary="Delete a queue",
    response_model=DroppedQueue,
    responses=PROBLEMS[400, 404, 409, 422],
)
async def delete_queue(
    service: TheService, name: QueueName, *, retry_key: RetryKey = None
) -> Response:
    """Delete the queue, and return its final statistics."""

    def drop() -> DroppedQueue:
        return DroppedQueue(name=name, statistics=counters_of(service.drop_queue(name)))

    return await done_once(service, f"drop queue {name}", retry_key, drop)


@router.get(
    "/{queue}/keys/" + KEY,
    summary="Read what waits of a key",
    response_class=Response,
    responses={200: UPDATE, **PROBLEMS[404, 406, 422]},
)
async def get_waiting(
    service: TheService, name: QueueName, key: PathKey, request: Request, *, as_json: AsJson = False
) -> Response:
    """Return the key's newest waiting update; nothing changes."""
    entry = service.queue(name)
    entry.catch_up()
    update = entry.queue.read(read_path_key(key, as_json=as_json, limits=service.limits))
    if update is None:
        raise UnknownKeyError(None)
    content_type, body = write_update(update, request.headers.get("accept"))
    return Response(body, media_type=content_type)


@router.get("/{queue}/statistics", summary="Read the exact counters", responses=PROBLEMS[404, 422])
async def get_statistics(service: TheService, name: QueueName) -> Counters:
    """Return the counters, of which `arrived + returned` is the sum of what became of updates."""
    entry = service.queue(name)
    entry.catch_up()
    return counters_of(entry.statistics())


@router.get(
    "/{queue}/staleness",
    summary="Read how stale it is",
    response_class=Response,
    responses={200: STALENESS, **PROBLEMS[404, 422]},
)
async def get_staleness(
    service: TheService,
    name: QueueName,
    stalest: Annotated[int, Query(ge=0, le=MOST_STALEST)] = USUAL_STALEST,
) -> Response:
    """Return staleness, which keys are stalest, and the lower bound under memoryless arrivals.

    Of many keys the report is made less often than it is asked for.
    """
    entry = service.queue(name)
    entry.catch_up()
    report = await entry.reports.get()
    keys = report["stalest_keys"]
    assert isinstance(keys, list)
    shown = {"queue": name, **report, "stalest_keys": keys[:stalest]}
    return Response(msgspec.json.encode(shown), media_type=JSON)
