"""Fixtures: one service for all tests of a folder that need a real one."""

from __future__ import annotations

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
