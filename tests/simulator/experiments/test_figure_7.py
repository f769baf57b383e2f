"""Figure 7: append queues against update queues, with a single key and with several."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Experiment, Row, Scale, number, where
from simulator.experiments.figure_7 import ARRIVALS, FIGURES, LOADS, QUEUES, points
from upstream import single_key_application_staleness, single_key_queue_staleness

from .golden import quick_table

ONE_KEY, SEVERAL_KEYS = FIGURES
BOTH = pytest.mark.parametrize("experiment", FIGURES, ids=lambda figure: figure.name)
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
    rows = where(quick_table(SEVERAL_KEYS), arrivals="at each tick", load=5, updates=3_000)
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


@pytest.mark.parametrize("load", [2, 5])
def test_with_an_update_at_each_tick_staleness_is_what_the_cycle_says(load: int) -> None:
    rows = where(quick_table(ONE_KEY), arrivals="at each tick", load=load, updates=3_000)
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
    rows = where(quick_table(ONE_KEY), arrivals="memoryless", load=load, updates=3_000)
    [in_place] = where(rows, queue="UQ-INPLACE")
    application = single_key_application_staleness(1.0, load)
    assert number(in_place, "application_staleness") == pytest.approx(application, rel=0.03)
    queue = single_key_queue_staleness(1.0, load)
    assert number(in_place, "queue_staleness") == pytest.approx(queue, rel=0.06)


def test_with_one_key_both_update_queues_are_the_same() -> None:
    rows = quick_table(ONE_KEY)
    fifo, in_place = (where(rows, queue=queue) for queue in ("UQ-FIFO", "UQ-INPLACE"))
    assert [{**row, "queue": ""} for row in fifo] == [{**row, "queue": ""} for row in in_place]


def test_the_verdict_says_whether_both_are_the_same() -> None:
    table = quick_table(ONE_KEY)
    assert ONE_KEY.verdict(table).held
    assert "is the same as FIFO" in ONE_KEY.verdict(table).sentence
    changed = [
        {**row, "application_staleness": 0.99 * number(row, "application_staleness")}
        if row["queue"] == "UQ-INPLACE"
        else row
        for row in table
    ]
    assert ONE_KEY.verdict(changed).held is False
    assert "is not the same as FIFO" in ONE_KEY.verdict(changed).sentence


def test_with_several_keys_in_place_is_fresher_than_fifo_and_the_more_so_the_higher_the_load() -> (
    None
):
    ratios = []
    for load in (2, 5):
        rows = where(quick_table(SEVERAL_KEYS), arrivals="at each tick", load=load, updates=3_000)
        [fifo] = where(rows, queue="UQ-FIFO")
        [in_place] = where(rows, queue="UQ-INPLACE")
        ratios.append(
            number(in_place, "application_staleness") / number(fifo, "application_staleness")
        )
    assert 0.6 < ratios[1] < ratios[0] < 0.95


def test_the_verdict_says_whether_in_place_is_at_most_fifo() -> None:
    table = quick_table(SEVERAL_KEYS)
    assert SEVERAL_KEYS.verdict(table).held
    assert "IN-PLACE has never more than FIFO" in SEVERAL_KEYS.verdict(table).sentence
    swapped = {"UQ-FIFO": "UQ-INPLACE", "UQ-INPLACE": "UQ-FIFO"}
    changed = [{**row, "queue": swapped.get(str(row["queue"]), row["queue"])} for row in table]
    assert SEVERAL_KEYS.verdict(changed).held is False
    assert "IN-PLACE has sometimes more than FIFO" in SEVERAL_KEYS.verdict(changed).sentence
