"""Figure 17a: effective usage over the load."""

from __future__ import annotations

from simulator.experiments.experiment import number, where
from simulator.experiments.figure_17a import EXPERIMENT, verdict
from simulator.experiments.memory_tables import mean_by

from .golden import assert_drawn, assert_golden, quick_table


def test_the_quick_results_are_the_golden_ones() -> None:
    assert_golden(EXPERIMENT)


def test_on_demand_paging_has_1_by_tuple_and_less_by_page() -> None:
    for row in where(quick_table(EXPERIMENT), memory="on-demand"):
        assert number(row, "effective_usage") == 1.0
        assert number(row, "effective_page_usage") < 0.97


def test_on_demand_paging_is_never_worse_by_page_than_naive_memory() -> None:
    table = quick_table(EXPERIMENT)
    pairs = zip(where(table, memory="on-demand"), where(table, memory="naive"), strict=True)
    for on_demand, naive in pairs:
        assert number(on_demand, "effective_page_usage") >= number(naive, "effective_page_usage")


def test_naive_memory_uses_little_of_its_space_at_small_loads_and_more_at_others() -> None:
    means = mean_by(quick_table(EXPERIMENT), "load", "effective_usage", memory="naive")
    assert means[2] < 0.5 < means[5] < 0.9 < means[20]


def test_the_verdict_says_whether_the_claim_held() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    dirty = verdict([{**row, "effective_usage": 0.9} for row in table])
    assert dirty.held is False
    assert "on-demand paging is not 1" in dirty.sentence


def test_the_verdict_is_against_naive_memory_that_does_not_rise() -> None:
    changed = verdict([{**row, "effective_usage": 1.0} for row in quick_table(EXPERIMENT)])
    assert changed.held is False
    assert "naive memory does not always rise" in changed.sentence


def test_it_is_drawn_as_in_the_report() -> None:
    assert_drawn(EXPERIMENT, x_label="load factor", y_label="average effective usage")
