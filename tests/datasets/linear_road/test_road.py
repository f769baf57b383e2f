"""What a run is told, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from datasets.errors import BadOptionError
from datasets.linear_road.road import Run

BENCHMARK = Run(1, 180, 1700, 3, 0.01, has_travel_times=False, seed=1)


def test_three_hours_are_360_reports_of_a_car_that_stays() -> None:
    assert (BENCHMARK.beats, BENCHMARK.seconds, BENCHMARK.directions) == (360, 10_800, 2)


def test_the_rate_grows_evenly_from_a_hundredth_to_all_of_it() -> None:
    cars = [BENCHMARK.cars_at(beat) for beat in range(360)]
    assert cars[0] / cars[-1] == pytest.approx(0.01, abs=0.002)
    assert 2 * cars[-1] / 30 == pytest.approx(1700, rel=0.002)
    steps = {later - earlier for earlier, later in pairwise(cars)}
    assert max(steps) - min(steps) <= 1
    assert BENCHMARK.reports == pytest.approx(1700 * 10_800 * 1.01 / 2, rel=1e-3)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"minutes": 0.0}, "--minutes 0: expected a number from 1 to 1440"),
        ({"minutes": float("nan")}, "--minutes nan"),
        ({"rate": 0.5}, "--rate 0.5"),
        ({"rate": 1e9}, "--rate 1e+09"),
        ({"accidents": -1.0}, "--accidents -1"),
        ({"requests": 1.5}, "--requests 1.5: expected a number from 0 to 1"),
    ],
)
def test_an_invalid_option_is_named(change: dict[str, float], says: str) -> None:
    with pytest.raises(BadOptionError) as caught:
        replace(BENCHMARK, **change)  # type: ignore[arg-type]
    assert str(caught.value).startswith(says)
