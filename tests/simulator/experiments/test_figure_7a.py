"""Figure 7a: append queues against update queues, a single key."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import number, where
from simulator.experiments.figure_7a import EXPERIMENT, verdict
from upstream import single_key_application_staleness, single_key_queue_staleness

from .golden import assert_drawn, assert_golden, quick_table


def test_the_quick_results_are_the_golden_ones() -> None:
    assert_golden(EXPERIMENT)


@pytest.mark.parametrize("load", [2, 5])
def test_with_an_update_at_each_tick_staleness_is_what_the_cycle_says(load: int) -> None:
    rows = where(quick_table(EXPERIMENT), arrivals="at each tick", load=load, updates=3_000)
    [in_place] = where(rows, queue="UQ-INPLACE")
    [append] = where(rows, queue="AQ")
    expected = 1.5 * load - 1
    assert number(in_place, "application_staleness") == pytest.approx(expected, rel=0.005)
    waiting = (load - 1) ** 2 / (2 * load)
    assert number(in_place, "queue_staleness") == pytest.approx(waiting, rel=0.005)
    backlog = 3_000 / 2 * (1 - 1 / load)
    assert number(append, "application_staleness") == pytest.approx(backlog, rel=0.005)


@pytest.mark.parametrize("load", [0.75, 2, 5])
def test_with_memoryless_updates_staleness_is_what_is_known_exactly(load: float) -> None:
    rows = where(quick_table(EXPERIMENT), arrivals="memoryless", load=load, updates=3_000)
    [in_place] = where(rows, queue="UQ-INPLACE")
    application = single_key_application_staleness(1.0, load)
    assert number(in_place, "application_staleness") == pytest.approx(application, rel=0.03)
    queue = single_key_queue_staleness(1.0, load)
    assert number(in_place, "queue_staleness") == pytest.approx(queue, rel=0.06)


def test_with_one_key_both_update_queues_are_the_same() -> None:
    rows = quick_table(EXPERIMENT)
    fifo, in_place = (where(rows, queue=queue) for queue in ("UQ-FIFO", "UQ-INPLACE"))
    assert [{**row, "queue": ""} for row in fifo] == [{**row, "queue": ""} for row in in_place]


def test_the_verdict_says_whether_both_are_the_same() -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    assert "is the same as FIFO" in verdict(table).sentence
    changed = [
        {**row, "application_staleness": 0.99 * number(row, "application_staleness")}
        if row["queue"] == "UQ-INPLACE"
        else row
        for row in table
    ]
    assert verdict(changed).held is False
    assert "is not the same as FIFO" in verdict(changed).sentence


def test_it_is_drawn_as_in_the_report() -> None:
    assert_drawn(EXPERIMENT, x_label="load factor", y_label="mean staleness (in updates)")
