"""One database for the tests of statements, of which none changes what another needs."""

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
