"""A feed for asyncio: batches are sent when they are full, or by a task when they are old."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self, TypeAlias

from upstream.errors import ClosedError

from .answers import Counts, Key
from .errors import ClientClosedError, ServiceError
from .exchange import Request
from .gathering import Gathering, check_batch_seconds
from .moments import Moment

AsyncSend: TypeAlias = Callable[[Request[Counts]], Awaitable[Counts]]


class AsyncFeed:
    """Gather updates and send them in batches; made by `AsyncClient.feed`, used with `async with`.

    A full batch is sent by the `put` that fills it. A task sends what is not full in time; what
    goes wrong there is raised by the next `put`. On leaving, the rest is sent. What becomes of
    batches that fail is told at `Feed`.
    """

    def __init__(
        self, send: AsyncSend, gathering: Gathering, *, batch_seconds: float | None
    ) -> None:
        check_batch_seconds(batch_seconds)
        self._send = send
        self._gathering = gathering
        self._batch_seconds = batch_seconds
        self._sending = asyncio.Lock()
        self._is_open = False
        self._timer: asyncio.Task[None] | None = None

    @property
    def counts(self) -> Counts:
        """Return what became of the updates that were sent so far."""
        return self._gathering.counts

    @property
    def unconfirmed(self) -> int:
        """Return how many updates were put of which it is not known what became of them."""
        return self._gathering.unconfirmed

    async def put(self, key: Key, value: object, time: Moment | None = None) -> None:
        """Add an update, and send the batch if it is full now; what it raises is told at `Feed`."""
        self._check_open()
        self._gathering.add(key, value, time)
        self._gathering.raise_failure()
        if self._gathering.is_full:
            await self._send_all()
        else:
            self._start_timer()

    async def flush(self) -> Counts:
        """Send what there is, and return what became of all that was sent so far."""
        self._check_open()
        await self._send_the_rest()
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

    def _check_open(self) -> None:
        if not self._is_open:
            raise ClientClosedError("feed")

    def _start_timer(self) -> None:
        if not self._is_open or self._batch_seconds is None:
            return
        if self._timer is None or self._timer.done():
            self._timer = asyncio.create_task(self._send_in_time(self._batch_seconds))

    async def _send_all(self) -> None:
        async with self._sending:
            await self._send_batches()

    async def _send_batches(self) -> None:
        while (request := self._gathering.next_request()) is not None:
            try:
                counts = await self._send(request)
            except ServiceError as error:
                self._gathering.failed(error)
                self._start_timer()
                raise
            self._gathering.sent(counts)

    async def _send_the_rest(self) -> None:
        await self._send_all()
        self._gathering.raise_failure(but_passing=True)  # which has been made up for just now

    async def _send_in_time(self, seconds: float) -> None:
        """Send what has become old, until nothing waits."""
        while True:
            async with self._sending:  # so nothing is on its way, and it is known what is left
                due_in = self._gathering.due_in(seconds)
                if due_in is None:
                    return
                if due_in <= 0 and not await self._send_quietly():
                    return
            await asyncio.sleep(due_in)

    async def _send_quietly(self) -> bool:
        """Send what there is, and return whether more can ever be sent."""
        try:
            await self._send_batches()
        except ServiceError as error:
            self._gathering.note(error)
        except ClosedError as error:
            self._gathering.note(error)
            return False
        return True
