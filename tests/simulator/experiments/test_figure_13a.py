"""Figure 13a: LAZY and EAGER on tumbling windows."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Table, number, where
from simulator.experiments.figure_13a import EXPERIMENT, REPORTED, verdict

from .golden import quick_table


def reported() -> Table:
    return where(quick_table(EXPERIMENT), **REPORTED)


def test_lazy_grows_with_the_window_size_and_eager_decreases_with_it() -> None:
    # LAZY rises from 0 to the size while the next window arrives; EAGER rises to 1 once in a size.
    for row in reported():
        assert number(row, "lazy") == pytest.approx(number(row, "size") / 2, rel=0.03)
        assert number(row, "eager") == pytest.approx(1 / (2 * number(row, "size")), rel=0.03)


def test_at_half_the_cost_a_window_is_half_as_long_in_process() -> None:
    for row in where(quick_table(EXPERIMENT), cost=0.5):
        assert number(row, "lazy") == pytest.approx(number(row, "size") / 8, rel=0.03)
        assert number(row, "eager") == pytest.approx(1 / (8 * number(row, "size")), rel=0.03)


def test_a_consumer_that_does_not_keep_up_makes_eager_grow_too() -> None:
    rows = where(quick_table(EXPERIMENT), cost=2.0)
    assert all(number(row, "eager") >= number(row, "size") for row in rows)


def test_closed_by_the_next_tuple_a_window_is_done_when_it_closes() -> None:
    rows = where(quick_table(EXPERIMENT), closed_by="the next tuple")
    assert {number(row, "eager") for row in rows} == {0.0}


def test_the_verdict_says_whether_the_claim_held() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    assert verdict([{**row, "eager": 0.5} for row in table]).held is False
    assert verdict([{**row, "lazy": 0.5} for row in table]).held is False
    assert verdict([{**row, "eager": 0.0} for row in table]).held is False
