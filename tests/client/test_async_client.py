"""The client for asyncio is the one that blocks, with calls to await.

What it does is tested with that one, in `test_client`, `test_feed` and `test_watch`.
"""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest

from upstream.client import (
    AsyncClient,
    Client,
    async_client,
    client,
)

BLOCKING = {
    "async def": "def",
    "async with": "with",
    "await ": "",
    "run_async": "run",
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
"""What is written differently in the asynchronous client."""


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
    assert {"put_many", "consume", "watch", "call"} <= set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_both_clients_have_the_same_code_and_docstrings(name: str) -> None:
    waiting = methods_of(async_client)[name]
    # There is no `yield from` where things are awaited.
    waiting = waiting.replace(
        "for update in updates:\n            yield update", "yield from updates"
    )
    assert waiting == METHODS[name]


def test_methods_that_wait_are_coroutines() -> None:
    blocking = {"feed", "watch", "consume"}  # they return what waits
    for name, method in inspect.getmembers(AsyncClient, inspect.isfunction):
        if not name.startswith("_") and name not in blocking:
            assert inspect.iscoroutinefunction(method), name
            assert not inspect.iscoroutinefunction(getattr(Client, name))
