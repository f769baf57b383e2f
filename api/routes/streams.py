"""`/v1/streams`: streams, their newest values, and deletions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Request, Response
from pydantic import BaseModel

from upstream import Key, Outcome, UnknownKeyError

from ..bodies import choose_answer, read_path_key, write_update, write_updates
from ..definitions import Name, StreamDefinition
from ..entries import StreamEntry
from ..service import Service
from .descriptions import LINKS_OF_STREAM, PROBLEMS, UPDATE, UPDATES
from .key_paths import KEY, AsJson, PathKey
from .retries import RetryKey, done_once
from .statistics_view import Counters, counters_of
from .surroundings import service_of

router = APIRouter(prefix="/v1/streams", tags=["streams"])

TheService = Annotated[Service, Depends(service_of)]
StreamName = Annotated[Name, Path(alias="stream", description="The stream's name.")]


class StreamView(StreamDefinition):
    """A stream as it is."""

    name: str
    keys: int
    arrived: int
    late: int
    rejected: int
    too_far_ahead: int
    queues: list[str]
    subscribers: int
    run: str


class StreamList(BaseModel):
    """All streams."""

    streams: list[StreamView]


class DroppedStream(BaseModel):
    """A stream that is gone, with the final statistics of its queues."""

    name: str
    queues: dict[str, Counters]


class KeyReset(BaseModel):
    """Whether there was anything to forget."""

    reset: bool


class DeletionCounts(BaseModel):
    """What became of a deletion."""

    waiting: int
    superseded: int
    late: int
    rejected: int


def view_of(entry: StreamEntry) -> StreamView:
    """Return what clients see of a stream."""
    counts = entry.stream.statistics()
    return StreamView(
        **entry.definition.model_dump(),
        name=entry.name,
        keys=counts.keys,
        arrived=counts.arrived,
        late=counts.late,
        rejected=counts.rejected,
        too_far_ahead=entry.too_far_ahead,
        queues=list(entry.queues),
        subscribers=len(entry.subscribers),
        run=entry.run,
    )


@router.get("", summary="List the streams", responses=PROBLEMS[406])
async def list_streams(service: TheService) -> StreamList:
    """Return all streams, in the order of their creation."""
    shown = (entry for name, entry in service.streams.items() if not name.startswith("_"))
    return StreamList(streams=[view_of(entry) for entry in shown])


@router.put(
    "/{stream}",
    summary="Create a stream",
    status_code=201,
    response_model=StreamView,
    responses={
        200: {"model": StreamView, "description": "It is there, and just like that."},
        201: {"description": "It is new.", "links": LINKS_OF_STREAM},
        **PROBLEMS[400, 409, 413, 415, 422],
    },
)
async def put_stream(
    service: TheService,
    name: StreamName,
    response: Response,
    definition: Annotated[StreamDefinition | None, Body()] = None,
) -> StreamView:
    """Create the stream, or find that it is just like that already."""
    entry, is_new = service.define_stream(name, definition or StreamDefinition())
    response.status_code = 201 if is_new else 200
    return view_of(entry)


@router.get("/{stream}", summary="Look at a stream", responses=PROBLEMS[404, 422])
async def get_stream(service: TheService, name: StreamName) -> StreamView:
    """Return the stream's definition and counters."""
    return view_of(service.stream(name))


@router.delete(
    "/{stream}",
    summary="Delete a stream",
    response_model=DroppedStream,
    responses=PROBLEMS[400, 404, 409, 422],
)
async def delete_stream(
    service: TheService, name: StreamName, *, retry_key: RetryKey = None
) -> Response:
    """Delete the stream with all its queues, and return their final statistics."""

    def drop() -> DroppedStream:
        final = service.drop_stream(name)
        queues = {queue: counters_of(statistics) for queue, statistics in final.items()}
        return DroppedStream(name=name, queues=queues)

    return await done_once(service, f"drop stream {name}", retry_key, drop)


@router.get(
    "/{stream}/snapshot",
    summary="Read all newest values",
    response_class=Response,
    responses={200: UPDATES, **PROBLEMS[404, 406, 422]},
)
async def get_snapshot(service: TheService, name: StreamName, request: Request) -> Response:
    """Return the newest update of every key that has a value, the newest arrival last."""
    entry = service.stream(name)
    accept = request.headers.get("accept")
    choose_answer(accept)
    content_type, body = write_updates(entry.stream.snapshot(), accept)
    return Response(body, media_type=content_type)


@router.get(
    "/{stream}/keys/" + KEY,
    summary="Read a newest value",
    response_class=Response,
    responses={200: UPDATE, **PROBLEMS[404, 406, 422]},
)
async def get_key(
    service: TheService,
    name: StreamName,
    key: PathKey,
    request: Request,
    *,
    as_json: AsJson = False,
) -> Response:
    """Return the newest update of a key."""
    entry = service.stream(name)
    update = entry.stream.read(_key(service, key, as_json=as_json))
    if update is None:
        raise UnknownKeyError(None)
    content_type, body = write_update(update, request.headers.get("accept"))
    return Response(body, media_type=content_type)


@router.delete(
    "/{stream}/keys/" + KEY,
    summary="Delete a key",
    status_code=202,
    response_model=DeletionCounts,
    responses=PROBLEMS[400, 404, 409, 422],
)
async def delete_key(
    service: TheService,
    name: StreamName,
    key: PathKey,
    *,
    as_json: AsJson = False,
    retry_key: RetryKey = None,
) -> Response:
    """Send a tombstone: it is delivered like any update, and then the key is forgotten.

    The key is held until the deletion was delivered by each queue from which something was ever
    dequeued, by each from which nothing was read yet in any way, and to each push connection. A
    queue that only push connections were served from holds nothing, and is not waited for.
    """
    entry = service.stream(name)
    update_key = _key(service, key, as_json=as_json)

    def delete() -> DeletionCounts:
        outcome = entry.delete(update_key)
        return DeletionCounts(
            waiting=int(outcome is Outcome.WAITING),
            superseded=int(outcome is Outcome.SUPERSEDED),
            late=int(outcome is Outcome.LATE),
            rejected=int(outcome is Outcome.REJECTED),
        )

    what = f"delete {entry.identity}"
    return await done_once(service, what, retry_key, delete, told_by=update_key, status=202)


@router.post(
    "/{stream}/keys/" + KEY + "/reset",
    summary="Reset a key",
    response_model=KeyReset,
    responses=PROBLEMS[400, 404, 409, 422],
)
async def reset_key(
    service: TheService,
    name: StreamName,
    key: PathKey,
    *,
    as_json: AsJson = False,
    retry_key: RetryKey = None,
) -> Response:
    """Forget all that is known of a key at once, so that its next update is accepted.

    Use it after an update with a time far in the future, which makes all later updates of the key
    late. The key's newest value and time are dropped. Its waiting updates in all queues, those of
    push connections included, count as expired. Updates that were dequeued before can still be
    delivered, but do not wait again. Consumers are not told: they keep their value until the next
    update. Resetting an unknown key is not an error.
    """
    entry = service.stream(name)
    update_key = _key(service, key, as_json=as_json)

    def reset() -> KeyReset:
        return KeyReset(reset=entry.reset(update_key))

    what = f"reset {entry.identity}"
    return await done_once(service, what, retry_key, reset, told_by=update_key)


def _key(service: Service, text: str, *, as_json: bool) -> Key:
    return read_path_key(text, as_json=as_json, limits=service.limits)
