"""An engine whose clock stands until it is moved, with two streams."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from upstream import Engine, ManualClock

from .setting import make_streams


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(clock: ManualClock) -> Iterator[Engine]:
    with Engine(clock=clock) as engine:
        make_streams(engine)
        yield engine
