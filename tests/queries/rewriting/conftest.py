"""One database for the tests of a module, with the tables that their queries read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from upstream.database.duck import Duck

from .fixture_files import new_duck


@pytest.fixture(scope="module")
def tables() -> Iterator[Duck]:
    duck = new_duck()
    yield duck
    duck.close()
