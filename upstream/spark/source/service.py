"""The operations of the service that the data source uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from upstream.client import (
    Client,
    Counts,
    InvalidRequestError,
    NotFoundError,
    QueueView,
    StreamView,
    requests,
)
from upstream.client.connection import without_password
from upstream.client.encoding import ARROW
from upstream.client.exchange import Request

from .errors import QueueUnfitError, StreamMissingError
from .raw_updates import RawUpdate, leases_of, raw_updates

LEASES_AT_ONCE: Final = 50_000


@dataclass(frozen=True, slots=True)
class Taken:
    """One answer to a dequeue."""

    body: bytes
    leases: tuple[str, ...]
    """One lease for each update."""


@dataclass(frozen=True, slots=True)
class ServiceQueue:
    """A queue of the service, by its name."""

    client: Client
    url: str
    name: str

    def look(self) -> QueueView:
        """Return the queue; QueueUnfitError if it does not exist."""
        with self._named():
            return self.client.queue(self.name)

    def take(self, limit: int, retry_key: str) -> Taken:
        """Dequeue, or return the updates that the same key dequeued before."""
        asked = requests.dequeue(self.name, limit=limit, wait=0.0, idempotency_key=retry_key)
        request = Request("POST", asked.path, bytes, idempotency_key=asked.idempotency_key)
        with self._named():
            body = self.client.call(request)
        leases = leases_of(body)
        granted = tuple(lease for lease in leases if lease is not None)
        if len(granted) < len(leases):
            raise QueueUnfitError(
                f"queue {self.name!r} at {without_password(self.url)} was created again without "
                "leases; create it with lease_seconds"
            )
        return Taken(body, granted)

    def deliver(self, leases: Iterable[str]) -> None:
        """Deliver updates; leases that have ended are ignored."""
        remaining = iter(leases)
        while some := list(islice(remaining, LEASES_AT_ONCE)):
            with self._named():
                self.client.deliver(self.name, leases=some)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Add the name of the queue, and what to do, to refusals."""
        url = without_password(self.url)
        try:
            yield
        except NotFoundError as error:
            raise QueueUnfitError(
                f"there is no queue {self.name!r} at {url}; create it, such as with "
                f"Client(url).create_queue({self.name!r}, stream=..., lease_seconds=60)"
            ) from error
        except InvalidRequestError as error:
            raise QueueUnfitError(
                f"queue {self.name!r} at {url} cannot hand out that many updates: {error}; set "
                "the option `max_updates` lower, or `partitions` higher"
            ) from error


def check_stream(client: Client, url: str, name: str) -> StreamView:
    """Return a stream; StreamMissingError if it does not exist."""
    try:
        return client.stream(name)
    except NotFoundError as error:
        raise StreamMissingError(url, name) from error


def snapshot(client: Client, url: str, stream: str) -> list[RawUpdate]:
    """Return the newest update of every key of a stream, the newest arrival last."""
    asked = requests.snapshot(stream)
    try:
        return client.call(Request(asked.method, asked.path, raw_updates))
    except NotFoundError as error:
        raise StreamMissingError(url, stream) from error


def put_arrow(client: Client, stream: str, body: bytes, retry_key: str) -> Counts:
    """Send an Arrow body with an idempotency key, so that it counts once if it is sent again."""
    return client.call(replace(requests.put_body(stream, body, ARROW), idempotency_key=retry_key))
