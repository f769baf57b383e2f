"""The road of the Linear Road benchmark, and the parameters of a run.

Linear City has expressways of 100 segments of a mile in each of two directions. Every car reports
its position every 30 seconds. All positions here are multiples of 44 feet, which is how far a car
gets in 30 seconds at one mile an hour: so the speed of a report, which is a whole number, is
exactly the mean speed since the report before it, and two cars can stop at the very same place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from ..errors import BadOptionError

FEET_PER_SEGMENT: Final = 5280
SEGMENTS: Final = 100
REPORT_SECONDS: Final = 30
FEET_PER_REPORT: Final = 44
"""How far a car gets between two reports for each mile an hour."""
TOP_SPEED: Final = 100
ENTRY_LANE: Final = 0
TRAVEL_LANES: Final = (1, 2, 3)
EXIT_LANE: Final = 4
START_SHARE: Final = 0.01
"""The rate of reports at the start, of what it is at the end: 17 of 1,700 in the benchmark."""
MAX_CARS: Final = 1_000_000
"""On one direction of an expressway at once: ten thousand to the mile are no traffic any more."""


@dataclass(frozen=True, slots=True)
class Run:
    """The parameters of a run. Equal runs have equal traffic, however the work is divided."""

    expressways: int
    minutes: float
    rate: float
    """Position reports a second on each expressway at the end; it grows evenly towards it."""
    accidents: float
    """Per hour and expressway."""
    requests: float
    """The share of position reports that come with a request."""
    has_travel_times: bool
    seed: int

    def __post_init__(self) -> None:
        _check("--minutes", self.minutes, 1, 24 * 60)
        _check("--rate", self.rate, 1, 2 * MAX_CARS / REPORT_SECONDS)
        _check("--accidents", self.accidents, 0, 1000)
        _check("--requests", self.requests, 0, 1)

    @property
    def directions(self) -> int:
        """How many directions there are on all expressways, each simulated on its own."""
        return 2 * self.expressways

    @property
    def beats(self) -> int:
        """How many times each car that stays reports."""
        return max(1, round(self.minutes * 60 / REPORT_SECONDS))

    @property
    def seconds(self) -> int:
        """How long the run is, in whole intervals between reports."""
        return self.beats * REPORT_SECONDS

    def cars_at(self, beat: int) -> int:
        """Return how many cars are in each direction at a beat, as far as they find room."""
        grown = START_SHARE + (1 - START_SHARE) * (beat + 0.5) / self.beats
        return max(1, round(self.rate / 2 * REPORT_SECONDS * grown))

    @property
    def reports(self) -> int:
        """About how many position reports there will be."""
        return self.directions * sum(map(self.cars_at, range(self.beats)))


def _check(option: str, value: float, least: float, most: float) -> None:
    if not (math.isfinite(value) and least <= value <= most):
        raise BadOptionError(option, f"{value:g}", f"a number from {least:g} to {most:g}")
