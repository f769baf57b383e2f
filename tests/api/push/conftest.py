"""Fixtures of the tests of push."""

from __future__ import annotations

import pytest

from api.entries import QueueEntry
from api.service import Service
from tests.api.push.setting import define, make_service


@pytest.fixture
def service() -> Service:
    """Return a service with a queue `q` and a stream of that name."""
    service = make_service()
    define(service)
    return service


@pytest.fixture
def feed(service: Service) -> QueueEntry:
    """Return the queue `q`."""
    return service.queue("q")
