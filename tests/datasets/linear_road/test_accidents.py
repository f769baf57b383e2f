"""Accidents: two cars at one place, still for at least four reports, and slow traffic behind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from datasets.linear_road.accidents import HINDERED_SEGMENTS, HINDRANCE, Accident, Accidents
from datasets.linear_road.road import Run
from datasets.linear_road.tuples import POSITION_REPORT, Columns

from .driven import CROWDED, drive, of_type

Place = tuple[int, int, int, int]


@pytest.fixture(scope="module")
def reports() -> Columns:
    return of_type(drive(CROWDED), POSITION_REPORT)


def standing(reports: Columns) -> dict[int, list[int]]:
    """Return for each car that ever stands the rows of its reports at speed 0."""
    found: dict[int, list[int]] = {}
    for row in np.flatnonzero(reports["speed"] == 0).tolist():
        found.setdefault(int(reports["key"][row]), []).append(row)
    return found


def place_of(reports: Columns, row: int) -> Place:
    names = ("expressway", "direction", "lane", "position")
    one, two, three, four = (int(reports[name][row]) for name in names)
    return one, two, three, four


def test_only_pairs_of_cars_stand_at_one_place_for_four_reports_or_more(reports: Columns) -> None:
    pairs: dict[Place, list[tuple[int, int]]] = {}
    for rows in standing(reports).values():
        places = {place_of(reports, row) for row in rows}
        assert len(places) == 1
        assert len(rows) >= 4
        assert rows == list(range(rows[0], rows[0] + len(rows)))  # one report after the other
        beats = int(reports["time"][rows[0]]) // 30, int(reports["time"][rows[-1]]) // 30
        pairs.setdefault(places.pop(), []).append(beats)
    # 100 an hour on the expressway, in a quarter of an hour less two minutes that are too late.
    assert 10 <= len(pairs) <= 36
    assert all(len(cars) == 2 and cars[0] == cars[1] for cars in pairs.values())


def test_accidents_are_cleared_after_10_to_20_minutes() -> None:
    run = replace(CROWDED, minutes=50, rate=100, accidents=120, requests=0)
    reports = of_type(drive(run), POSITION_REPORT)
    lengths, went_on = [], 0
    for rows in standing(reports).values():
        last = rows[-1]
        if reports["time"][last] < run.seconds - 30:
            lengths.append(len(rows))
            went_on += int(reports["key"][last + 1] == reports["key"][last])
    assert lengths
    assert 20 <= min(lengths) <= max(lengths) <= 40
    assert went_on == len(lengths)


@pytest.mark.parametrize("sign", [1, -1])
def test_cars_crawl_in_the_segments_behind_until_it_is_cleared(sign: int) -> None:
    accidents = Accidents(CROWDED, sign)
    accidents._standing.append(Accident(segment=50, until=3))
    slow = {50 - sign * behind for behind in range(HINDERED_SEGMENTS)}
    assert set(np.flatnonzero(accidents.hindrance(3) == HINDRANCE).tolist()) == slow
    assert (accidents.hindrance(4) == 1).all()


def test_without_accidents_no_car_stands_still() -> None:
    run = Run(1, 5, 300, 0, 0, has_travel_times=False, seed=3)
    assert (drive(run)["speed"] > 0).all()
