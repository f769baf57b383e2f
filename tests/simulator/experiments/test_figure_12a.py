"""Figure 12a: the execution trace of LAZY windows."""

from __future__ import annotations

from simulator.experiments.experiment import column
from simulator.experiments.figure_12a import EXPERIMENT, verdict

from .golden import assert_drawn, assert_golden, quick_table


def test_the_quick_results_are_the_golden_ones() -> None:
    assert_golden(EXPERIMENT)


def test_both_stalenesses_fall_when_a_window_is_committed_and_another_delivered() -> None:
    at_nine = quick_table(EXPERIMENT)[8]
    assert (at_nine["left"], at_nine["result"]) == ("7", "[1,4)")
    assert column([at_nine], "queue_before") > column([at_nine], "queue_after")
    assert column([at_nine], "application_before") > column([at_nine], "application_after")


def test_the_verdict_says_whether_the_claim_held() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    assert "5 at 9 and to 5 at 15" in verdict(table).sentence
    assert verdict([{**row, "application_after": 0.0} for row in table]).held is False


def test_it_is_drawn_as_in_the_report() -> None:
    assert_drawn(EXPERIMENT, x_label="time", y_label="arrivals")
