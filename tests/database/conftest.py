"""A database for each test, with a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from upstream import ManualClock
from upstream.database.duck import Duck


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck(clock=ManualClock())
    yield duck
    duck.close()
