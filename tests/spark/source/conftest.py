"""What the tests of the data source share: one service, and Spark that knows the format."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.server_process import running
from upstream.client import Client
from upstream.spark import register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """Return where a service listens, which many tests share."""
    with running() as server:
        yield server.url


@pytest.fixture(scope="session")
def client(url: str) -> Iterator[Client]:
    """Return a client of the shared service."""
    with Client(url) as connected:
        yield connected


@pytest.fixture
def name() -> str:
    """Return a name that no other test uses."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def session(spark: SparkSession) -> SparkSession:
    """Return a Spark session in which the format is registered."""
    register(spark)
    return spark
