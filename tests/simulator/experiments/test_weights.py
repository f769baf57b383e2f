"""Weights: the index that is told of them, the one that is not, and the bound."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import number, where
from simulator.experiments.weights import EXPERIMENT, HEAVY, verdict

from .golden import quick_table


@pytest.mark.parametrize("heavy", HEAVY)
def test_equal_weights_change_nothing(heavy: str) -> None:
    _, index, weighted = where(quick_table(EXPERIMENT), heavy=heavy, spread=1)
    assert index["queue"] == weighted["queue"]
    assert index["application"] == weighted["application"]


@pytest.mark.parametrize("heavy", HEAVY)
def test_heavier_keys_are_served_sooner(heavy: str) -> None:
    in_place, index, weighted = where(quick_table(EXPERIMENT), heavy=heavy, spread=100)
    for kind in ("queue", "application", "queue_of_heavy_keys"):
        assert number(weighted, kind) < 0.5 * number(index, kind)
        assert number(weighted, kind) < 0.5 * number(in_place, kind)
    assert number(weighted, "queue_of_light_keys") > number(index, "queue_of_light_keys")


def test_no_staleness_is_far_below_the_weighted_bound() -> None:
    for row in quick_table(EXPERIMENT):
        assert number(row, "queue") > 0.95 * number(row, "queue_bound")
        assert number(row, "application") > 0.95 * number(row, "application_bound")


def test_the_weighted_mean_is_of_heavy_and_light_keys() -> None:
    for row in quick_table(EXPERIMENT):
        heavy = number(row, "spread") * number(row, "queue_of_heavy_keys")
        total = heavy + 9 * number(row, "queue_of_light_keys")
        assert number(row, "queue") == pytest.approx(total / (number(row, "spread") + 9))


def test_the_verdict_is_of_the_table() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held is None
    other = [{**row, "queue_bound": number(row, "queue") / 2} for row in table]
    assert "2.00 to 2.00 times the weighted lower bound" in verdict(other).sentence
