"""Every call that the service knows, as a request: what is sent, and what its answer means.

Nothing here sends anything, so that the blocking and the asynchronous client share all of it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal, TypedDict, TypeVar
from urllib.parse import urlencode

import msgspec

from upstream.errors import ParameterError

from .answers import (
    Counts,
    Delivered,
    Key,
    QueueView,
    ReceivedUpdate,
    StreamView,
)
from .encoding import (
    JSON,
    encode_json,
    encode_update,
    path_of_key,
    path_of_name,
)
from .errors import InvalidRequestError, RequestRefusedError
from .exchange import Request, reader_of
from .measurements import Counters, DroppedQueue, DroppedStream, Staleness
from .moments import Moment, seconds_of

T = TypeVar("T")

LONGEST_PATIENCE: Final = 86_400.0
"""What is waited for at most, in seconds; a service that was asked for more says no at once."""
LONGEST_KEY: Final = 255
"""How many characters an idempotency key may have."""


class StreamOptions(TypedDict, total=False):
    """How a stream is defined; what is left out takes the service's default."""

    retain: bool
    """Whether the newest value of a key is kept for ever."""
    forget_after: float | None
    """Seconds without an update after which a key is forgotten."""
    pool_bytes: int | None
    """How large its page pool is; None for plain memory."""
    most_ahead: float | Literal["auto"] | None
    """How many seconds ahead of the service's clock times may be; None for any number."""


class QueueOptions(TypedDict, total=False):
    """How a queue is defined; what is left out takes the service's default."""

    stream: str
    """What feeds it; the stream of the queue's own name unless given."""
    kind: str
    """`update`, `append`, `adaptive` or `window`."""
    scheduler: str
    """`index`, `in-place`, `fifo` or `linecutting`."""
    weights: Mapping[str, float]
    """How much the staleness of keys matters, by patterns such as `GO*`."""
    longest_wait: float | None
    """Seconds after which a key is served before all others."""
    processing_cost: float | None
    """Seconds that a consumer needs for an update; None: it is measured as updates are delivered.
    """
    window: Mapping[str, object]
    """Of the kind `window`: seconds as `size`, and perhaps `slide` (from one start to the next),
    `tick` (how far apart times are, if that is known), `buffer` (`lazy` or `eager`), `aggregate`
    (`count`, `sum`, `min`, `max`, `mean`, `variance`, `first` or `last`), and `of` (which member of
    the values), such as `{"size": 60, "slide": 10, "aggregate": "max", "of": "price"}`."""
    capacity: int | None
    """How much may wait at most; None is no limit."""
    shedding: bool
    """Whether a queue of the kind `append` that is full drops at random, rather than the newest."""
    time_to_live: float | None
    """Seconds after which what waits is dropped."""
    lease_seconds: float | None
    """Seconds after which what was dequeued and not delivered waits again; None: never."""
    snapshot: bool
    """Whether it begins with the newest values that its stream knows."""
    keep_for_dequeue: bool | None
    """Whether updates wait for a consumer that dequeues although only connections were served.

    None: an update queue does not keep them; other kinds do if some wait when one connects."""


class _Streams(msgspec.Struct):
    streams: list[StreamView]


class _Queues(msgspec.Struct):
    queues: list[QueueView]


class _Updates(msgspec.Struct):
    updates: list[ReceivedUpdate]


_read_stream = reader_of(StreamView)
_read_streams = reader_of(_Streams)
_read_queue = reader_of(QueueView)
_read_queues = reader_of(_Queues)
_read_update = reader_of(ReceivedUpdate)
_read_updates = reader_of(_Updates)
_read_counts = reader_of(Counts)
_read_reset = reader_of(dict[str, bool])
_read_delivered = reader_of(Delivered)
_read_counters = reader_of(Counters)
_read_staleness = reader_of(Staleness)
_read_dropped_stream = reader_of(DroppedStream)
_read_dropped_queue = reader_of(DroppedQueue)


