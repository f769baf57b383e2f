"""`POST /v1/streams/{stream}/updates`: the way in, and the service's hottest route.

It is an ASGI handler outside of FastAPI; `openapi` describes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from upstream import BatchOutcome, Outcome, ValueTooLargeError

from ..bodies import Batch, Rejection
from ..entries import StreamEntry
from ..errors import RequestError
from ..http import JSON, answer, check_known, flag, query, read_body
from ..idempotency import Answer
from ..push.asgi import Receive, Scope, Send
from ..service import Service

MOST_REJECTIONS: Final = 100
"""How many rejected updates an answer lists, with index and reason."""
LONGER_THAN_POOL: Final = "value: does not fit into the stream's page pool"
TOO_FAR_AHEAD: Final = (
    "time: too far ahead of the service's clock; times are seconds (see the stream's most_ahead)"
)
FULL: Final = "no room; consume faster, or give the stream more memory"


class Counts(msgspec.Struct):
    """What became of the updates of a request."""

    waiting: int = 0
    superseded: int = 0
    late: int = 0
    rejected: int = 0
    outside: int = 0
    rejections: list[Rejection] = []


_ONE: Final = {
    outcome: msgspec.json.encode(
        Counts(
            **{outcome.value: 1},
            rejections=[Rejection(0, FULL)] if outcome is Outcome.REJECTED else [],
        )
    )
    for outcome in Outcome
}
"""The answers to a single update."""


async def post_updates(
    service: Service, name: str, scope: Scope, receive: Receive, send: Send
) -> int:
    """Take in the updates of a request, answer with their counts, and return the status."""
    stream = service.stream(name)
    body = await read_body(scope, receive, service.settings.max_body_bytes)
    content_type = retry_key = None
    for found, value in scope["headers"]:
        if found == b"content-type":
            content_type = value.decode("latin-1")
        elif found == b"idempotency-key":
            retry_key = value.decode("latin-1")
    atomic = False
    if scope["query_string"]:
        parameters = query(scope)
        check_known(parameters, ("atomic",))
        atomic = flag(parameters, "atomic")
    if retry_key is None:
        await answer(send, 202, _take_in(service, stream, content_type, body, atomic=atomic))
        return 202
    kept = await service.idempotent.once(
        f"updates {stream.identity}",
        retry_key,
        ((content_type or JSON).encode("latin-1"), b"%d" % atomic, body),
        lambda: Answer(202, JSON, _take_in(service, stream, content_type, body, atomic=atomic)),
    )
    await answer(send, kept.status, kept.body, kept.content_type)
    return kept.status


def _take_in(
    service: Service, stream: StreamEntry, content_type: str | None, body: bytes, *, atomic: bool
) -> bytes:
    """Take in the updates of a body, and return the answer; RequestError if none is valid."""
    batch = service.reader.read(content_type, body)
    ahead = stream.rows_ahead(batch.times)
    if ahead:
        batch = batch.without(ahead, TOO_FAR_AHEAD)
    _check(batch, atomic=atomic)
    if batch.is_single:
        times: Sequence[float] | None = batch.times
        outcome = stream.take_in_one(
            batch.keys[0], batch.values[0], None if times is None else times[0]
        )
        return _ONE[outcome]
    try:
        counted = _take_in_all(stream, batch, atomic=atomic)
    except ValueTooLargeError:
        batch = batch.without(stream.misfits(batch.listed_values()), LONGER_THAN_POOL)
        _check(batch, atomic=atomic)
        counted = _take_in_all(stream, batch, atomic=atomic)
    return msgspec.json.encode(counts_of(counted, batch))


def _check(batch: Batch, *, atomic: bool) -> None:
    """Raise RequestError if no update of a batch may be taken in."""
    rejections = batch.rejections
    if rejections and (atomic or len(rejections) == batch.rows):
        raise refusal(batch, atomic=atomic)


def _take_in_all(stream: StreamEntry, batch: Batch, *, atomic: bool) -> BatchOutcome:
    """Take in a batch; ValueTooLargeError, and no change, if a value can never fit."""
    is_pooled = stream.definition.pool_bytes is not None
    if atomic and is_pooled and not stream.stream.has_room_for(batch.listed_values()):
        raise RequestError(
            409,
            "Page pool full",
            "no update was taken in: they may not all fit; send fewer at once",
        )
    return stream.take_in(*batch.columns())


def refusal(batch: Batch, *, atomic: bool) -> RequestError:
    """Return the error for a body of which no update was taken in."""
    rejections = batch.rejections
    if batch.is_single:
        return RequestError(422, "Bad update", rejections[0].reason)
    why = "some are not valid, and atomic means all or none" if atomic else ""
    return RequestError(
        422,
        "Bad updates",
        f"no update was taken in: {why or 'none is valid'}",
        rejected=len(rejections),
        rejections=rejections[:MOST_REJECTIONS],
    )


def counts_of(outcome: BatchOutcome, batch: Batch) -> Counts:
    """Return the counts of a batch: rows that were not valid, and the outcome of the others."""
    rejections = list(batch.rejections)
    if outcome.rejected_rows:
        indices = batch.indices
        full = [
            Rejection(row if indices is None else indices[row], FULL)
            for row in outcome.rejected_rows
        ]
        rejections = sorted([*rejections, *full], key=lambda rejection: rejection.index)
    return Counts(
        waiting=outcome.waiting,
        superseded=outcome.superseded,
        late=outcome.late,
        rejected=outcome.rejected + len(batch.rejections),
        outside=outcome.outside,
        rejections=rejections[:MOST_REJECTIONS],
    )
