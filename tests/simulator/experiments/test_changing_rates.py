"""The index while rates change."""

from __future__ import annotations

from simulator.experiments.changing_rates import (
    EXPERIMENT,
    FORGETTING,
    PERIODS,
    UPDATES,
    points,
    verdict,
)
from simulator.experiments.experiment import Scale, number, where

from .golden import quick_table


def test_in_the_longest_period_nothing_changes() -> None:
    assert max(PERIODS) == UPDATES
    assert len(points(Scale())) == 2 * len(PERIODS)


def test_the_average_rates_are_the_true_ones_where_nothing_changes() -> None:
    table = quick_table(EXPERIMENT)
    longest = max(number(row, "period") for row in table)
    [known] = where(table, period=longest, rates="average")
    assert number(known, "queue_over_in_place") < 0.95


def test_estimates_follow_rates_that_change_seldom_and_mislead_where_they_change_often() -> None:
    table = where(quick_table(EXPERIMENT), rates="estimated", forgetting=0.05)
    ratios = {row["period"]: number(row, "queue_over_in_place") for row in table}
    assert ratios[max(ratios)] < 0.95
    assert max(ratios.values()) > 1.0


def test_the_verdict_tells_the_range_of_each_forgetting() -> None:
    table = quick_table(EXPERIMENT)
    found = verdict(table)
    assert found.held is None
    assert all(f"{forgetting:g}: " in found.sentence for forgetting in FORGETTING)
    other = [
        {**row, "queue_over_in_place": 3.0} if row["rates"] == "average" else row for row in table
    ]
    assert "given the average rates, 3.00 to 3.00" in verdict(other).sentence
