"""An engine with two streams and a clock that only tests move, and separate databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from upstream import Engine, ManualClock
from upstream.database.duck import Duck
from upstream.queries.evaluation import changing_leaf

from .saving import made
from .setting import make_streams


@pytest.fixture(scope="package", autouse=True)
def _following_few_rows() -> Iterator[None]:
    """Let views follow newest rows although there are few of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changing_leaf, "FEW", -1)
        patch.setattr(changing_leaf, "PER_CHANGE", 0)
        yield


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(clock: ManualClock) -> Iterator[Engine]:
    with Engine(clock=clock) as engine:
        make_streams(engine)
        yield engine


@pytest.fixture
def saving() -> Iterator[Engine]:
    """Return an engine with streams for the views of `VIEWS` in saving.py."""
    with ExitStack() as stack:
        yield made(stack)


@pytest.fixture
def restoring() -> Iterator[Engine]:
    """Return another engine like `saving`."""
    with ExitStack() as stack:
        yield made(stack)


@pytest.fixture(scope="module")
def shared_clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(scope="module")
def _shared_engine(shared_clock: ManualClock) -> Iterator[Engine]:
    with Engine(clock=shared_clock) as engine:
        make_streams(engine)
        engine.sql("CREATE STREAM moments (time TIMESTAMP, k TEXT) KEY (k)")
        engine.create_table("names", {"k": ["a"], "name": ["Ada"]})
        yield engine


@pytest.fixture
def shared_engine(_shared_engine: Engine) -> Iterator[Engine]:
    """One engine for all tests of a module: queries see only what comes after they were made."""
    yield _shared_engine
    for query in _shared_engine.queries:
        query.close()


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


@pytest.fixture(scope="module")
def shared_duck() -> Iterator[Duck]:
    """A database for all tests of a module, of which none changes it."""
    duck = Duck()
    yield duck
    duck.close()
