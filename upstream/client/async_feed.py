"""A feed for asyncio: batches are sent when they are full, or by a task when they are old."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self, TypeAlias

from upstream.errors import ClosedError

from .answers import Counts, Key
from .errors import RequestRefusedError, ServiceError
from .exchange import Request
from .gathering import Gathering, check_batch_seconds

AsyncSend: TypeAlias = Callable[[Request[Counts]], Awaitable[Counts]]


class AsyncFeed:
    """Gather updates and send them in batches; made by `AsyncClient.feed`, used with `async with`.

    A full batch is sent by the `put` that fills it. A task sends what is not full in time; what
    goes wrong there is raised by the next call. On leaving, the rest is sent.
    """

    def __init__(
        self, send: AsyncSend, gathering: Gathering, *, batch_seconds: float | None
    ) -> None:
        check_batch_seconds(batch_seconds)
        self._send = send
        self._gathering = gathering
        self._batch_seconds = batch_seconds
        self._sending = asyncio.Lock()
        self._failure: ServiceError | None = None
        self._is_open = False
        self._timer: asyncio.Task[None] | None = None

    @property
    def counts(self) -> Counts:
        """Return what became of the updates that were sent so far."""
        return self._gathering.counts

    async def put(self, key: Key, value: object, time: float | None = None) -> None:
        """Add an update, and send the batch if it is full now."""
        self._check()
        self._gathering.add(key, value, time)
        if self._gathering.is_full:
            await self._send_all()
        elif self._batch_seconds is not None and (self._timer is None or self._timer.done()):
            self._timer = asyncio.create_task(self._send_in_time(self._batch_seconds))

    async def flush(self) -> Counts:
        """Send what there is, and return what became of all that was sent so far."""
        self._check()
        await self._send_all()
        return self._gathering.counts

    async def __aenter__(self) -> Self:
        self._is_open = True
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_open = False
        try:
            await self._send_the_rest()
        finally:
            if self._timer is not None:
                self._timer.cancel()
                with suppress(asyncio.CancelledError):
                    await self._timer

    def _check(self) -> None:
        if not self._is_open:
            raise ClosedError("feed")
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    async def _send_all(self) -> None:
        async with self._sending:
            while (request := self._gathering.next_request()) is not None:
                try:
                    counts = await self._send(request)
                except RequestRefusedError:
                    self._gathering.gave_up()
                    raise
                self._gathering.sent(counts)

    async def _send_the_rest(self) -> None:
        await self._send_all()
        failure, self._failure = self._failure, None
        if isinstance(failure, RequestRefusedError):  # anything else has been made up for just now
            raise failure

    async def _send_in_time(self, seconds: float) -> None:
        """Send what has become old, until nothing waits or something went wrong."""
        while (age := self._gathering.age()) is not None and self._failure is None:
            if age < seconds:
                await asyncio.sleep(seconds - age)
                continue
            try:
                await self._send_all()
            except ServiceError as error:
                self._failure = error
