"""The way that was measured to be cheaper is taken, and the other tried again now and then."""

from __future__ import annotations

from itertools import pairwise

import pytest

from upstream.queries.evaluation.cheaper_way import CheaperWay


def ways_taken(way: CheaperWay, windows: int, *, whole: float, increments: float) -> list[bool]:
    """Evaluate windows at these costs, and return for each whether it was evaluated whole."""
    taken = []
    for _ in range(windows):
        taken.append(way.is_whole)
        way.measured(whole if way.is_whole else increments)
    return taken


@pytest.mark.parametrize(("rows", "is_whole"), [(4_096, True), (4_097, False)])
def test_a_small_window_begins_whole_and_a_large_one_by_increments(
    rows: int, is_whole: bool
) -> None:
    assert CheaperWay(window_rows=rows).is_whole is is_whole


@pytest.mark.parametrize("rows", [1, 100_000])
@pytest.mark.parametrize(("whole", "increments"), [(1.0, 2.0), (2.0, 1.0)])
def test_it_comes_to_take_the_cheaper_way_wherever_it_began(
    rows: int, whole: float, increments: float
) -> None:
    way = CheaperWay(window_rows=rows)
    ways_taken(way, 20, whole=whole, increments=increments)
    assert way.is_whole is (whole < increments)


def test_the_other_way_is_tried_after_16_windows_then_64_then_256() -> None:
    way = CheaperWay(window_rows=1)
    taken = ways_taken(way, 16 + 4 + 64 + 4 + 256 + 4, whole=1.0, increments=1.25)
    trial = [False] * 4
    assert taken == [True] * 16 + trial + [True] * 64 + trial + [True] * 256 + trial


def test_a_trial_ends_when_the_other_way_has_turned_out_to_be_dear() -> None:
    way = CheaperWay(window_rows=1)
    taken = ways_taken(way, 16 + 3 + 64, whole=1.0, increments=2.0)
    assert taken == [True] * 16 + [False] * 3 + [True] * 64  # the first of them is not counted


def test_a_trial_ends_at_once_when_the_other_way_is_hopeless() -> None:
    way = CheaperWay(window_rows=100_000)
    taken = ways_taken(way, 16 + 1 + 64, whole=5.0, increments=1.0)
    assert taken == [False] * 16 + [True] + [False] * 64
    way = CheaperWay(window_rows=1)
    taken = ways_taken(way, 16 + 2 + 64, whole=1.0, increments=5.0)
    assert taken == [True] * 16 + [False] * 2 + [True] * 64


def test_the_other_way_is_tried_no_less_often_than_every_4096_windows() -> None:
    way = CheaperWay(window_rows=1)
    taken = ways_taken(way, 20_000, whole=1.0, increments=2.0)
    trials = [i for i in range(1, len(taken)) if taken[i - 1] and not taken[i]]
    gaps = {after - before for before, after in pairwise(trials)}
    assert max(gaps) == 4_096 + 3


def test_what_a_trial_pays_for_being_prepared_does_not_count() -> None:
    way = CheaperWay(window_rows=1)
    ways_taken(way, 16, whole=1.0, increments=0.0)
    assert not way.is_whole
    way.measured(1_000.0)  # all rows of the window are fed
    ways_taken(way, 3, whole=1.0, increments=0.5)
    assert not way.is_whole


def test_it_follows_costs_that_change() -> None:
    way = CheaperWay(window_rows=1)
    ways_taken(way, 100, whole=1.0, increments=2.0)
    assert way.is_whole
    ways_taken(way, 500, whole=9.0, increments=2.0)  # the window has grown
    assert not way.is_whole


def test_a_single_window_that_was_slow_changes_nothing() -> None:
    way = CheaperWay(window_rows=1)
    ways_taken(way, 20, whole=1.0, increments=1.5)
    way.measured(2.0)
    ways_taken(way, 40, whole=1.0, increments=1.5)
    assert way.is_whole


def test_of_ways_that_cost_the_same_the_one_that_was_tried_last_is_taken_on() -> None:
    way = CheaperWay(window_rows=1)
    taken = ways_taken(way, 16 + 4 + 64 + 1, whole=1.0, increments=1.0)
    assert taken == [True] * 16 + [False] * (4 + 64) + [True]


def test_it_says_what_it_measured() -> None:
    way = CheaperWay(window_rows=1)
    assert way.describe("by increments") == "whole (no window was measured yet)"
    ways_taken(way, 20, whole=0.001, increments=0.002)
    costs = "a window costs in parts 2.00 ms, whole 1.00 ms"
    assert way.describe("in parts") == f"whole ({costs})"
