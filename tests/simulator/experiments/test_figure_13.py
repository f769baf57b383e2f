"""Figure 13: LAZY, EAGER and append windowing on tumbling and on overlapping windows."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Table, number, where
from simulator.experiments.figure_13 import (
    FIGURES,
    QUICK_LENGTHS,
    REPORTED,
    SERIES,
    judge_overlapping,
    judge_tumbling,
)

from .golden import quick_table

TUMBLING, OVERLAPPING = FIGURES


def tumbling() -> Table:
    return where(quick_table(TUMBLING), **REPORTED)


def test_lazy_grows_with_the_window_size_and_eager_decreases_with_it() -> None:
    # LAZY rises from 0 to the size while the next window arrives; EAGER rises to 1 once in a size.
    for row in tumbling():
        assert number(row, "lazy") == pytest.approx(number(row, "size") / 2, rel=0.03)
        assert number(row, "eager") == pytest.approx(1 / (2 * number(row, "size")), rel=0.03)


def test_at_half_the_cost_a_window_is_half_as_long_in_process() -> None:
    for row in where(quick_table(TUMBLING), cost=0.5):
        assert number(row, "lazy") == pytest.approx(number(row, "size") / 8, rel=0.03)
        assert number(row, "eager") == pytest.approx(1 / (8 * number(row, "size")), rel=0.03)


def test_a_consumer_that_does_not_keep_up_makes_eager_grow_too() -> None:
    rows = where(quick_table(TUMBLING), cost=2.0)
    assert all(number(row, "eager") >= number(row, "size") for row in rows)


def test_a_window_that_the_next_tuple_closes_is_processed_by_then() -> None:
    rows = where(quick_table(TUMBLING), closed_by="the next tuple")
    assert {number(row, "eager") for row in rows} == {0.0}


def test_the_verdict_on_tumbling_windows_says_whether_the_claim_held() -> None:
    table = quick_table(TUMBLING)
    assert judge_tumbling(table).held
    assert judge_tumbling([{**row, "eager": 0.5} for row in table]).held is False
    assert judge_tumbling([{**row, "lazy": 0.5} for row in table]).held is False
    assert judge_tumbling([{**row, "eager": 0.0} for row in table]).held is False


def overlapping(length: int = QUICK_LENGTHS[-1]) -> Table:
    return where(quick_table(OVERLAPPING), cost=1.0, ticks=length)


def test_windows_of_one_tuple_do_not_overlap_so_nothing_is_dropped_and_all_are_the_same() -> None:
    row = overlapping()[0]
    assert row["dropped_by_lazy"] == row["dropped_by_eager"] == 0.0
    assert {number(row, name) for name in SERIES} == {0.5}


@pytest.mark.parametrize("semantics", ["lazy", "eager"])
def test_one_window_in_each_window_size_is_processed(semantics: str) -> None:
    for row in overlapping():
        dropped = 1 - 1 / number(row, "size")
        assert number(row, f"dropped_by_{semantics}") == pytest.approx(dropped, abs=0.01)


def test_eager_delivers_windows_as_they_end_and_lazy_a_size_later() -> None:
    # EAGER rises to the size while the next window arrives; LAZY does so from a size less 1 on.
    for row in overlapping():
        size = number(row, "size")
        assert number(row, "eager") == pytest.approx(size / 2, rel=0.05)
        assert number(row, "lazy") == pytest.approx((3 * size - 2) / 2, rel=0.05)


def test_append_windowing_becomes_more_stale_the_longer_it_runs() -> None:
    for short, long in zip(overlapping(QUICK_LENGTHS[0]), overlapping(), strict=True):
        if number(short, "size") > 1:
            assert number(long, "append") > 3 * number(short, "append")
            assert number(long, "lazy") < 1.2 * number(short, "lazy")


def test_random_shedding_is_better_if_it_keeps_fewer_windows_than_lazy_does() -> None:
    for row in overlapping()[1:4]:  # with longer windows chance decides, in so short a run
        assert number(row, "lazy") < number(row, "half_kept") < number(row, "shedding")


def test_the_verdict_on_overlapping_windows_says_whether_the_claim_held() -> None:
    table = quick_table(OVERLAPPING)
    assert judge_overlapping(table).held
    better = judge_overlapping([{**row, "shedding": 0.1} for row in table])
    assert better.held is False
    assert "do not always have" in better.sentence
    assert judge_overlapping([{**row, "lazy": 1e6} for row in table]).held is False
