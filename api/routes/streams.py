"""`/v1/streams`: streams, their newest values, and deletions."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Body, Request, Response
from pydantic import BaseModel, Field

from upstream import Outcome, UnknownKeyError

from ..bodies import choose_answer, write_update, write_updates
from ..counters import Counters, counters_of
from ..definitions import StreamDefinition
from ..entries import StreamEntry
from .descriptions import LINKS_OF_STREAM, UPDATE, UPDATES, examples, problems
from .parameters import (
    KEY,
    RetryKey,
    StreamName,
    TheKey,
    TheService,
    TheStream,
    done_once,
)

router = APIRouter(prefix="/v1/streams", tags=["streams"])

EXAMPLES: Final = examples(
    newest={},
    bounded_memory={"pool_bytes": 1_048_576, "forget_after": 3_600},
)


class StreamView(StreamDefinition):
    """A stream's definition and counters."""

    name: str = Field(description="The stream's name.")
    keys: int = Field(description="How many keys are known.")
    arrived: int = Field(description="How many updates have arrived, whatever became of them.")
    late: int = Field(description="How many were dropped since a newer one was known.")
    rejected: int = Field(description="How many were rejected since the page pool was full.")
    too_far_ahead: int = Field(
        description="How many were rejected since their times exceed `most_ahead`."
    )
    queues: list[str] = Field(description="The names of the queues that it feeds.")
    subscribers: int = Field(description="How many push connections it feeds.")
    run: str = Field(
        description="Identifies this stream. Another stream of the same name, such as one after a "
        "restart of the service, has another run."
    )


class StreamList(BaseModel):
    """All streams."""

    streams: list[StreamView] = Field(description="In the order of their creation.")


class DroppedStream(BaseModel):
    """A deleted stream, with the final statistics of its queues."""

    name: str = Field(description="The stream's name.")
    queues: dict[str, Counters] = Field(description="The final counters of each of its queues.")


class KeyReset(BaseModel):
    """What a reset did."""

    reset: bool = Field(description="Whether the key was known.")


class DeletionCounts(BaseModel):
    """What became of a deletion: one of these is 1."""

    waiting: int = Field(description="1 if it waits in the queues to be delivered.")
    superseded: int = Field(description="1 if it waits, and replaced a value that waited.")
    late: int = Field(description="1 if it was dropped since a newer update was known.")
    rejected: int = Field(description="1 if the page pool had no room for it.")


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


@router.get("", summary="List the streams", responses=problems(406))
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
        200: {"model": StreamView, "description": "It existed already, with this definition."},
        201: {"description": "It was created.", "links": LINKS_OF_STREAM},
        **problems(400, 409, 413, 415, 422),
    },
)
async def put_stream(
    service: TheService,
    name: StreamName,
    response: Response,
    definition: Annotated[StreamDefinition | None, Body(openapi_examples=EXAMPLES)] = None,
) -> StreamView:
    """Create the stream, or confirm that it exists with this definition.

    A stream of that name with another definition is an error (409), and stays as it is.
    """
    entry, is_new = service.define_stream(name, definition or StreamDefinition())
    response.status_code = 201 if is_new else 200
    return view_of(entry)


@router.get("/{stream}", summary="Look at a stream", responses=problems(404, 422))
async def get_stream(entry: TheStream) -> StreamView:
    """Return the stream's definition and counters."""
    return view_of(entry)


@router.delete(
    "/{stream}",
    summary="Delete a stream",
    response_model=DroppedStream,
    responses=problems(400, 404, 409, 422),
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
    responses={200: UPDATES, **problems(404, 406, 422)},
)
async def get_snapshot(entry: TheStream, request: Request) -> Response:
    """Return the newest update of every key that has a value, the newest arrival last."""
    accept = request.headers.get("accept")
    choose_answer(accept)
    content_type, body = write_updates(entry.stream.snapshot(), accept)
    return Response(body, media_type=content_type)


@router.get(
    "/{stream}/keys/" + KEY,
    summary="Read a newest value",
    response_class=Response,
    responses={200: UPDATE, **problems(404, 406, 422)},
)
async def get_key(entry: TheStream, key: TheKey, request: Request) -> Response:
    """Return the newest update of a key."""
    update = entry.stream.read(key)
    if update is None:
        raise UnknownKeyError(None)
    content_type, body = write_update(update, request.headers.get("accept"))
    return Response(body, media_type=content_type)


@router.delete(
    "/{stream}/keys/" + KEY,
    summary="Delete a key",
    status_code=202,
    response_model=DeletionCounts,
    responses=problems(400, 404, 409, 422),
)
async def delete_key(
    service: TheService, entry: TheStream, key: TheKey, *, retry_key: RetryKey = None
) -> Response:
    """Send a deletion (a tombstone) to all queues of the stream.

    It is delivered like any update, and then the key is forgotten. The key stays known until the
    deletion was delivered to every push connection and by every queue, except queues that only push
    connections have used: these hold nothing.
    """

    def delete() -> DeletionCounts:
        outcome = entry.delete(key)
        return DeletionCounts(
            waiting=int(outcome is Outcome.WAITING),
            superseded=int(outcome is Outcome.SUPERSEDED),
            late=int(outcome is Outcome.LATE),
            rejected=int(outcome is Outcome.REJECTED),
        )

    what = f"delete {entry.identity}"
    return await done_once(service, what, retry_key, delete, told_by=key, status=202)


@router.post(
    "/{stream}/keys/" + KEY + "/reset",
    summary="Reset a key",
    response_model=KeyReset,
    responses=problems(400, 404, 409, 422),
)
async def reset_key(
    service: TheService, entry: TheStream, key: TheKey, *, retry_key: RetryKey = None
) -> Response:
    """Forget a key at once, so that its next update is accepted whatever its time.

    Use it after an update with a time far in the future, which makes all later updates of the key
    late. The newest value and time of the key are dropped. Its waiting updates in all queues,
    including those of push connections, count as expired. Updates that were dequeued before can
    still be delivered, but do not wait again. Consumers are not notified: they keep their value
    until the next update. Resetting an unknown key is not an error.
    """

    def reset() -> KeyReset:
        return KeyReset(reset=entry.reset(key))

    what = f"reset {entry.identity}"
    return await done_once(service, what, retry_key, reset, told_by=key)
