"""Two streams on one clock for each test of plans."""

from __future__ import annotations

import pytest

from .setting import Streams


@pytest.fixture
def streams() -> Streams:
    return Streams()
