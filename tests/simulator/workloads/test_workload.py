"""What a workload is, and the first of its arrivals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from simulator.workloads.workload import Arrivals, first


def counted(drawn: list[int]) -> Iterator[Arrivals]:
    """Draw arrivals of one key at 0, 1, 2, and so on, three at a time, and note each draw."""
    while True:
        start = 3 * len(drawn)
        drawn.append(start)
        yield Arrivals(np.arange(start, start + 3.0), np.zeros(3, dtype=np.int64))


@pytest.mark.parametrize(("updates", "draws"), [(1, 1), (3, 1), (4, 2), (6, 2), (10, 4)])
def test_the_first_arrivals_are_drawn_and_no_more(updates: int, draws: int) -> None:
    drawn: list[int] = []
    parts = list(first(counted(drawn), updates))
    assert np.concatenate([part.times for part in parts]).tolist() == list(range(updates))
    assert sum(len(part.codes) for part in parts) == updates
    assert len(drawn) == draws


def test_of_fewer_arrivals_all_are_the_first() -> None:
    drawn: list[int] = []
    three = next(counted(drawn))
    [part] = first(iter([three]), 100)
    assert part.times.tolist() == [0.0, 1.0, 2.0]


def test_draws_without_arrivals_are_no_end() -> None:
    nothing = Arrivals(np.empty(0), np.empty(0, dtype=np.int64))
    drawn: list[int] = []
    parts = first(iter([nothing, next(counted(drawn)), nothing, next(counted(drawn))]), 5)
    assert sum(len(part.times) for part in parts) == 5
