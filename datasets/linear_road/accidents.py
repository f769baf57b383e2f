"""Accidents: two cars that stand at one place for at least four reports, until they are cleared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .road import (
    FEET_PER_REPORT,
    FEET_PER_SEGMENT,
    REPORT_SECONDS,
    SEGMENTS,
    TOP_SPEED,
    TRAVEL_LANES,
    Run,
)

FEWEST_REPORTS: Final = 4
"""By which the benchmark knows an accident: the same place in four consecutive reports."""
CLEARED_AFTER: Final = (20, 41)
"""How many reports the cars stand for: 10 to 20 minutes."""
HINDERED_SEGMENTS: Final = 5
"""The accident's own and those upstream of it, whose cars the benchmark warns."""
HINDRANCE: Final = 0.25
"""What is left of the speed there."""
_TRIES: Final = 20
"""How many cars are looked at for one that another car is close behind."""


@dataclass(frozen=True, slots=True)
class Accident:
    """Two cars that stand in a segment, up to and including a beat."""

    segment: int
    until: int


class Accidents:
    """The accidents of one direction, where `sign` says which way cars drive."""

    __slots__ = ("_per_beat", "_run", "_sign", "_standing")

    def __init__(self, run: Run, sign: int) -> None:
        self._run = run
        self._sign = sign
        self._per_beat = run.accidents / 2 / (3600 / REPORT_SECONDS)
        self._standing: list[Accident] = []

    def hindrance(self, beat: int) -> NDArray[np.float64]:
        """Return for each segment which part of the speed accidents leave."""
        left = np.ones(SEGMENTS)
        self._standing = [accident for accident in self._standing if accident.until >= beat]
        for accident in self._standing:
            for behind in range(HINDERED_SEGMENTS):
                segment = accident.segment - self._sign * behind
                if 0 <= segment < SEGMENTS:
                    left[segment] = HINDRANCE
        return left

    def happen(
        self,
        beat: int,
        cars: NDArray[np.void],
        before: NDArray[np.int32],
        random: np.random.Generator,
    ) -> None:
        """Let what happens in this beat happen to the cars, whose places `before` it are given.

        One that could not be seen any more, since the run ends too soon, does not happen.
        """
        for _ in range(random.poisson(self._per_beat)):
            stands_for = int(random.integers(*CLEARED_AFTER))
            if beat + FEWEST_REPORTS < self._run.beats:
                self._collide(beat + stands_for, cars, before, random)

    def _collide(
        self,
        until: int,
        cars: NDArray[np.void],
        before: NDArray[np.int32],
        random: np.random.Generator,
    ) -> None:
        """Stop a car where it is, and let the next one behind it that can get there stop, too."""
        is_on_road = np.isin(cars["lane"], TRAVEL_LANES) & (cars["stands_until"] < 0)
        candidates = np.flatnonzero(is_on_road)
        for first in random.permutation(candidates)[:_TRIES].tolist():
            place = int(cars["position"][first])
            way = self._sign * (place - before)
            can_hit = is_on_road & (way > 0) & (way <= TOP_SPEED * FEET_PER_REPORT)
            can_hit &= cars["exit"] != place // FEET_PER_SEGMENT
            can_hit[first] = False
            behind = np.flatnonzero(can_hit)
            if len(behind) == 0:
                continue
            second = int(behind[np.argmin(way[behind])])
            cars["speed"][second] = way[second] // FEET_PER_REPORT
            cars["position"][second] = place
            cars["lane"][second] = cars["lane"][first]
            cars["stands_until"][[first, second]] = until
            self._standing.append(Accident(place // FEET_PER_SEGMENT, until))
            return
