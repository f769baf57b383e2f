"""What Figures 5a and 5b have in common."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Point, Row, Scale
from simulator.experiments.staleness_by_load import (
    LOADS,
    QUICK_LOADS,
    growth,
    points,
    run,
    staleness_row,
)

QUICK = Scale(is_quick=True)


def line(*values: float) -> list[Row]:
    return [{"load": load, "queue": value} for load, value in enumerate(values, start=1)]


def test_both_kinds_of_arrivals_are_measured_at_every_load() -> None:
    assert len(points(Scale())) == 2 * len(LOADS)
    assert len(points(QUICK)) == 2 * len(QUICK_LOADS)
    assert set(QUICK_LOADS) <= set(LOADS)


def test_growth_is_fitted_from_load_2_on() -> None:
    fit = growth(line(100.0, 3.0, 5.0, 7.0), "queue")
    assert fit.slope == pytest.approx(2.0)
    assert fit.r_squared == pytest.approx(1.0)


def test_what_is_not_straight_has_less_of_its_variance_explained() -> None:
    fit = growth(line(0.0, 0.0, 4.0, 0.0), "queue")
    assert fit.slope == pytest.approx(0.0)
    assert fit.r_squared == pytest.approx(0.0)


def test_what_does_not_grow_has_no_variance_to_explain() -> None:
    assert growth(line(3.0, 3.0, 3.0), "queue").r_squared == 0.0


def test_a_row_has_both_kinds_of_staleness_and_their_difference() -> None:
    point: Point = {"arrivals": "ticks", "load": 3.0}
    row = staleness_row(1, point, run(1, point, QUICK))
    assert list(row) == ["keys", "arrivals", "load", "queue", "application", "difference"]
    assert row["queue"] == pytest.approx(2.0 / 3.0, rel=1e-3)  # 0 to 2, then dequeued, every 3
    assert row["application"] == pytest.approx(3.5, rel=1e-3)  # 2 to 5, every 3
    assert row["difference"] == pytest.approx(3.5 - 2.0 / 3.0, rel=1e-3)


def test_one_key_and_ten_see_the_same_arrival_times() -> None:
    point: Point = {"arrivals": "memoryless", "load": 5.0}
    assert run(1, point, QUICK).elapsed == run(10, point, QUICK).elapsed
