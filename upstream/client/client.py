"""The client that blocks: each call returns when the service has answered, or raises."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

import httpx2

from upstream.clock import Clock

from . import requests
from .answers import (
    Counts,
    Delivered,
    Key,
    QueueView,
    ReceivedUpdate,
    StreamView,
)
from .arrow_bodies import ROWS_AT_ONCE, arrow_bodies
from .batches import BATCH_SIZE, bodies
from .encoding import ARROW, JSON, Row
from .errors import ClientClosedError
from .exchange import Request
from .feed import Feed
from .gathering import BATCH_SECONDS
from .measurements import Counters, DroppedQueue, DroppedStream, Staleness
from .moments import Moment
from .requests import QueueOptions, StreamOptions
from .retries import RETRIES, RetryPolicy
from .rows import GivenUpdate, rows_of, rows_of_columns
from .sending import FAILURES, LIMITS, NOT_SENT, TIMEOUT_SECONDS, Connection, reason
from .watch import Watch
from .watching import OnLost, WatchOptions

if TYPE_CHECKING:
    from .arrow_bodies import ArrowUpdates

T = TypeVar("T")


class Client:
    """Talk to a service; may be shared by threads.

    What the network loses is sent again, and is not applied or handed out twice as long as the
    service remembers the request: 600 seconds by default, and not over a restart. What the service
    refuses is raised: `NotFoundError`, `ConflictError` and so on, all of them children of
    `ServiceError`, as is `ServiceUnreachableError`.

    `timeout` are the seconds that each step of a call may take, in which waiting for updates does
    not count. `retries` is how often a request is sent again, or a `RetryPolicy`. `headers` go
    with every request. `transport`, `sleep`, `clock` and `random` are for tests.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = TIMEOUT_SECONDS,
        retries: int | RetryPolicy = RETRIES,
        headers: Mapping[str, str] | None = None,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], object] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        self._connection = Connection.to(
            url, timeout=timeout, retries=retries, headers=headers, clock=clock, random=random
        )
        self._closed = threading.Event()
        self._given_sleep = sleep
        # It ends when the client is closed.
        self._sleep = sleep or self._closed.wait
        self._http = httpx2.Client(transport=transport, limits=LIMITS)

    # Definitions

    def create_stream(self, name: str, **options: Unpack[StreamOptions]) -> StreamView:
        """Define a stream; the same again is fine, and ConflictError if it is another."""
        return self._call(requests.create_stream(name, options))

    def create_queue(self, name: str, **options: Unpack[QueueOptions]) -> QueueView:
        """Define a queue, and its stream if there is none; as `create_stream`."""
        return self._call(requests.create_queue(name, options))

    def streams(self) -> list[StreamView]:
        """Return all streams."""
        return self._call(requests.streams())

    def stream(self, name: str) -> StreamView:
        """Return a stream; NotFoundError if there is none of this name."""
        return self._call(requests.stream(name))

    def queue(self, name: str) -> QueueView:
        """Return a queue; NotFoundError if there is none of this name."""
        return self._call(requests.queue(name))

    def queues(self) -> list[QueueView]:
        """Return all queues."""
        return self._call(requests.queues())

    def drop_stream(self, name: str) -> DroppedStream:
        """Drop a stream and its queues, and return their final statistics."""
        return self._call(requests.drop_stream(name))

    def drop_queue(self, name: str) -> DroppedQueue:
        """Drop a queue, and return its final statistics."""
        return self._call(requests.drop_queue(name))

    # Updates in

    def put(self, stream: str, key: Key, value: object, time: Moment | None = None) -> Counts:
        """Send one update; its time is that of its arrival unless given."""
        return self._call(requests.put(stream, key, value, time))

    def put_many(
        self,
        stream: str,
        updates: Iterable[GivenUpdate],
        *,
        batch_size: int = BATCH_SIZE,
    ) -> Counts:
        """Send updates, each a (key, value), a (key, value, time) or an `Update`, in batches.

        `{"key": ..., "value": ..., "time": ...}` is taken, too. A batch is sent before it has
        `batch_size` updates if it has 8 MB. Those that the service does not take are counted as
        rejected, with reasons. If an error is raised, the batches before it are in.
        """
        return self._put_rows(stream, rows_of(updates), batch_size)

    def put_columns(
        self,
        stream: str,
        keys: Sequence[Key],
        values: Sequence[object],
        times: Sequence[Moment] | None = None,
        *,
        batch_size: int = BATCH_SIZE,
    ) -> Counts:
        """Send updates given as columns, which may be NumPy arrays; as `put_many`.

        Times are seconds, datetimes with a time zone, or NumPy's, which are taken as UTC.
        """
        return self._put_rows(stream, rows_of_columns(keys, values, times), batch_size)

    def put_table(
        self, stream: str, table: ArrowUpdates, *, batch_size: int = ROWS_AT_ONCE
    ) -> Counts:
        """Send an Arrow table, record batch or reader with columns `key`, `value` and `time`.

        It goes as Arrow, so that dictionary-encoded keys stay codes: by far the fastest way.
        """
        counts, sent = Counts(), 0
        for rows, body in arrow_bodies(table, batch_size):
            added = self._call(requests.put_body(stream, body, ARROW))
            counts, sent = counts.plus(added, sent=sent), sent + rows
        return counts

    def put_body(
        self, stream: str, body: bytes, content_type: str, *, is_atomic: bool = False
    ) -> Counts:
        """Send a body as it is; atomic, it is taken as a whole or raises InvalidRequestError."""
        return self._call(requests.put_body(stream, body, content_type, is_atomic=is_atomic))

    def feed(
        self,
        stream: str,
        *,
        batch_size: int = BATCH_SIZE,
        batch_seconds: float | None = BATCH_SECONDS,
    ) -> Feed:
        """Return what gathers updates and sends them when they are enough, or the first is so old.

        Use it as `with client.feed("trades") as feed: feed.put("IBM", 24.0)`.
        """
        gathering = self._connection.gathering(stream, batch_size)
        return Feed(self._call, gathering, batch_seconds=batch_seconds)

    def delete(self, stream: str, key: Key) -> Counts:
        """Delete a key: its queues hand out the news, then it is forgotten."""
        return self._call(requests.delete(stream, key))

    def reset_key(self, stream: str, key: Key) -> bool:
        """Forget all that is known of a key, and return whether there was anything.

        Use it after an update with a time far ahead, which makes later ones late. The next update
        is accepted whatever its time; what waits of the key is dropped.
        """
        return self._call(requests.reset_key(stream, key))

    # Updates out

    def get(self, stream: str, key: Key) -> ReceivedUpdate:
        """Return the newest update of a key; NotFoundError if there is none."""
        return self._call(requests.get(stream, key))

    def snapshot(self, stream: str) -> list[ReceivedUpdate]:
        """Return the newest update of every key."""
        return self._call(requests.snapshot(stream))

    def read(self, queue: str, key: Key) -> ReceivedUpdate:
        """Return the update that waits for a key, and leave it there; NotFoundError if none."""
        return self._call(requests.read(queue, key))

    def dequeue(
        self,
        queue: str,
        *,
        limit: int = 100,
        wait: float = 0.0,
        idempotency_key: str | None = None,
    ) -> list[ReceivedUpdate]:
        """Take the next updates, at most `limit`; none if none comes within `wait` seconds.

        By default the service takes a `limit` of 10,000 at most, and a `wait` of 60 seconds. What
        is lost on the way is asked for again. But what was answered to a call that was cancelled
        or abandoned is gone, unless the queue has leases: then it waits again as these run out.

        With an `idempotency_key` of your own, the same batch may be asked for again, even by
        another process. Its leases then do not run out: they last until the batch is delivered, or
        until the service forgets the key (after 600 seconds by default).
        """
        request = requests.dequeue(queue, limit=limit, wait=wait, idempotency_key=idempotency_key)
        return self._call(request)

    def deliver(
        self,
        queue: str,
        updates: Iterable[ReceivedUpdate] = (),
        *,
        keys: Iterable[Key] = (),
        leases: Iterable[str] = (),
    ) -> Delivered:
        """Tell that updates have been used, by what was dequeued, by lease or by key."""
        total = Delivered()
        for request in requests.deliveries(queue, updates, keys, leases):
            total = total.plus(self._call(request))
        return total

    def consume(
        self, queue: str, *, limit: int = 100, wait: float = 20.0, until_empty: bool = False
    ) -> Iterator[ReceivedUpdate]:
        """Yield updates as they come, and deliver each batch when all of it was used.

        What a loop leaves early is handed out again when its lease runs out. With `until_empty` it
        ends when nothing came within `wait` seconds.
        """
        while True:
            updates = self.dequeue(queue, limit=limit, wait=wait)
            yield from updates
            leases = [each.lease for each in updates if each.lease is not None]
            self.deliver(queue, leases=leases)
            if until_empty and not updates:
                return

    def watch(
        self,
        queue: str,
        *,
        window: int | None = None,
        max_rate: float | None = None,
        max_rate_per_key: Mapping[str, float] | float | None = None,
        keys: Iterable[str] = (),
        snapshot: bool = True,
        reconnects: int | None = None,
        on_lost: OnLost | None = None,
    ) -> Watch:
        """Return an iterator of newest updates, pushed as they come; the queue keeps them all.

        A slow reader gets fewer updates, not older ones: the service runs at most `window` messages
        ahead, 8 unless it is set up otherwise. Of a queue that would keep every update, 10,000 may
        wait for a reader before only the newest of each key are kept, and `WatchMessage.superseded`
        counts those left out. `max_rate` is updates per second in all, not messages, each of which
        may hold many; `max_rate_per_key` are those of each key, one number or numbers by pattern
        (`{"GOOG": 1, "G*": 0.1}`); `keys` are patterns, too.

        It begins with a `snapshot` of the newest values, if the stream retains any. A lost
        connection is made again, `reconnects` times in a row or for ever; `on_lost` hears of it.
        What was missed meanwhile comes then, and something may come twice: all newest values do if
        there was no message yet, even without `snapshot`. A queue that is not there when it comes
        back may be made again; only one that is deleted while it is watched ends the watch.
        """
        options = WatchOptions(window, max_rate, max_rate_per_key, keys, snapshot)
        return Watch(
            self._connection.watching(queue, options, reconnects),
            self._connection,
            sleep=self._given_sleep,
            on_lost=on_lost,
        )

    # Measurements

    def statistics(self, queue: str) -> Counters:
        """Return the exact counters of a queue."""
        return self._call(requests.statistics(queue))

    def staleness(self, queue: str, *, stalest: int = 10) -> Staleness:
        """Return how stale a queue is, beside the least possible, and so many stalest keys."""
        return self._call(requests.staleness(queue, stalest=stalest))

    # What they are made of

    def call(self, request: Request[T]) -> T:
        """Send a request of `upstream.client.requests`, or one like them; return what it means."""
        return self._call(request)

    def close(self) -> None:
        """Close the connections; calls that are under way raise ClosedError as they end."""
        self._closed.set()
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _put_rows(self, stream: str, rows: Iterable[Row], batch_size: int) -> Counts:
        counts, sent = Counts(), 0
        for updates, body in bodies(rows, batch_size):
            added = self._call(requests.put_body(stream, body, JSON))
            counts, sent = counts.plus(added, sent=sent), sent + updates
        return counts

    def _call(self, request: Request[T]) -> T:
        exchange = self._connection.exchange(request)
        while True:
            if self._closed.is_set():
                raise ClientClosedError("client")
            delay: float | None
            try:
                response = self._send(request)
            except FAILURES as error:
                may_have_arrived = not isinstance(error, NOT_SENT)
                delay = exchange.after_failure(reason(error), may_have_arrived=may_have_arrived)
            else:
                answer = self._connection.answer(response)
                delay = exchange.after_answer(answer)
                if delay is None:
                    return exchange.result(answer)
            self._sleep(delay)

    def _send(self, request: Request[T]) -> httpx2.Response:
        try:
            return self._http.send(self._connection.message(request))
        except (httpx2.RequestError, RuntimeError) as error:
            if self._closed.is_set():  # which breaks what is under way in many ways
                raise ClientClosedError("client") from error
            raise
