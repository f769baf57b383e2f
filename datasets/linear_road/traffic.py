"""The cars of one direction of one expressway, and how they drive, a beat of 30 seconds at a time.

Speeds follow what the benchmark's tolls look for: a car drives as fast as it likes where there are
up to 50 cars in the segment, and the slower the more there are; behind an accident cars crawl, so
that they pile up. Where cars enter is even over the road; where they leave is around its middle,
so that the middle is crowded first. As many enter as the run wants there to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .accidents import Accidents
from .road import (
    ENTRY_LANE,
    EXIT_LANE,
    FEET_PER_REPORT,
    FEET_PER_SEGMENT,
    SEGMENTS,
    TOP_SPEED,
    TRAVEL_LANES,
    Run,
)

Cars = NDArray[np.void]
"""One row a car, of the type `CAR`."""
Floats = NDArray[np.float64]

CAR: Final = np.dtype(
    [
        ("number", np.int64),
        ("second", np.int32),  # of its beat, in which it reports
        ("position", np.int32),  # in feet
        ("speed", np.int32),  # since the report before, in miles an hour
        ("lane", np.int32),
        ("exit", np.int32),  # the segment where it leaves
        ("free_speed", np.int32),  # what it drives on an empty road
        ("stands_until", np.int32),  # the last beat at which it stands still; -1: it drives
    ]
)

FREE_CARS: Final = 50
"""Cars in a segment that do not hinder one another; the benchmark's tolls begin here, too."""
CROWDING_CARS: Final = 150
"""How many more cars in a segment halve the speed."""
SLOWEST: Final = 5
"""The least speed of a car that drives: only cars in accidents stand still."""
_SPREAD: Final = 3.0
_LANE_CHANGES: Final = 0.1
_FREE_SPEED: Final = (60.0, 12.0)
_ENTRY_SPEEDS: Final = (10, 41)
_EXIT_SEGMENT: Final = (50.0, 20.0)
_SHORTEST_TRIP: Final = 2


class Direction:
    """The traffic in one direction; `unit` counts directions, of which each expressway has two."""

    __slots__ = ("_accidents", "_cars", "_numbered", "_random", "_run", "_sign", "unit")

    def __init__(self, run: Run, unit: int) -> None:
        self.unit = unit
        self._run = run
        self._random = np.random.default_rng([run.seed, unit])
        self._sign = 1 if unit % 2 == 0 else -1
        self._accidents = Accidents(run, self._sign)
        self._cars: Cars = np.empty(0, dtype=CAR)
        self._numbered = 0

    @property
    def random(self) -> np.random.Generator:
        """Where all of this direction is drawn from."""
        return self._random

    def beats(self) -> Iterator[tuple[int, Cars]]:
        """Yield each beat with the cars that report in it, as they are when they do."""
        for beat in range(self._run.beats):
            before = self._cars["position"].copy()
            self._drive(beat)
            self._accidents.happen(beat, self._cars, before, self._random)
            is_leaving = self._cars["lane"] == EXIT_LANE
            entering = self._enter(max(0, self._run.cars_at(beat) - len(self._cars)))
            yield beat, np.concatenate((self._cars, entering))
            self._cars = np.concatenate((self._cars[~is_leaving], entering))

    def _drive(self, beat: int) -> None:
        """Move all cars on by 30 seconds."""
        cars, random = self._cars, self._random
        wanted = cars["free_speed"] * self._ease(beat)[cars["position"] // FEET_PER_SEGMENT]
        drawn = np.rint(wanted + random.normal(0.0, _SPREAD, len(cars)))
        is_driving = cars["stands_until"] < beat
        cars["speed"] = np.where(is_driving, np.clip(drawn, SLOWEST, TOP_SPEED), 0)
        cars["position"] += self._sign * FEET_PER_REPORT * cars["speed"]
        is_changing = random.random(len(cars)) < _LANE_CHANGES
        is_changing |= cars["lane"] == ENTRY_LANE
        lanes = random.choice(TRAVEL_LANES, len(cars))
        cars["lane"] = np.where(is_driving & is_changing, lanes, cars["lane"])
        cars["lane"][cars["position"] // FEET_PER_SEGMENT == cars["exit"]] = EXIT_LANE

    def _ease(self, beat: int) -> Floats:
        """Return for each segment which part of the speed it likes a car can drive."""
        counts = np.bincount(self._cars["position"] // FEET_PER_SEGMENT, minlength=SEGMENTS)
        crowding = np.maximum(0, counts - FREE_CARS) / CROWDING_CARS
        ahead = np.roll(crowding, -self._sign)
        ahead[-1 if self._sign > 0 else 0] = 0  # the road ends there
        ease: Floats = self._accidents.hindrance(beat) / (1 + np.maximum(crowding, ahead))
        return ease

    def _enter(self, count: int) -> Cars:
        """Return cars that enter, on the entry lane."""
        random = self._random
        cars = np.zeros(count, dtype=CAR)
        cars["number"] = self._numbered + np.arange(count)
        self._numbered += count
        cars["second"] = random.integers(0, 30, count)
        entry, cars["exit"] = self._trips(count)
        offset = random.integers(0, FEET_PER_SEGMENT // FEET_PER_REPORT, count)
        cars["position"] = entry * FEET_PER_SEGMENT + offset * FEET_PER_REPORT
        cars["speed"] = random.integers(*_ENTRY_SPEEDS, count)
        cars["lane"] = ENTRY_LANE
        cars["free_speed"] = np.clip(random.normal(*_FREE_SPEED, count), 40, TOP_SPEED)
        cars["stands_until"] = -1
        return cars

    def _trips(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the segments where cars enter and leave."""
        one = self._random.integers(0, SEGMENTS, count)
        drawn = np.rint(self._random.normal(*_EXIT_SEGMENT, count)).astype(np.int64)
        other = np.clip(drawn, 0, SEGMENTS - 1)
        low = np.minimum(np.minimum(one, other), SEGMENTS - 1 - _SHORTEST_TRIP)
        high = np.maximum(np.maximum(one, other), low + _SHORTEST_TRIP)
        return (low, high) if self._sign > 0 else (high, low)
