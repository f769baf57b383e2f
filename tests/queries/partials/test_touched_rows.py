"""Which rows have changed since the last look."""

from __future__ import annotations

import numpy as np

from upstream.queries.partials.touched_rows import TouchedRows


def test_rows_are_taken_once() -> None:
    touched = TouchedRows()
    touched.add(np.array([1, 2]))
    touched.add(np.array([2, 7]))
    assert set(touched.take(5).tolist()) == {1, 2}
    assert touched.take(5).size == 0


def test_what_is_not_taken_does_not_pile_up() -> None:
    touched = TouchedRows()
    for _ in range(10_000):
        touched.add(np.arange(100))
    assert touched.size() < 100_000
    assert set(touched.take(100).tolist()) == set(range(100))
