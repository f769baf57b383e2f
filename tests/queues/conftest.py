"""A clock that the test moves, and a stream that reads it."""

from __future__ import annotations

import pytest

from upstream import ManualClock, Stream


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def stream(clock: ManualClock) -> Stream:
    return Stream(clock=clock)
