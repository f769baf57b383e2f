"""How cars drive: every report against the one before it, over a whole crowded run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from datasets.linear_road.road import EXIT_LANE, SEGMENTS
from datasets.linear_road.traffic import FREE_CARS
from datasets.linear_road.tuples import POSITION_REPORT, Columns

from .driven import CROWDED, drive, of_type


@pytest.fixture(scope="module")
def reports() -> Columns:
    return of_type(drive(CROWDED), POSITION_REPORT)


def pairs(reports: Columns, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a column of each report but the first of its car, and of the one before it."""
    is_next = reports["key"][1:] == reports["key"][:-1]
    return reports[name][1:][is_next], reports[name][:-1][is_next]


def is_first(reports: Columns) -> np.ndarray:
    return np.concatenate(([True], reports["key"][1:] != reports["key"][:-1]))


def test_every_car_reports_every_30_seconds_exactly(reports: Columns) -> None:
    later, earlier = pairs(reports, "time")
    assert len(later) > 100_000
    assert set((later - earlier).tolist()) == {30}


def test_a_car_that_has_not_left_reports_up_to_the_end(reports: Columns) -> None:
    is_last = np.concatenate((is_first(reports)[1:], [True]))
    is_out = reports["lane"][is_last] == EXIT_LANE
    last_times = reports["time"][is_last]
    assert (last_times[~is_out] >= CROWDED.seconds - 30).all()
    assert is_out.any()


def test_a_position_is_the_one_before_and_what_the_speed_makes_of_30_seconds(
    reports: Columns,
) -> None:
    position, before = pairs(reports, "position")
    speed, _ = pairs(reports, "speed")
    direction, direction_before = pairs(reports, "direction")
    assert (direction == direction_before).all()
    feet = speed * 5280 * 30 // 3600
    assert (position - before == np.where(direction == 0, feet, -feet)).all()


def test_positions_speeds_and_segments_are_on_the_road(reports: Columns) -> None:
    assert ((reports["position"] >= 0) & (reports["position"] < 528_000)).all()
    assert (reports["segment"] == reports["position"] // 5280).all()
    assert set(reports["segment"].tolist()) == set(range(SEGMENTS))
    assert ((reports["speed"] >= 0) & (reports["speed"] <= 100)).all()


def test_cars_enter_on_lane_0_travel_on_1_to_3_and_leave_on_4(reports: Columns) -> None:
    assert (reports["lane"][is_first(reports)] == 0).all()
    later, earlier = pairs(reports, "lane")
    assert set(later.tolist()) == {1, 2, 3, 4}
    assert (earlier != EXIT_LANE).all()


def test_as_many_cars_report_in_each_30_seconds_as_the_run_wants(reports: Columns) -> None:
    for direction in (0, 1):
        times = reports["time"][reports["direction"] == direction]
        counts = np.bincount(times // 30)
        assert counts.tolist() == [CROWDED.cars_at(beat) for beat in range(CROWDED.beats)]


def test_the_more_cars_in_a_segment_the_slower_they_are(reports: Columns) -> None:
    """The tolls of the benchmark need means below 40 miles an hour among more than 50 cars."""
    is_travelling = (reports["lane"] != 0) & (reports["speed"] > 0)
    place = (reports["time"] // 60 * 2 + reports["direction"]) * SEGMENTS + reports["segment"]
    cars = np.bincount(place) / 2  # each reports twice a minute
    speeds = np.bincount(place, weights=reports["speed"] * is_travelling)
    with np.errstate(invalid="ignore"):
        mean = speeds / np.bincount(place, weights=is_travelling)
    assert np.nanmean(mean[(cars > 0) & (cars < FREE_CARS / 2)]) > 50
    assert np.nanmean(mean[cars > 2 * FREE_CARS]) < 45
    assert ((cars > FREE_CARS) & (mean < 40)).sum() > 20


def test_traffic_is_the_same_for_a_seed_and_another_for_another(reports: Columns) -> None:
    short = replace(CROWDED, minutes=2)
    drive.cache_clear()
    first = drive(short)
    drive.cache_clear()
    again, other = drive(short), drive(replace(short, seed=8))
    assert all((first[name] == again[name]).all() for name in first)
    assert first["position"].tolist() != other["position"].tolist()
