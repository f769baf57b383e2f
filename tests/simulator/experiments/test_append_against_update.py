"""Append queues against update queues: what holds for any number of keys."""

from __future__ import annotations

import pytest

from simulator.experiments import figure_7a, figure_7b
from simulator.experiments.append_against_update import ARRIVALS, LOADS, QUEUES, points
from simulator.experiments.experiment import Experiment, Row, Scale, number, where

from .golden import quick_table

BOTH = pytest.mark.parametrize("experiment", [figure_7a.EXPERIMENT, figure_7b.EXPERIMENT])
UPDATE_QUEUES = ("UQ-FIFO", "UQ-INPLACE")


def only(rows: list[Row]) -> float:
    """Return the application staleness of the only row."""
    [row] = rows
    return number(row, "application_staleness")


def test_all_loads_are_measured_with_all_arrivals() -> None:
    assert len(points(Scale())) == len(LOADS) * len(ARRIVALS)
    assert len(points(Scale(is_quick=True))) == 6


@BOTH
def test_below_overload_all_queues_are_the_same_with_an_update_at_each_tick(
    experiment: Experiment,
) -> None:
    rows = where(quick_table(experiment), arrivals="at each tick", load=0.75, updates=3_000)
    assert len(rows) == len(QUEUES)
    assert len({number(row, "application_staleness") for row in rows}) == 1


@BOTH
@pytest.mark.parametrize("arrivals", ARRIVALS)
@pytest.mark.parametrize("load", [2, 5])
def test_under_overload_every_append_queue_is_staler_than_every_update_queue(
    experiment: Experiment, arrivals: str, load: int
) -> None:
    rows = where(quick_table(experiment), arrivals=arrivals, load=load, updates=3_000)
    found = {str(row["queue"]): number(row, "application_staleness") for row in rows}
    worst = max(found.pop(queue) for queue in UPDATE_QUEUES)
    assert len(found) == 4
    assert min(found.values()) > worst


@BOTH
def test_only_the_staleness_of_the_unbounded_append_queue_grows_with_the_run(
    experiment: Experiment,
) -> None:
    rows = where(quick_table(experiment), arrivals="at each tick", load=5)
    for queue in QUEUES:
        short, long = (
            only(where(rows, queue=queue.label, updates=updates)) for updates in (300, 3_000)
        )
        if queue.label == "AQ":
            assert long == pytest.approx(10 * short, rel=0.1)
        elif queue.capacity != 100:  # which takes 125 of 300 updates to fill
            assert long < 2 * short


@BOTH
def test_under_overload_shedding_is_the_worse_the_more_may_wait(experiment: Experiment) -> None:
    rows = where(quick_table(experiment), arrivals="at each tick", load=5, updates=3_000)
    one, ten, hundred = (
        only(where(rows, queue=f"AQ-RLS (capacity {capacity})")) for capacity in (1, 10, 100)
    )
    assert one < ten < hundred < only(where(rows, queue="AQ"))


def test_queue_staleness_flatters_shedding() -> None:
    rows = where(quick_table(figure_7b.EXPERIMENT), arrivals="at each tick", load=5, updates=3_000)
    [shedding] = where(rows, queue="AQ-RLS (capacity 10)")
    [in_place] = where(rows, queue="UQ-INPLACE")
    assert number(shedding, "queue_staleness") < number(in_place, "queue_staleness")
    assert number(shedding, "application_staleness") > number(in_place, "application_staleness")


@BOTH
@pytest.mark.parametrize("append", ["AQ", "AQ-RLS (capacity 100)"])
def test_the_claim_fails_where_an_append_queue_is_fresher(
    experiment: Experiment, append: str
) -> None:
    table = quick_table(experiment)
    changed = [
        {**row, "application_staleness": 0.1} if row["queue"] == append else row for row in table
    ]
    assert experiment.verdict(table).held
    verdict = experiment.verdict(changed)
    assert verdict.held is False
    assert "do not have the lower staleness" in verdict.sentence
    assert f"of {append} at load" in verdict.sentence


@BOTH
def test_the_claim_is_about_overload_only(experiment: Experiment) -> None:
    changed = [
        {**row, "application_staleness": 1e-9} if row["load"] == 0.75 else row
        for row in quick_table(experiment)
    ]
    assert experiment.verdict(changed) == experiment.verdict(quick_table(experiment))
