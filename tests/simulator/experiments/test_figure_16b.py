"""Figure 16b: usage over the skew."""

from __future__ import annotations

from simulator.experiments.experiment import number, where
from simulator.experiments.figure_16b import EXPERIMENT, verdict
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


def test_with_skew_fewer_keys_wait_and_more_is_saved_except_by_large_pages() -> None:
    table = quick_table(EXPERIMENT)
    means = mean_by(table, "theta", "usage", memory="on-demand")
    assert means[0.0] > means[0.3] > means[0.6] > means[0.9]
    by_small_pages, by_large_pages = (
        saving(pages_of(table, tuples), "theta", "page_usage") for tuples in (4, 64)
    )
    assert by_small_pages[0.9] > 1.5 * by_small_pages[0.0]
    assert by_large_pages[0.9] < 1.2 * by_large_pages[0.0]


def test_the_verdict_says_whether_the_claim_held() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    changed = verdict([{**row, "usage": 100.0} for row in table])
    assert changed.held is False
    assert "not always less than naive memory" in changed.sentence
    assert "does not always fall" in changed.sentence


def test_it_is_drawn_as_in_the_report() -> None:
    assert_drawn(EXPERIMENT, x_label="Zipf theta", y_label="average usage, in tuples")
