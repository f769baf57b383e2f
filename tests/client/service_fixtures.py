"""Fixtures: one service for all tests that need a real one, and an address without a service."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Iterator

import pytest

from tests.server_process import running
from upstream.client import Client


@pytest.fixture(scope="session")
def service_url() -> Iterator[str]:
    """Return the address of a service that many tests share."""
    with running() as server:
        yield server.url


@pytest.fixture
def client(service_url: str) -> Iterator[Client]:
    """Return a client of the shared service."""
    with Client(service_url) as connected:
        yield connected


@pytest.fixture
def name() -> str:
    """Return a name that no other test uses."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def unused_url() -> Iterator[str]:
    """Return an address at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
