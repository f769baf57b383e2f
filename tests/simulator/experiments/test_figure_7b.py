"""Figure 7b: append queues against update queues, several keys."""

from __future__ import annotations

from simulator.experiments.experiment import number, where
from simulator.experiments.figure_7b import EXPERIMENT, verdict

from .golden import assert_drawn, assert_golden, quick_table


def test_the_quick_results_are_the_golden_ones() -> None:
    assert_golden(EXPERIMENT)


def test_with_several_keys_in_place_is_fresher_than_fifo_and_the_more_so_the_higher_the_load() -> (
    None
):
    ratios = []
    for load in (2, 5):
        rows = where(quick_table(EXPERIMENT), arrivals="at each tick", load=load, updates=3_000)
        [fifo] = where(rows, queue="UQ-FIFO")
        [in_place] = where(rows, queue="UQ-INPLACE")
        ratios.append(
            number(in_place, "application_staleness") / number(fifo, "application_staleness")
        )
    assert 0.6 < ratios[1] < ratios[0] < 0.95


def test_the_verdict_says_whether_in_place_is_at_most_fifo() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    assert "IN-PLACE has never more than FIFO" in verdict(table).sentence
    swapped = {"UQ-FIFO": "UQ-INPLACE", "UQ-INPLACE": "UQ-FIFO"}
    changed = [{**row, "queue": swapped.get(str(row["queue"]), row["queue"])} for row in table]
    assert verdict(changed).held is False
    assert "IN-PLACE has sometimes more than FIFO" in verdict(changed).sentence


def test_it_is_drawn_as_in_the_report() -> None:
    assert_drawn(EXPERIMENT, x_label="load factor", y_label="mean staleness (in updates)")
