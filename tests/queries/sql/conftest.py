"""One database for the tests of statements, which do not disturb one another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from upstream.database.duck import Duck


@pytest.fixture(scope="session")
def duck() -> Iterator[Duck]:
    duck = Duck()
    duck.rows("CREATE TABLE companies (symbol VARCHAR, company VARCHAR)")
    yield duck
    duck.close()
