"""Every operation of the service as a request: what is sent, and how the answer is parsed.

Nothing here does I/O, so the blocking and the asynchronous client share all of it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal, TypedDict, TypeVar
from urllib.parse import urlencode

import msgspec

from upstream.errors import ParameterError

from .answers import (
    Counters,
    Counts,
    Delivered,
    DroppedQueue,
    DroppedStream,
    Key,
    QueueView,
    ReceivedUpdate,
    Staleness,
    StreamView,
)
from .encoding import JSON, encode_json, encode_update, path_of_key, path_of_name
from .errors import InvalidRequestError, RequestRefusedError
from .exchange import Call, Request, reader_of
from .rows import Moment, seconds_of

T = TypeVar("T")

LONGEST_PATIENCE: Final = 86_400.0
"""The most seconds to wait for an answer; the service refuses longer waits at once."""
LONGEST_KEY: Final = 255
"""The longest idempotency key, in characters."""


class StreamOptions(TypedDict, total=False):
    """The definition of a stream. An option that is left out takes the service's default.

    - `retain`: keep the newest value of every key, also after it was dequeued from all queues.
    - `forget_after`: forget a key after this many seconds without an update.
    - `pool_bytes`: the size of the page pool that holds the values; None for ordinary memory.
    - `most_ahead`: reject an update whose time is more than this many seconds ahead of the
      service's clock. `"auto"` means a day if the stream's times are near that clock, and None
      means no limit.
    """

    retain: bool
    forget_after: float | None
    pool_bytes: int | None
    most_ahead: float | Literal["auto"] | None


class QueueOptions(TypedDict, total=False):
    """The definition of a queue. An option that is left out takes the service's default.

    - `stream`: the stream that feeds the queue. By default it has the queue's name.
    - `kind`: `update`, `append`, `adaptive` or `window`.
    - `scheduler`: `index`, `in-place`, `fifo` or `linecutting`.
    - `weights`: how much the staleness of keys matters, by pattern, such as `{"GO*": 3}`.
    - `longest_wait`: serve a key first once it has waited this many seconds.
    - `processing_cost`: seconds that the consumer needs for one update. None: measure it from
      dequeue to delivery.
    - `window`: the windows of a queue of the kind `window`, such as
      `{"size": 60, "slide": 10, "aggregate": "max", "of": "price"}`. `size` is the length of a
      window in seconds. `slide` is the time from one window's start to the next. `tick` is the
      time between updates, if it is constant. `buffer` is `lazy` or `eager`. `aggregate` is
      `count`, `sum`, `min`, `max`, `mean`, `variance`, `first` or `last`. `of` names the member of
      the values to aggregate.
    - `capacity`: how many updates may wait; None for no limit.
    - `shedding`: a full queue of the kind `append` drops a random update instead of the newest.
    - `time_to_live`: drop an update that has waited this many seconds.
    - `lease_seconds`: an update that was dequeued but not delivered within this time waits again.
      None: the queue grants no leases.
    - `snapshot`: begin with the newest value of every key of the stream.
    - `keep_for_dequeue`: keep updates for a consumer that dequeues, although only push connections
      used the queue so far. None: an update queue does not keep them; queues of other kinds keep
      them if some wait when a connection opens.
    """

    stream: str
    kind: str
    scheduler: str
    weights: Mapping[str, float]
    longest_wait: float | None
    processing_cost: float | None
    window: Mapping[str, object]
    capacity: int | None
    shedding: bool
    time_to_live: float | None
    lease_seconds: float | None
    snapshot: bool
    keep_for_dequeue: bool | None


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
    """Define a stream; repeating the same definition changes nothing."""
    _check_options(options, StreamOptions)
    return _put(f"/v1/streams/{path_of_name(name)}", options, _read_stream)


def create_queue(name: str, options: QueueOptions) -> Request[QueueView]:
    """Define a queue; repeating the same definition changes nothing."""
    _check_options(options, QueueOptions)
    return _put(f"/v1/queues/{path_of_name(name)}", options, _read_queue)


def streams() -> Request[list[StreamView]]:
    """Request all streams."""
    return Request("GET", "/v1/streams", lambda body: _read_streams(body).streams)


def stream(name: str) -> Request[StreamView]:
    """Request a stream."""
    return Request("GET", f"/v1/streams/{path_of_name(name)}", _read_stream)


def queue(name: str) -> Request[QueueView]:
    """Request a queue."""
    return Request("GET", f"/v1/queues/{path_of_name(name)}", _read_queue)


def queues() -> Request[list[QueueView]]:
    """Request all queues."""
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
    """Send a body of updates. If all are rejected, they are counted, unless `is_atomic`."""
    path = _updates_path(stream) + ("?atomic=true" if is_atomic else "")
    if is_atomic:
        return _post(path, body, content_type, _read_counts)
    return _post(path, body, content_type, _read_counts, counts_of_refused)


def counts_of_refused(refused: RequestRefusedError) -> Counts | None:
    """Return the counts in the refusal of a whole batch; None for any other refusal."""
    if not isinstance(refused, InvalidRequestError):
        return None
    try:
        counts = msgspec.convert(refused.members, Counts)
    except msgspec.ValidationError:
        return None
    return counts if counts.rejected else None


def get(stream: str, key: Key) -> Request[ReceivedUpdate]:
    """Request the newest update of a key."""
    path = f"/v1/streams/{path_of_name(stream)}/keys/{path_of_key(key)}"
    return Request("GET", path, _read_update)


def snapshot(stream: str) -> Request[list[ReceivedUpdate]]:
    """Request the newest update of every key."""
    path = f"/v1/streams/{path_of_name(stream)}/snapshot"
    return Request("GET", path, _updates_in)


def reset_key(stream: str, key: Key) -> Request[bool]:
    """Forget a key."""
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
    """Request the next updates; wait for the first one if none is waiting.

    A generated idempotency key is unknown outside this request, so its leases may expire.
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
    """Deliver updates by their leases; those without a lease are delivered by key."""
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
    """Request the waiting update of a key."""
    path = f"/v1/queues/{path_of_name(queue)}/keys/{path_of_key(key)}"
    return Request("GET", path, _read_update)


def statistics(queue: str) -> Request[Counters]:
    """Request the exact counters."""
    return Request("GET", f"/v1/queues/{path_of_name(queue)}/statistics", _read_counters)


def staleness(queue: str, *, stalest: int) -> Request[Staleness]:
    """Request the staleness of a queue, and of its `stalest` stalest keys."""
    query = urlencode({"stalest": stalest})
    return Request("GET", f"/v1/queues/{path_of_name(queue)}/staleness?{query}", _read_staleness)


# Calls that need several requests


def put_bodies(
    stream: str, bodies: Iterable[tuple[int, bytes]], content_type: str
) -> Call[Counts, Counts]:
    """Send bodies of updates, each given with its number of updates, and add up their counts."""
    counts, sent = Counts(), 0
    for updates, body in bodies:
        added = yield put_body(stream, body, content_type)
        counts, sent = counts.plus(added, sent=sent), sent + updates
    return counts


def deliver(
    queue: str,
    updates: Iterable[ReceivedUpdate] = (),
    keys: Iterable[Key] = (),
    leases: Iterable[str] = (),
) -> Call[Delivered, Delivered]:
    """Deliver updates, and add up how many were delivered."""
    total = Delivered()
    for request in deliveries(queue, updates, keys, leases):
        total = total.plus((yield request))
    return total


# Their parts


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
    # A retry gets the answer of the first attempt, so a 404 means that there was nothing to delete.
    return Request("DELETE", path, read, idempotency_key=_unique_key())
