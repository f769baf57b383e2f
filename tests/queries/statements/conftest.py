"""A database for the tests of statements, which is closed after each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from upstream.queries.duck import Duck


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    duck.connection.execute("CREATE TABLE companies (symbol VARCHAR, company VARCHAR)")
    yield duck
    duck.close()
