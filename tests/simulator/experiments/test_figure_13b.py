"""Figure 13b: append and update windowing on windows that overlap."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Table, number, where
from simulator.experiments.figure_13b import EXPERIMENT, QUICK_LENGTHS, SERIES, verdict

from .golden import quick_table


def reported(length: int = QUICK_LENGTHS[-1]) -> Table:
    return where(quick_table(EXPERIMENT), cost=1.0, ticks=length)


def test_windows_of_one_tuple_do_not_overlap_so_nothing_is_dropped_and_all_are_the_same() -> None:
    row = reported()[0]
    assert row["dropped_by_lazy"] == row["dropped_by_eager"] == 0.0
    assert {number(row, name) for name in SERIES} == {0.5}


@pytest.mark.parametrize("semantics", ["lazy", "eager"])
def test_of_the_windows_one_in_each_size_is_processed(semantics: str) -> None:
    for row in reported():
        dropped = 1 - 1 / number(row, "size")
        assert number(row, f"dropped_by_{semantics}") == pytest.approx(dropped, abs=0.01)


def test_eager_delivers_windows_as_they_end_and_lazy_a_size_later() -> None:
    # EAGER rises to the size while the next window arrives; LAZY does so from a size less 1 on.
    for row in reported():
        size = number(row, "size")
        assert number(row, "eager") == pytest.approx(size / 2, rel=0.05)
        assert number(row, "lazy") == pytest.approx((3 * size - 2) / 2, rel=0.05)


def test_append_windowing_becomes_more_stale_the_longer_it_runs() -> None:
    for short, long in zip(reported(QUICK_LENGTHS[0]), reported(), strict=True):
        if number(short, "size") > 1:
            assert number(long, "append") > 3 * number(short, "append")
            assert number(long, "lazy") < 1.2 * number(short, "lazy")


def test_random_shedding_is_better_if_it_keeps_fewer_windows_than_lazy_does() -> None:
    for row in reported()[1:4]:  # with longer windows chance decides, in so short a run
        assert number(row, "lazy") < number(row, "half_kept") < number(row, "shedding")


def test_the_verdict_says_whether_the_claim_held() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    better = verdict([{**row, "shedding": 0.1} for row in table])
    assert better.held is False
    assert "do not always have" in better.sentence
    assert verdict([{**row, "lazy": 1e6} for row in table]).held is False