# Definitions


def create_stream(name: str, options: StreamOptions) -> Request[StreamView]:
    """Define a stream; the same definition again changes nothing."""
    _check_options(options, StreamOptions)
    return _put(f"/v1/streams/{path_of_name(name)}", options, _read_stream)


def create_queue(name: str, options: QueueOptions) -> Request[QueueView]:
    """Define a queue; the same definition again changes nothing."""
    _check_options(options, QueueOptions)
    return _put(f"/v1/queues/{path_of_name(name)}", options, _read_queue)


def streams() -> Request[list[StreamView]]:
    """Ask for all streams."""
    return Request("GET", "/v1/streams", lambda body: _read_streams(body).streams)


def stream(name: str) -> Request[StreamView]:
    """Ask for a stream."""
    return Request("GET", f"/v1/streams/{path_of_name(name)}", _read_stream)


def queue(name: str) -> Request[QueueView]:
    """Ask for a queue."""
    return Request("GET", f"/v1/queues/{path_of_name(name)}", _read_queue)


def queues() -> Request[list[QueueView]]:
    """Ask for all queues."""
    return Request("GET", "/v1/queues", lambda body: _read_queues(body).queues)


def drop_stream(name: str) -> Request[DroppedStream]:
    """Drop a stream and its queues."""
    return _delete(f"/v1/streams/{path_of_name(name)}", _read_dropped_stream)


def drop_queue(name: str) -> Request[DroppedQueue]:
    """Drop a queue."""
    return _delete(f"/v1/queues/{path_of_name(name)}", _read_dropped_queue)


# Updates


def put(stream: str, key: Key, value: object, time: Moment | None) -> Request[Counts]:
    """Send one update."""
    return _post(
        _updates_path(stream), encode_update(key, value, seconds_of(time)), JSON, _read_counts
    )


def put_body(
    stream: str, body: bytes, content_type: str, *, is_atomic: bool = False
) -> Request[Counts]:
    """Send a body of updates; if all of them are refused, that is counted, unless all or none."""
    path = _updates_path(stream) + ("?atomic=true" if is_atomic else "")
    if is_atomic:
        return _post(path, body, content_type, _read_counts)
    return _post(path, body, content_type, _read_counts, counts_of_refused)


def counts_of_refused(refused: RequestRefusedError) -> Counts | None:
    """Return the counts that go with the refusal of a whole batch; None if it was not that."""
    if not isinstance(refused, InvalidRequestError):
        return None
    try:
        counts = msgspec.convert(refused.members, Counts)
    except msgspec.ValidationError:
        return None
    return counts if counts.rejected else None


def get(stream: str, key: Key) -> Request[ReceivedUpdate]:
    """Ask for the newest update of a key."""
    path = f"/v1/streams/{path_of_name(stream)}/keys/{path_of_key(key)}"
    return Request("GET", path, _read_update)


def snapshot(stream: str) -> Request[list[ReceivedUpdate]]:
    """Ask for the newest updates of all keys."""
    path = f"/v1/streams/{path_of_name(stream)}/snapshot"
    return Request("GET", path, _updates_in)


def reset_key(stream: str, key: Key) -> Request[bool]:
    """Forget what is known of a key."""
    path, mark, parameters = path_of_key(key).partition("?")
    path = f"/v1/streams/{path_of_name(stream)}/keys/{path}/reset{mark}{parameters}"
    return _post(path, b"", JSON, lambda body: _read_reset(body)["reset"])


def delete(stream: str, key: Key) -> Request[Counts]:
    """Send a tombstone for a key."""
    return _delete(f"/v1/streams/{path_of_name(stream)}/keys/{path_of_key(key)}", _read_counts)


# Queues


