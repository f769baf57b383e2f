"""The client for asyncio: that it is the same as the one that blocks, and that it works."""

from __future__ import annotations

import ast
import asyncio
import inspect
from types import ModuleType

import httpx2
import pyarrow as pa
import pytest

from upstream import ClosedError
from upstream.client import (
    AsyncClient,
    Client,
    NotFoundError,
    ReceivedUpdate,
    RetryPolicy,
    ServiceUnreachableError,
    async_client,
    client,
)

from .scripted_service import COUNTS, ScriptedService, answer, problem, targets

BLOCKING = {
    "async def": "def",
    "async with": "with",
    "await ": "",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncClient": "Client",
    "AsyncFeed": "Feed",
    "AsyncIterator": "Iterator",
    "AsyncWatch": "Watch",
    "Awaitable[object]": "object",
    "aclose": "close",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "asyncio.Event": "threading.Event",
    "partial(sleep_unless, self._closed)": "self._closed.wait",
}
"""What is written differently where nothing blocks."""


def methods_of(module: ModuleType) -> dict[str, str]:
    """Return the source of each method of the module's class, as if it blocked."""
    text = inspect.getsource(module)
    for waiting, blocking in BLOCKING.items():
        text = text.replace(waiting, blocking)
    [found] = [each for each in ast.parse(text).body if isinstance(each, ast.ClassDef)]
    methods = [each for each in found.body if isinstance(each, ast.FunctionDef)]
    return {each.name: ast.unparse(each) for each in methods}


METHODS = methods_of(client)


def test_both_clients_have_the_same_methods() -> None:
    assert list(methods_of(async_client)) == list(METHODS)
    assert {"put_many", "consume", "watch", "_call"} <= set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_both_clients_say_and_do_the_same(name: str) -> None:
    waiting = methods_of(async_client)[name]
    # There is no `yield from` where things are awaited.
    waiting = waiting.replace(
        "for update in updates:\n            yield update", "yield from updates"
    )
    assert waiting == METHODS[name]


def test_what_waits_is_awaited() -> None:
    blocking = {"feed", "watch", "consume"}  # they return what waits
    for name, method in inspect.getmembers(AsyncClient, inspect.isfunction):
        if not name.startswith("_") and name not in blocking:
            assert inspect.iscoroutinefunction(method), name
            assert not inspect.iscoroutinefunction(getattr(Client, name))


def test_updates_go_in_batches_and_what_was_lost_is_sent_again() -> None:
    service = ScriptedService(COUNTS, httpx2.ReadError("reset"), COUNTS)

    async def run() -> None:
        async with service.async_client() as connected:
            counts = await connected.put_many("s", [("a", 1), ("b", 2), ("c", 3)], batch_size=2)
            assert counts.waiting == 2

    asyncio.run(run())
    assert service.bodies == [[["a", None, 1], ["b", None, 2]], [["c", None, 3]], [["c", None, 3]]]
    first, second, again = service.keys
    assert first != second == again
    assert len(service.delays) == 1


def test_columns_and_tables_go_in_batches() -> None:
    service = ScriptedService(COUNTS)

    async def run() -> None:
        async with service.async_client() as connected:
            await connected.put_columns("s", ["a", "b"], [1, 2], batch_size=1)
            await connected.put_table("s", pa.table({"key": ["a"], "value": [1]}))

    asyncio.run(run())
    assert len(service.requests) == 3


def test_consuming_delivers_each_batch_when_all_of_it_was_used() -> None:
    update = {"key": "a", "value": 1, "time": 2.0, "lease": "r-1"}
    service = ScriptedService(
        answer({"updates": [update]}), answer({"delivered": 1}), answer({"updates": []})
    )

    async def run() -> list[ReceivedUpdate]:
        async with service.async_client() as connected:
            return [each async for each in connected.consume("q", until_empty=True)]

    assert asyncio.run(run()) == [ReceivedUpdate("a", 1, 2.0, "r-1")]
    assert [path for _, path in targets(service.requests)] == [
        "/v1/queues/q/dequeue?limit=100&wait=20.0&expire=true",
        "/v1/queues/q/delivered",
        "/v1/queues/q/dequeue?limit=100&wait=20.0&expire=true",
    ]


def test_what_is_refused_and_what_is_not_there_are_raised() -> None:
    async def run(service: ScriptedService) -> None:
        async with service.async_client(retries=1) as connected:
            await connected.statistics("q")

    with pytest.raises(NotFoundError):
        asyncio.run(run(ScriptedService(problem(404, "Unknown name"))))
    with pytest.raises(ServiceUnreachableError):
        asyncio.run(run(ScriptedService(httpx2.ConnectError("refused"))))


def test_a_call_that_waits_for_its_retry_ends_with_the_client() -> None:
    async def run() -> None:
        waits = asyncio.Event()

        def refuse(request: httpx2.Request) -> httpx2.Response:
            waits.set()
            raise httpx2.ConnectError("refused", request=request)

        patient = RetryPolicy(first_delay=1_000.0)
        connected = AsyncClient("http://a", retries=patient, transport=httpx2.MockTransport(refuse))
        call = asyncio.create_task(connected.streams())
        await asyncio.wait_for(waits.wait(), 30.0)
        await connected.close()
        await asyncio.wait_for(call, 30.0)

    with pytest.raises(ClosedError, match="client"):
        asyncio.run(run())


def test_a_closed_client_says_so() -> None:
    async def run() -> None:
        connected = ScriptedService(COUNTS).async_client()
        await connected.close()
        await connected.put("s", "a", 1)

    with pytest.raises(ClosedError, match="client"):
        asyncio.run(run())
