"""What the tests of the data source share: one service, and Spark that knows the format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.client.service_fixtures import client, name, service_url
from upstream.spark import register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["client", "name", "service_url"]


@pytest.fixture(scope="session")
def url(service_url: str) -> str:
    """Return the address of the shared service."""
    return service_url


@pytest.fixture(scope="session")
def session(spark: SparkSession) -> SparkSession:
    """Return a Spark session in which the format is registered."""
    register(spark)
    return spark
