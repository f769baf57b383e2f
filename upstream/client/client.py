"""The client that blocks: each call returns when the service has answered, or raises."""

from __future__ import annotations

import time as system_time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

import httpx2

from upstream.clock import Clock
from upstream.errors import ClosedError

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
from .encoding import ARROW, Row, in_batches, rows_of, rows_of_columns
from .exchange import Request
from .feed import Feed
from .gathering import BATCH_SECONDS, BATCH_SIZE, Gathering
from .measurements import Counters, DroppedQueue, DroppedStream, Staleness
from .requests import QueueOptions, StreamOptions
from .retries import RETRIES, RetryPolicy
from .sending import FAILURES, TIMEOUT_SECONDS, Connection, reason
from .watch import Watch
from .watching import WINDOW, OnLost, WatchOptions

if TYPE_CHECKING:
    from .arrow_bodies import ArrowUpdates

T = TypeVar("T")


class Client:
    """Talk to a service; may be shared by threads.

    What the network loses is sent again, and cannot be applied or handed out twice. What the
    service refuses is raised: `NotFoundError`, `ConflictError` and so on, all of them children of
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
        sleep: Callable[[float], None] = system_time.sleep,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        self._connection = Connection.to(
            url, timeout=timeout, retries=retries, headers=headers, clock=clock, random=random
        )
        self._sleep = sleep
        self._http = httpx2.Client(transport=transport)

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

    def queues(self) -> list[QueueView]:
        """Return all queues."""
        return self._call(requests.queues())

    def drop_stream(self, name: str) -> DroppedStream:
        """Drop a stream and its queues, and return their final statistics."""
        return self._call(requests.drop_stream(name))

    def drop_queue(self, name: str) -> DroppedQueue:
        """Drop a queue, and return its final statistics.

        They are empty if the answer was lost and a retry found the queue gone.
        """
        return self._call(requests.drop_queue(name))

    # Updates in

    def put(self, stream: str, key: Key, value: object, time: float | None = None) -> Counts:
        """Send one update; its time is that of its arrival unless given."""
        return self._call(requests.put(stream, key, value, time))

    def put_many(
        self,
        stream: str,
        updates: Iterable[Sequence[object]],
        *,
        batch_size: int = BATCH_SIZE,
    ) -> Counts:
        """Send updates, each a (key, value), a (key, value, time) or an `Update`, in batches.

        Those that the service does not take are counted as rejected, with reasons. If an error is
        raised, the batches before it are in.
        """
        return self._put_rows(stream, rows_of(updates), batch_size)

    def put_columns(
        self,
        stream: str,
        keys: Sequence[Key],
        values: Sequence[object],
        times: Sequence[float] | None = None,
        *,
        batch_size: int = BATCH_SIZE,
    ) -> Counts:
        """Send updates given as columns, which may be NumPy arrays; as `put_many`."""
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
        gathering = Gathering(stream, size=batch_size, clock=self._connection.clock)
        return Feed(self._call, gathering, batch_seconds=batch_seconds)

    def delete(self, stream: str, key: Key) -> Counts:
        """Delete a key: its queues hand out the news, then it is forgotten."""
        return self._call(requests.delete(stream, key))

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

    def dequeue(self, queue: str, *, limit: int = 100, wait: float = 0.0) -> list[ReceivedUpdate]:
        """Take the next updates, at most `limit`; none if none comes within `wait` seconds."""
        return self._call(requests.dequeue(queue, limit=limit, wait=wait))

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
        window: int = WINDOW,
        max_rate: float | None = None,
        max_rate_per_key: Mapping[str, float] | float | None = None,
        keys: Iterable[str] = (),
        snapshot: bool = True,
        reconnects: int | None = None,
        on_lost: OnLost | None = None,
    ) -> Watch:
        """Return an iterator of newest updates, pushed as they come; the queue keeps them all.

        A slow reader gets fewer updates, not older ones: the service runs at most `window` messages
        ahead. `max_rate` is updates per second in all, `max_rate_per_key` those of each key, one
        number or numbers by pattern (`{"GOOG": 1, "G*": 0.1}`); `keys` are patterns, too. A lost
        connection is made again, `reconnects` times in a row or for ever; `on_lost` hears of it.
        """
        options = WatchOptions(window, max_rate, max_rate_per_key, keys, snapshot)
        return Watch(
            self._connection.watching(queue, options, reconnects),
            self._connection,
            sleep=self._sleep,
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

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _put_rows(self, stream: str, rows: Iterable[Row], batch_size: int) -> Counts:
        counts, sent = Counts(), 0
        for batch in in_batches(rows, batch_size):
            added = self._call(requests.put_rows(stream, batch))
            counts, sent = counts.plus(added, sent=sent), sent + len(batch)
        return counts

    def _call(self, request: Request[T]) -> T:
        if self._http.is_closed:
            raise ClosedError("client")
        exchange = self._connection.exchange(request)
        while True:
            delay: float | None
            try:
                response = self._http.send(self._connection.message(request))
            except FAILURES as error:
                delay = exchange.after_failure(reason(error))
            else:
                answer = self._connection.answer(response)
                delay = exchange.after_answer(answer)
                if delay is None:
                    return exchange.result(answer)
            self._sleep(delay)
