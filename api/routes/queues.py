"""`/v1/queues`: queues, what waits in them, and how stale they are."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Body, Query, Request, Response
from pydantic import BaseModel, Field

from upstream import UnknownKeyError

from ..bodies import write_update
from ..counters import Counters, counters_of
from ..definitions import QueueDefinition
from ..entries import QueueEntry, Serves
from ..http import JSON
from ..queue_reports import MOST_STALEST
from .descriptions import LINKS_OF_QUEUE, STALENESS, UPDATE, examples, problems
from .parameters import (
    KEY,
    QueueName,
    RetryKey,
    TheKey,
    TheQueue,
    TheService,
    done_once,
)

router = APIRouter(prefix="/v1/queues", tags=["queues"])

EXAMPLES: Final = examples(
    newest={},
    leased={"lease_seconds": 30, "longest_wait": 5},
    weighted={"weights": {"IBM": 10, "GO*": 2}},
    every_update={"kind": "append", "capacity": 100_000},
    means_of_a_minute={"kind": "window", "window": {"size": 60, "of": "price"}},
)
USUAL_STALEST: Final = 10
SERVES: Final = (
    "`push` if connections have followed the queue and nothing was dequeued from it. Each "
    "connection has a queue of its own, and this one holds nothing. The first dequeue changes it "
    "to `dequeue`. The queue then begins with the newest values of the keys that changed since it "
    "was defined, and with the deletions since then that the stream remembers (10,000 at most). "
    "See `keep_for_dequeue`."
)


class QueueView(QueueDefinition):
    """A queue's definition, and how much waits in it."""

    name: str = Field(description="The queue's name.")
    waiting: int = Field(description="How many updates wait, or how many keys of a window queue.")
    in_process: int = Field(description="How many were dequeued and are not delivered yet.")
    subscribers: int = Field(description="How many push connections follow it.")
    serves: Serves = Field(description=SERVES)


class QueueList(BaseModel):
    """All queues."""

    queues: list[QueueView] = Field(description="In the order of their creation.")


class DroppedQueue(BaseModel):
    """A deleted queue, with its final statistics."""

    name: str = Field(description="The queue's name.")
    statistics: Counters = Field(description="Its final counters.")


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


@router.get("", summary="List the queues", responses=problems(406))
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
        200: {"model": QueueView, "description": "It existed already, with this definition."},
        201: {"description": "It was created.", "links": LINKS_OF_QUEUE},
        **problems(400, 409, 413, 415, 422),
    },
)
async def put_queue(
    service: TheService,
    name: QueueName,
    response: Response,
    definition: Annotated[QueueDefinition | None, Body(openapi_examples=EXAMPLES)] = None,
) -> QueueView:
    """Create the queue, or confirm that it exists with this definition.

    Its stream is created, too, if it does not exist. A queue of that name with another definition
    is an error (409), and stays as it is.
    """
    entry, is_new = service.define_queue(name, definition or QueueDefinition())
    response.status_code = 201 if is_new else 200
    return view_of(entry)


@router.get("/{queue}", summary="Look at a queue", responses=problems(404, 422))
async def get_queue(entry: TheQueue) -> QueueView:
    """Return the queue's definition, and how much waits."""
    return view_of(entry)


@router.delete(
    "/{queue}",
    summary="Delete a queue",
    response_model=DroppedQueue,
    responses=problems(400, 404, 409, 422),
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
    summary="Read the waiting update of a key",
    response_class=Response,
    responses={200: UPDATE, **problems(404, 406, 422)},
)
async def get_waiting(entry: TheQueue, key: TheKey, request: Request) -> Response:
    """Return the key's newest waiting update; nothing changes."""
    entry.catch_up()
    update = entry.queue.read(key)
    if update is None:
        raise UnknownKeyError(None)
    content_type, body = write_update(update, request.headers.get("accept"))
    return Response(body, media_type=content_type)


@router.get("/{queue}/statistics", summary="Read the exact counters", responses=problems(404, 422))
async def get_statistics(entry: TheQueue) -> Counters:
    """Return the counters of the queue since it was defined.

    `arrived + returned` is the sum of `dequeued`, `superseded`, `late`, `expired`, `shed`,
    `rejected` and `waiting`.
    """
    entry.catch_up()
    return counters_of(entry.statistics())


@router.get(
    "/{queue}/staleness",
    summary="Read how stale it is",
    response_class=Response,
    responses={200: STALENESS, **problems(404, 422)},
)
async def get_staleness(
    entry: TheQueue,
    stalest: Annotated[
        int, Query(ge=0, le=MOST_STALEST, description="How many of the stalest keys to list.")
    ] = USUAL_STALEST,
) -> Response:
    """Return the staleness, the stalest keys, and a lower bound that assumes Poisson arrivals.

    A queue of more than 2,000 keys may answer a report that is some seconds old.
    """
    entry.catch_up()
    report = await entry.reports.get()
    keys = report["stalest_keys"]
    assert isinstance(keys, list)
    shown = {"queue": entry.name, **report, "stalest_keys": keys[:stalest]}
    return Response(msgspec.json.encode(shown), media_type=JSON)
