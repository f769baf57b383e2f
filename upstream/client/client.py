"""The blocking client: each call returns when the service has answered, or raises."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Literal, Self, TypeVar, Unpack

import httpx2

from upstream.clock import Clock

from . import requests
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
from .bodies import BATCH_SIZE, ROWS_AT_ONCE, arrow_bodies, bodies
from .connection import LIMITS, TIMEOUT_SECONDS, Connection
from .encoding import ARROW, JSON
from .errors import ClientClosedError
from .exchange import BROKEN, Request, run
from .feed import Feed
from .gathering import BATCH_SECONDS, Gathering
from .pace import Pace
from .requests import QueueOptions, StreamOptions
from .retries import RETRIES, RetryPolicy
from .rows import GivenUpdate, Moment, rows_of, rows_of_columns
from .watch import Watch
from .watching import OnLost, Watching, WatchOptions

if TYPE_CHECKING:
    from .bodies import ArrowUpdates

T = TypeVar("T")


class Client:
    """A client of the service that blocks. Threads may share it. `AsyncClient` is for asyncio.

    A request that fails on the network is retried. It is not applied twice, and no update is handed
    out twice, as long as the service remembers the request: 600 seconds by default, but not across
    a restart. If the service refuses a request, an exception is raised: `NotFoundError`,
    `ConflictError` and so on, all children of `ServiceError`, like `ServiceUnreachableError`.

    - `url`: the address of the service, such as http://127.0.0.1:8000.
    - `timeout`: how many seconds each step of a call may take. The time that the service was asked
      to wait for updates does not count.
    - `retries`: how often a request is retried, or a `RetryPolicy`.
    - `headers`: sent with every request.
    - `transport`, `sleep`, `clock` and `random`: for tests.
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
        # The wait ends early when the client is closed.
        self._sleep = sleep or self._closed.wait
        self._http = httpx2.Client(transport=transport, limits=LIMITS)

    # Definitions

    def create_stream(self, name: str, **options: Unpack[StreamOptions]) -> StreamView:
        """Define a stream, and return it; `StreamOptions` explains the options.

        Repeating the same definition changes nothing. A different one raises ConflictError.
        """
        return self.call(requests.create_stream(name, options))

    def create_queue(self, name: str, **options: Unpack[QueueOptions]) -> QueueView:
        """Define a queue, and its stream if it does not exist; `QueueOptions` has the options.

        Repeating the same definition changes nothing. A different one raises ConflictError.
        """
        return self.call(requests.create_queue(name, options))

    def streams(self) -> list[StreamView]:
        """Return all streams."""
        return self.call(requests.streams())

    def stream(self, name: str) -> StreamView:
        """Return a stream; raises NotFoundError if it does not exist."""
        return self.call(requests.stream(name))

    def queue(self, name: str) -> QueueView:
        """Return a queue; raises NotFoundError if it does not exist."""
        return self.call(requests.queue(name))

    def queues(self) -> list[QueueView]:
        """Return all queues."""
        return self.call(requests.queues())

    def drop_stream(self, name: str) -> DroppedStream:
        """Drop a stream and its queues, and return their final statistics."""
        return self.call(requests.drop_stream(name))

    def drop_queue(self, name: str) -> DroppedQueue:
        """Drop a queue, and return its final statistics."""
        return self.call(requests.drop_queue(name))

    # Updates in

    def put(self, stream: str, key: Key, value: object, time: Moment | None = None) -> Counts:
        """Send one update; its time is the time of its arrival unless `time` is given."""
        return self.call(requests.put(stream, key, value, time))

    def put_many(
        self,
        stream: str,
        updates: Iterable[GivenUpdate],
        *,
        batch_size: int = BATCH_SIZE,
    ) -> Counts:
        """Send updates in batches, and return what happened to them.

        Each of `updates` is (key, value), (key, value, time), an `Update`, or a mapping
        `{"key": ..., "value": ..., "time": ...}`. A batch has at most `batch_size` updates and at
        most 8 MB. Invalid updates are counted as rejected, with reasons. If an error is raised, the
        batches before it were applied.
        """
        rows = bodies(rows_of(updates), batch_size)
        return run(requests.put_bodies(stream, rows, JSON), self.call)

    def put_columns(
        self,
        stream: str,
        keys: Sequence[Key],
        values: Sequence[object],
        times: Sequence[Moment] | None = None,
        *,
        batch_size: int = BATCH_SIZE,
    ) -> Counts:
        """Send updates given as columns, such as lists or NumPy arrays. See `put_many`.

        `times` are seconds, datetimes with a time zone, or NumPy datetimes, which count as UTC.
        """
        rows = bodies(rows_of_columns(keys, values, times), batch_size)
        return run(requests.put_bodies(stream, rows, JSON), self.call)

    def put_table(
        self, stream: str, table: ArrowUpdates, *, batch_size: int = ROWS_AT_ONCE
    ) -> Counts:
        """Send an Arrow table, record batch or reader with columns `key`, `value` and `time`.

        This is by far the fastest way, because the data stays in Arrow's format, with
        dictionary-encoded keys. `batch_size` is the number of rows in a request. See `put_many`.
        """
        tables = arrow_bodies(table, batch_size)
        return run(requests.put_bodies(stream, tables, ARROW), self.call)

    def put_body(
        self, stream: str, body: bytes, content_type: str, *, is_atomic: bool = False
    ) -> Counts:
        """Send an encoded body as it is.

        If `is_atomic` is true and any update is invalid, nothing is applied and
        InvalidRequestError is raised.
        """
        return self.call(requests.put_body(stream, body, content_type, is_atomic=is_atomic))

    def feed(
        self,
        stream: str,
        *,
        batch_size: int = BATCH_SIZE,
        batch_seconds: float | None = BATCH_SECONDS,
    ) -> Feed:
        """Return a feed, which gathers updates and sends them in batches.

        A batch is sent when it has `batch_size` updates, or when its first update has waited
        `batch_seconds` (None: no limit).

        Use it as `with client.feed("trades") as feed: feed.put("IBM", 24.0)`.
        """
        gathering = Gathering(self._connection, stream, batch_size)
        return Feed(self.call, gathering, batch_seconds=batch_seconds)

    def delete(self, stream: str, key: Key) -> Counts:
        """Delete a key. Every queue hands out the deletion, then the key is forgotten."""
        return self.call(requests.delete(stream, key))

    def reset_key(self, stream: str, key: Key) -> bool:
        """Forget a key, and return whether it was known.

        Use it after an update with a time far in the future, which makes all later ones late. The
        next update of the key is accepted whatever its time. Waiting updates of it are dropped.
        """
        return self.call(requests.reset_key(stream, key))

    # Updates out

    def get(self, stream: str, key: Key) -> ReceivedUpdate:
        """Return the newest update of a key; raises NotFoundError if there is none."""
        return self.call(requests.get(stream, key))

    def snapshot(self, stream: str) -> list[ReceivedUpdate]:
        """Return the newest update of every key."""
        return self.call(requests.snapshot(stream))

    def read(self, queue: str, key: Key) -> ReceivedUpdate:
        """Return the waiting update of a key without dequeuing it; NotFoundError if none waits."""
        return self.call(requests.read(queue, key))

    def dequeue(
        self,
        queue: str,
        *,
        limit: int = 100,
        wait: float = 0.0,
        idempotency_key: str | None = None,
    ) -> list[ReceivedUpdate]:
        """Take the next updates, at most `limit`; wait up to `wait` seconds if none is waiting.

        The service accepts a `limit` of up to 10,000 and a `wait` of up to 60 seconds by default.
        The list is empty if no update came in time. An answer that is lost on the network is
        requested again. If the call is interrupted, its updates are lost, unless the queue grants
        leases: then they wait again when their leases expire.

        With an `idempotency_key` of your own, the same batch can be requested again, also by
        another process. Its leases then do not expire: they last until the batch is delivered, or
        until the service forgets the idempotency key (after 600 seconds by default).
        """
        request = requests.dequeue(queue, limit=limit, wait=wait, idempotency_key=idempotency_key)
        return self.call(request)

    def deliver(
        self,
        queue: str,
        updates: Iterable[ReceivedUpdate] = (),
        *,
        keys: Iterable[Key] = (),
        leases: Iterable[str] = (),
    ) -> Delivered:
        """Report updates as processed: those dequeued before, or by their keys or leases."""
        return run(requests.deliver(queue, updates, keys, leases), self.call)

    def consume(
        self,
        queue: str,
        *,
        limit: int | None = None,
        wait: float = 20.0,
        until_empty: bool = False,
    ) -> Iterator[ReceivedUpdate]:
        """Yield updates as they come; deliver each batch once the caller has processed it.

        Updates that were taken are no longer replaced by newer ones. So by default a batch has as
        many updates as the caller processes in a short time, measured as it goes: 1 at first, and
        at most 100. `limit` sets a fixed size instead.

        Each request waits up to `wait` seconds for an update. With `until_empty`, the iteration
        ends when none came in that time. If the caller stops early, the rest of the batch is handed
        out again when its leases expire.
        """
        pace = Pace(limit, self._connection.clock.now)
        while True:
            updates = self.dequeue(queue, limit=pace.next_limit(), wait=wait)
            pace.received(len(updates))
            yield from updates
            pace.used()
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
        conflate: Literal["auto", "never"] = "auto",
        reconnects: int | None = None,
        on_lost: OnLost | None = None,
    ) -> Watch:
        """Return an iterator over newest updates, pushed as they come; the queue is not changed.

        A slow reader gets fewer updates, not older ones. Of a queue that keeps every update, up to
        10,000 may wait for a reader; after that only the newest of each key are kept, and
        `WatchMessage.superseded` counts those that were replaced.

        - `window`: how many messages the service may send ahead of the reader (8 by default).
        - `max_rate`: updates per second over all keys, not messages, each of which may hold many.
        - `max_rate_per_key`: updates per second of each key; a number, or numbers by pattern, such
          as `{"GOOG": 1, "G*": 0.1}`.
        - `keys`: patterns; only keys that match one of them are sent.
        - `snapshot`: begin with the newest values, if the stream retains them.
        - `conflate`: `"never"` ends the watch of an append queue with an error, instead of leaving
          updates out.
        - `reconnects`: how often in a row a lost connection is opened again; None for no limit.
        - `on_lost`: called with the error and the seconds until the next attempt.

        After a lost connection, no newest value is missed, and an update may come twice. If no
        message had come yet, all newest values are sent, even without `snapshot`. If the queue is
        not found after a reconnection, it may be created again, so the watch waits for it. Deleting
        the queue ends the watch.
        """
        options = WatchOptions(window, max_rate, max_rate_per_key, keys, snapshot, conflate)
        watching = Watching(
            self._connection, queue, options, reconnects=reconnects, on_lost=on_lost
        )
        return Watch(watching, sleep=self._given_sleep)

    # Measurements

    def statistics(self, queue: str) -> Counters:
        """Return the exact counters of a queue."""
        return self.call(requests.statistics(queue))

    def staleness(self, queue: str, *, stalest: int = 10) -> Staleness:
        """Return the staleness of a queue, its lower bound, and its `stalest` stalest keys."""
        return self.call(requests.staleness(queue, stalest=stalest))

    # For all of them

    def call(self, request: Request[T]) -> T:
        """Send a request made by `upstream.client.requests`, and return its result."""
        exchange = self._connection.exchange(request)
        while True:
            self._check_open()
            delay: float | None
            try:
                response = self._http.send(self._connection.message(request))
            except BROKEN as error:
                self._check_open()  # closing breaks a request in progress in several ways
                delay = exchange.after_error(error)
            else:
                answer = self._connection.answer(response)
                delay = exchange.after_answer(answer)
                if delay is None:
                    return exchange.result(answer)
            self._sleep(delay)

    def close(self) -> None:
        """Close the connections; calls in progress raise ClosedError."""
        self._closed.set()
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise ClientClosedError("client")
