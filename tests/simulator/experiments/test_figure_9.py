"""Figure 9: LINECUTTING against IN-PLACE, with slow and fast keys."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import number, where
from simulator.experiments.figure_9 import EXPERIMENT, verdict

from .golden import quick_table


@pytest.mark.parametrize("slow", [0, 10])
def test_with_no_or_only_slow_updaters_both_serve_the_same(slow: int) -> None:
    for row in where(quick_table(EXPERIMENT), slow_updaters=slow):
        assert number(row, "in_place_over_linecutting") == 1.0


def test_very_slow_updaters_gain_and_slow_ones_may_lose() -> None:
    table = quick_table(EXPERIMENT)
    [very_slow] = where(table, ratio=100, slow_updaters=8)
    [slow] = where(table, ratio=10, slow_updaters=8)
    assert number(very_slow, "in_place_over_linecutting") > 1.1
    assert number(slow, "in_place_over_linecutting") < 0.9


def test_the_verdict_says_whether_the_claim_held() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    assert verdict([{**row, "in_place_over_linecutting": 1.0} for row in table]).held is False
