"""Runs of queues of windows."""

from __future__ import annotations

import pytest

from simulator.experiments.window_runs import WindowRun, dropped_share, one_key
from simulator.model.simulation import with_key_times
from simulator.workloads.sources import RoundRobin
from simulator.workloads.workload import uniform
from upstream import (
    RandomWindowShedding,
    WindowQueueStatistics,
    WindowSpecification,
)


def run(*, size: int, slide: int, cost: float = 1.0, updates: int = 1_000) -> WindowRun:
    windows = WindowSpecification(size=size, slide=slide, tick=1)
    return WindowRun(workload=one_key(), specification=windows, cost=cost, updates=updates)


@pytest.mark.parametrize("semantics", ["lazy", "eager"])
def test_windows_that_overlap_are_dropped_but_for_one_in_each_size(semantics: str) -> None:
    measured = run(size=10, slide=1).update(semantics)
    assert dropped_share(measured) == pytest.approx(0.9, abs=0.01)


def test_no_window_is_dropped_while_the_server_keeps_up() -> None:
    assert dropped_share(run(size=10, slide=10).update("lazy")) == 0.0


def test_a_run_without_a_finished_window_drops_none() -> None:
    assert dropped_share(run(size=10, slide=10, updates=3).update("lazy")) == 0.0


def test_append_windowing_processes_every_window_and_falls_behind() -> None:
    measured = run(size=10, slide=1).append()
    assert dropped_share(measured) == 0.0
    assert measured.application.mean > 300


def test_append_windowing_sheds_the_share_that_it_is_told() -> None:
    statistics = run(size=10, slide=1).append(RandomWindowShedding(0.75, seed=1)).statistics
    assert isinstance(statistics, WindowQueueStatistics)
    assert statistics.windows.shed == pytest.approx(750, abs=50)


def test_times_of_a_key_are_counted_in_its_own_tuples() -> None:
    taken: list[tuple[object, object, float | None]] = []

    def enqueue(key: object, value: object, time: float | None = None) -> None:
        taken.append((key, value, time))

    key_times = with_key_times(enqueue)
    for number, key in enumerate("aab"):
        key_times(key, number)
    assert taken == [("a", 0, 0.0), ("a", 1, 1.0), ("b", 2, 0.0)]


def test_keys_in_turn_have_the_same_windows_in_their_own_tuples() -> None:
    keys_in_turn = RoundRobin(uniform(10))
    staleness = [
        WindowRun(
            workload=keys_in_turn,
            specification=WindowSpecification(size=size, slide=1),
            cost=1.0,
            updates=1_000,
        )
        .update("eager", has_key_times=has_key_times)
        .application.mean
        for size, has_key_times in ((30, False), (3, True))
    ]
    assert staleness[0] == staleness[1] > 0
