"""Slow keys that update all at once."""

from __future__ import annotations

import pytest

from simulator.experiments.bursts import EXPERIMENT, verdict
from simulator.experiments.experiment import Point, Scale, number, where

from .golden import quick_table


def test_all_keys_are_the_slow_and_the_fast_ones() -> None:
    for row in quick_table(EXPERIMENT):
        slow = number(row, "slow_keys")
        total = slow * number(row, "slow") + (100 - slow) * number(row, "fast")
        assert total == pytest.approx(100 * number(row, "all"))


def test_linecutting_serves_few_slow_keys_at_once_when_they_come() -> None:
    for row in where(quick_table(EXPERIMENT), policy="linecutting", rates="known", slow_keys=10):
        assert number(row, "slow_over_in_place") < 0.1


def test_linecutting_makes_fast_keys_starve_at_low_overload() -> None:
    table = where(quick_table(EXPERIMENT), policy="linecutting", rates="known", load=2)
    assert all(number(row, "fast_over_in_place") > 1.5 for row in table)


def test_the_full_scale_has_bursts_that_are_spread() -> None:
    assert {point["arrivals"] for point in EXPERIMENT.points(Scale())} == {
        "at once",
        "spread",
        "no bursts",
    }
    small: Point = {"arrivals": "spread", "load": 2, "ratio": 10, "slow_keys": 50}
    spread = EXPERIMENT.measure(small, Scale(is_quick=True))
    at_once = EXPERIMENT.measure({**small, "arrivals": "at once"}, Scale(is_quick=True))
    assert number(spread[0], "slow") < number(at_once[0], "slow")


def test_the_verdict_counts_where_linecutting_helps() -> None:
    table = quick_table(EXPERIMENT)
    found = verdict(table)
    assert found.held is None
    other = [
        {**row, "all_over_in_place": 0.5, "slow_over_in_place": 0.1}
        if row["policy"] == "linecutting"
        else row
        for row in table
    ]
    sentence = verdict(other).sentence
    assert "for the slow keys in 6 of 6 settings" in sentence
    assert "for all keys together in 6 of 6 (at once), in 6 of 6 (no bursts)" in sentence
    assert "at least as good as LINECUTTING in 0 of 6" in sentence
