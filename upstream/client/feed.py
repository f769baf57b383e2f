"""Feeds, blocking and for asyncio: updates are gathered and sent in batches.

`Gathering` decides what is sent and when. The feeds send it, and wait.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self, TypeAlias

from upstream.errors import ClosedError

from .answers import Counts, Key
from .errors import ClientClosedError, ServiceError
from .exchange import Request, run, run_async
from .gathering import Gathering, check_batch_seconds
from .rows import Moment

Send: TypeAlias = Callable[[Request[Counts]], Counts]
AsyncSend: TypeAlias = Callable[[Request[Counts]], Awaitable[Counts]]


class Feed:
    """Gather updates and send them in batches; made by `Client.feed`, and used with `with`.

    The `put` that fills a batch sends it, and takes as long as the service needs. A thread sends a
    batch whose first update has waited for `batch_seconds`. Leaving the `with` block sends the
    rest. An error in the thread is raised by the next call.

    A batch that fails because the service is unreachable or failing is kept, and is sent again
    before all others: by the next `put` that fills a batch, by the thread after a delay, by
    `flush`, and on leaving the block. Updates that are put meanwhile are kept without a limit, so
    the caller should pause when `put` raises. A batch that the service refuses is dropped, and so
    is one that it may have received more than `RetryPolicy.longest_total` ago
    (`OutcomeUnknownError`).
    """

    def __init__(self, send: Send, gathering: Gathering, *, batch_seconds: float | None) -> None:
        check_batch_seconds(batch_seconds)
        self._send = send
        self._gathering = gathering
        self._batch_seconds = batch_seconds
        self._changed = threading.Condition()  # its lock guards the whole state
        self._is_open = False
        self._timer: threading.Thread | None = None

    @property
    def counts(self) -> Counts:
        """What happened to the updates sent so far."""
        return self._gathering.counts

    @property
    def unconfirmed(self) -> int:
        """How many updates were put whose outcome is not known."""
        return self._gathering.unconfirmed

    def put(self, key: Key, value: object, time: Moment | None = None) -> None:
        """Add an update, and send the batch if it is full.

        If this raises a `ServiceError`, the update was added and must not be put again, unless the
        batch that failed is the one with this update, and it was refused or dropped. After any
        other error, the update was not added.
        """
        with self._changed:
            self._check_open()
            count = self._gathering.add(key, value, time)
            self._gathering.raise_failure()
            if self._gathering.is_full:
                self._send_all()
            elif count == 1:
                self._changed.notify()

    def flush(self) -> Counts:
        """Send all waiting updates, and return what happened to the updates sent so far."""
        with self._changed:
            self._check_open()
            self._send_the_rest()
            return self._gathering.counts

    def __enter__(self) -> Self:
        self._is_open = True
        if self._batch_seconds is not None:
            self._timer = threading.Thread(
                target=self._send_in_time, args=(self._batch_seconds,), daemon=True
            )
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            with self._changed:
                self._send_the_rest()
        finally:
            with self._changed:
                self._is_open = False
                self._changed.notify()
            if self._timer is not None:
                self._timer.join()

    def _check_open(self) -> None:
        if not self._is_open:
            raise ClientClosedError("feed")

    def _send_all(self) -> None:
        try:
            run(self._gathering.batches(), self._send)
        except ServiceError:
            self._changed.notify()  # the timer repeats the batch after a delay
            raise

    def _send_the_rest(self) -> None:
        self._send_all()
        self._gathering.raise_failure(but_passing=True)  # its batch has been sent now

    def _send_in_time(self, seconds: float) -> None:
        with self._changed:
            while self._is_open:
                due_in = self._gathering.due_in(seconds)
                if due_in is None or due_in > 0:
                    self._changed.wait(due_in)
                elif not self._send_quietly():
                    return

    def _send_quietly(self) -> bool:
        """Send everything; keep an error for the next call, and return whether to go on."""
        try:
            self._send_all()
        except (ServiceError, ClosedError) as error:
            self._gathering.note(error)
            return isinstance(error, ServiceError)
        return True


class AsyncFeed:
    """Gather updates and send them in batches; made by `AsyncClient.feed`, used with `async with`.

    The `put` that fills a batch sends it. A task sends a batch whose first update has waited for
    `batch_seconds`. Leaving the `async with` block sends the rest. An error in the task is raised
    by the next call. `Feed` explains what happens to a batch that fails.
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
        """What happened to the updates sent so far."""
        return self._gathering.counts

    @property
    def unconfirmed(self) -> int:
        """How many updates were put whose outcome is not known."""
        return self._gathering.unconfirmed

    async def put(self, key: Key, value: object, time: Moment | None = None) -> None:
        """Add an update, and send the batch if it is full.

        If this raises a `ServiceError`, the update was added and must not be put again, unless the
        batch that failed is the one with this update, and it was refused or dropped. After any
        other error, the update was not added.
        """
        self._check_open()
        self._gathering.add(key, value, time)
        self._gathering.raise_failure()
        if self._gathering.is_full:
            await self._send_all()
        else:
            self._start_timer()

    async def flush(self) -> Counts:
        """Send all waiting updates, and return what happened to the updates sent so far."""
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
        try:
            await run_async(self._gathering.batches(), self._send)
        except ServiceError:
            self._start_timer()  # the timer repeats the batch after a delay
            raise

    async def _send_the_rest(self) -> None:
        await self._send_all()
        self._gathering.raise_failure(but_passing=True)  # its batch has been sent now

    async def _send_in_time(self, seconds: float) -> None:
        """Send batches as they are due, until nothing waits."""
        while True:
            async with self._sending:  # so no batch is being sent while this looks
                due_in = self._gathering.due_in(seconds)
                if due_in is None:
                    return
                if due_in <= 0 and not await self._send_quietly():
                    return
            await asyncio.sleep(due_in)

    async def _send_quietly(self) -> bool:
        """Send everything; keep an error for the next call, and return whether to go on."""
        try:
            await self._send_batches()
        except (ServiceError, ClosedError) as error:
            self._gathering.note(error)
            return isinstance(error, ServiceError)
        return True
