"""Bounds of windows of one query can be compared, whatever their type."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pytest

from upstream.rows.window_bound import WindowBound, is_before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (datetime(2026, 1, 1), datetime(2026, 1, 2)),
        (date(2026, 1, 1), date(2026, 1, 2)),
        (np.datetime64(1, "ns"), np.datetime64(2, "ns")),
        (1, 2),
        (0.5, 0.75),
    ],
)
def test_an_earlier_bound_is_before_a_later_one(one: WindowBound, other: WindowBound) -> None:
    assert is_before(one, other)
    assert not is_before(other, one)
    assert not is_before(one, one)


def test_without_windows_nothing_is_before_anything() -> None:
    assert not is_before(None, None)
    assert not is_before(None, 1)
    assert not is_before(1, None)