def dequeue(
    queue: str, *, limit: int, wait: float, idempotency_key: str | None = None
) -> Request[list[ReceivedUpdate]]:
    """Ask for the next updates, and to wait for the first of them if there are none.

    Leases that are granted under a key of our own run out as others do, since nobody else can ask
    for them again.
    """
    members: dict[str, object] = {"limit": limit} | ({"wait": wait} if wait else {})
    if idempotency_key is None:
        idempotency_key = _unique_key()
        members["expire"] = "true"
    elif not (1 <= len(idempotency_key) <= LONGEST_KEY and _is_visible(idempotency_key)):
        raise ParameterError(
            "idempotency_key", idempotency_key, f"1 to {LONGEST_KEY} printable ASCII characters"
        )
    return Request(
        "POST",
        f"/v1/queues/{path_of_name(queue)}/dequeue?{urlencode(members)}",
        _updates_in,
        idempotency_key=idempotency_key,
        patience=min(max(0.0, wait), LONGEST_PATIENCE),
    )


def deliveries(
    queue: str, updates: Iterable[ReceivedUpdate], keys: Iterable[Key], leases: Iterable[str]
) -> Iterator[Request[Delivered]]:
    """Say what was delivered: updates by their leases, and by key those that have none."""
    for name, several in (("keys", keys), ("leases", leases)):
        if isinstance(several, str):
            raise ParameterError(name, several, f"a list of {name}, not one string")
    updates = list(updates)
    by_lease = [*leases, *(each.lease for each in updates if each.lease is not None)]
    by_key = [*keys, *(each.key for each in updates if each.lease is None)]
    path = f"/v1/queues/{path_of_name(queue)}/delivered"
    for member, delivered in (("leases", by_lease), ("keys", by_key)):
        if delivered:
            yield _post(path, encode_json({member: delivered}), JSON, _read_delivered)


def read(queue: str, key: Key) -> Request[ReceivedUpdate]:
    """Ask for the update that waits for a key."""
    path = f"/v1/queues/{path_of_name(queue)}/keys/{path_of_key(key)}"
    return Request("GET", path, _read_update)


def statistics(queue: str) -> Request[Counters]:
    """Ask for the exact counters."""
    return Request("GET", f"/v1/queues/{path_of_name(queue)}/statistics", _read_counters)


def staleness(queue: str, *, stalest: int) -> Request[Staleness]:
    """Ask how stale a queue is, and for so many of its stalest keys."""
    query = urlencode({"stalest": stalest})
    return Request("GET", f"/v1/queues/{path_of_name(queue)}/staleness?{query}", _read_staleness)


# What they are made of


def _updates_path(stream: str) -> str:
    return f"/v1/streams/{path_of_name(stream)}/updates"


def _updates_in(body: bytes) -> list[ReceivedUpdate]:
    return _read_updates(body).updates


def _is_visible(text: str) -> bool:
    return text.isascii() and text.isprintable() and text.strip() == text


def _unique_key() -> str:
    return uuid.uuid4().hex


def _check_options(options: Mapping[str, object], known: type) -> None:
    for name in options:
        if name not in known.__annotations__:
            raise ParameterError("option", name, f"one of {', '.join(known.__annotations__)}")


def _put(path: str, options: Mapping[str, object], read: Callable[[bytes], T]) -> Request[T]:
    return Request("PUT", path, read, body=encode_json(options), content_type=JSON)


def _post(
    path: str,
    body: bytes,
    content_type: str,
    read: Callable[[bytes], T],
    if_refused: Callable[[RequestRefusedError], T | None] | None = None,
) -> Request[T]:
    return Request(
        "POST",
        path,
        read,
        body=body,
        content_type=content_type,
        idempotency_key=_unique_key(),
        if_refused=if_refused,
    )


def _delete(path: str, read: Callable[[bytes], T]) -> Request[T]:
    # A retry is answered what the first one was, so one that finds nothing had nothing to delete.
    return Request("DELETE", path, read, idempotency_key=_unique_key())
