"""Fixtures of the service's tests."""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import Iterator

import pytest

from api.push import wakeup
from tests.api.serving import Client, serving
from tests.server_process import RunningServer, running


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def client() -> Iterator[Client]:
    """Return a client of a service with default settings."""
    with serving() as client:
        yield client


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """Return a server in a process of its own, for tests that do not end it."""
    with running() as server:
        yield server


@pytest.fixture
def trades(client: Client) -> Client:
    """Return a client of a service with a queue `trades` and a stream of that name."""
    client.put("/v1/queues/trades")
    return client


@pytest.fixture
def goodbye_seconds(monkeypatch: pytest.MonkeyPatch) -> float:
    """Return how long the end of a connection waits for its reader: a tenth of what is usual."""
    assert 0.5 < wakeup.GOODBYE_SECONDS < 5
    seconds = wakeup.GOODBYE_SECONDS / 10
    monkeypatch.setattr(wakeup, "GOODBYE_SECONDS", seconds)
    return seconds


@pytest.fixture(scope="module")
def frozen() -> None:
    """Set aside what earlier tests left alive, so that looking at all objects costs little."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def uncollected(frozen: None) -> Iterator[None]:
    """Let the garbage collector free nothing."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
