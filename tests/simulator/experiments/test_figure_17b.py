"""Figure 17b: usage over the load."""

from __future__ import annotations

from simulator.experiments.experiment import number, where
from simulator.experiments.figure_17b import EXPERIMENT, verdict
from simulator.experiments.memory_tables import mean_by, pages_of, saving

from .golden import assert_drawn, assert_golden, quick_table


def test_the_quick_results_are_the_golden_ones() -> None:
    assert_golden(EXPERIMENT)


def test_on_demand_paging_holds_less_than_naive_memory_in_every_run() -> None:
    table = quick_table(EXPERIMENT)
    pairs = zip(where(table, memory="on-demand"), where(table, memory="naive"), strict=True)
    for on_demand, naive in pairs:
        assert number(on_demand, "usage") < number(naive, "usage") <= 100.0
        assert number(on_demand, "page_usage") <= number(naive, "page_usage")


def test_with_load_more_keys_wait_and_less_is_saved_by_large_pages_nothing() -> None:
    table = quick_table(EXPERIMENT)
    means = mean_by(table, "load", "usage", memory="on-demand")
    assert means[2] < 50 < means[5] < means[20] < 100
    saved = saving(table, "load", "usage")
    assert saved[2] > 0.5 > saved[5] > 0.1 > saved[20] > 0.0
    assert saving(pages_of(table, 64), "load", "page_usage")[20] < 0.01


def test_the_verdict_says_whether_the_claim_held() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    changed = verdict([{**row, "usage": 100.0} for row in table])
    assert changed.held is False
    assert "not always less than naive memory" in changed.sentence
    assert "does not always rise" in changed.sentence


def test_it_is_drawn_as_in_the_report() -> None:
    assert_drawn(EXPERIMENT, x_label="load factor", y_label="average usage, in tuples")
