"""Figure 12b: the execution trace of EAGER windows."""

from __future__ import annotations

from simulator.experiments.experiment import column
from simulator.experiments.figure_12b import EXPERIMENT, verdict

from .golden import assert_drawn, assert_golden, quick_table


def test_the_quick_results_are_the_golden_ones() -> None:
    assert_golden(EXPERIMENT)


def test_both_stalenesses_fall_when_a_window_is_committed_and_another_delivered() -> None:
    at_seven = quick_table(EXPERIMENT)[6]
    assert (at_seven["left"], at_seven["result"]) == ("7", "[1,4)")
    assert column([at_seven], "queue_before") > column([at_seven], "queue_after")
    assert column([at_seven], "application_before") > column([at_seven], "application_after")


def test_the_verdict_says_whether_the_claim_held() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    assert "3 at 7 and to 3 at 13" in verdict(table).sentence
    assert verdict([{**row, "application_after": 0.0} for row in table]).held is False


def test_it_is_drawn_as_in_the_report() -> None:
    assert_drawn(EXPERIMENT, x_label="time", y_label="arrivals")
