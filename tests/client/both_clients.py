"""One test for both clients: what is meant for asyncio is used as if it blocked.

A loop in a thread of its own runs everything that has to be awaited, so background tasks go on
while a test does not call anything, as threads do.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, Self, cast

import httpx2

from upstream import Clock
from upstream.client import AsyncClient, Client, RetryPolicy

PATIENCE_SECONDS = 30.0


class Connect(Protocol):
    """Makes a client, of the kind that blocks or one that is used as if it did."""

    def __call__(
        self,
        url: str,
        *,
        timeout: float = ...,
        retries: int | RetryPolicy = ...,
        headers: dict[str, str] | None = ...,
        transport: httpx2.MockTransport | None = ...,
        sleep: Callable[[float], object] | None = ...,
        clock: Clock | None = ...,
    ) -> Client: ...


class Blocking:
    """An asyncio client, feed, watch or iterator whose methods block."""

    def __init__(self, awaited: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._awaited = awaited
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._awaited, name)
        return partial(self._call, found) if callable(found) else found

    def __enter__(self) -> Self:
        self._run(self._awaited.__aenter__())
        return self

    def __exit__(self, *raised: object) -> None:
        self._run(self._awaited.__aexit__(*raised))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        try:
            return self._run(anext(self._awaited))
        except StopAsyncIteration:
            raise StopIteration from None

    def _call(self, method: Callable[..., Any], *given: Any, **named: Any) -> Any:
        result = method(*given, **named)
        if inspect.isawaitable(result):
            return self._run(result)
        has_loop = any(hasattr(result, name) for name in ("__aenter__", "__anext__"))
        return Blocking(result, self._loop) if has_loop else result

    def _run(self, awaitable: Any) -> Any:
        async def wait() -> Any:
            return await awaitable

        waiting: Coroutine[None, None, Any] = wait()
        return asyncio.run_coroutine_threadsafe(waiting, self._loop).result(PATIENCE_SECONDS)


@contextmanager
def asyncio_used_as_if_it_blocked() -> Iterator[Connect]:
    """Yield what makes asyncio clients; their loop ends with the block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def connect(
        url: str, *, sleep: Callable[[float], object] | None = None, **options: Any
    ) -> Client:
        async def slept(seconds: float) -> None:
            assert sleep is not None
            sleep(seconds)

        client = AsyncClient(url, sleep=sleep and slept, **options)
        return cast("Client", Blocking(client, loop))

    try:
        yield connect
    finally:
        ending = asyncio.run_coroutine_threadsafe(loop.shutdown_asyncgens(), loop)
        ending.result(PATIENCE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_SECONDS)
        loop.close()
