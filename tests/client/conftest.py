"""What the tests of the client share: a real service, and both kinds of client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from upstream.client import Client

from .both_clients import Connect, asyncio_used_as_if_it_blocked
from .service_fixtures import client, name, service_url, unused_url

__all__ = ["client", "name", "service_url", "unused_url"]


@pytest.fixture(params=["blocking", "asyncio"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Return what makes a client, of each kind in turn."""
    if request.param == "blocking":
        yield Client
        return
    with asyncio_used_as_if_it_blocked() as connect:
        yield connect
