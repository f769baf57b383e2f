"""STALENESS INDEX through random lives: no key is passed over that had clearly more to win.

The scheduler compares the heads of classes, with the rate and the priority in the middle of each
class. Here the index is worked out for every waiting key.
"""

from __future__ import annotations

import math
from typing import ClassVar

from upstream.schedulers import Scheduler, StalenessIndexScheduler
from upstream.statistics import Rates

from .contract import KEYS, SHORT_RUNS, InPlaceModel, Model, SchedulerMachine
from .exact_index import Parameters, bounds

# With equal rates the policy is IN-PLACE.


class EqualRatesMachine(SchedulerMachine):
    """Keys of one rate, which is given, are served in place and nothing else."""

    policy = StalenessIndexScheduler
    model = InPlaceModel


class OneKnownRateMachine(EqualRatesMachine):
    rates: ClassVar[Rates | None] = dict.fromkeys(KEYS, 0.75)


class UnknownRatesMachine(EqualRatesMachine):
    rates: ClassVar[Rates | None] = {}
    cost = None


class LongestWaitModel(InPlaceModel):
    """Any of the keys that have waited longest may be next."""

    def check_next(self, key: str, now: float) -> None:
        served = self.find(key)
        assert served is not None
        assert served.since == self.order()[0].since


class NoPatienceMachine(EqualRatesMachine):
    """Where every key has waited too long the longest waiting is next, whatever its index."""

    model = LongestWaitModel
    rates: ClassVar[Rates | None] = {"A": 0.1, "B": 1.0, "C": 10.0}
    has_order = False

    def make(self) -> Scheduler:
        return StalenessIndexScheduler(longest_wait=0.0, weight={"D": 7.0}, cost={"E": 9.0})


# With rates, weights and costs that differ the largest index is served.

PARAMETERS = {
    "A": Parameters(0.3),
    "B": Parameters(0.31),
    "C": Parameters(7.0, weight=3.0),
    "D": Parameters(40.0, weight=30.0, cost=0.7),
    "E": Parameters(0.0, weight=0.0),
    "F": Parameters(None, cost=3.0),
}
COST = 0.5


class IndexModel(Model):
    """No key is passed over whose index is larger than its class allows."""

    longest_wait = math.inf

    def check_next(self, key: str, now: float) -> None:
        since = min(one.since for one in self.waiting)
        served = self.find(key)
        assert served is not None
        if now - since >= self.longest_wait:
            assert served.since == since
            return
        horizon = 4 * (now - since + COST)
        assert not any(
            one.since < served.since
            for one in self.waiting
            if PARAMETERS[one.key] == PARAMETERS[key]
        )
        highest = bounds(PARAMETERS[key], wait=now - served.since, horizon=horizon)[1]
        for one in self.waiting:
            wait = now - one.since
            lowest = bounds(PARAMETERS[one.key], wait=wait, horizon=horizon)[0]
            assert highest >= lowest, f"{key} was served before {one.key}"


class ImpatientIndexModel(IndexModel):
    longest_wait = 5.0


class IndexMachine(SchedulerMachine):
    """Keys of several rates, weights and costs, one without a weight and one without a rate."""

    model = IndexModel
    rates: ClassVar[Rates | None] = {
        key: one.rate for key, one in PARAMETERS.items() if one.rate is not None
    }
    cost = COST
    has_order = False

    def make(self) -> Scheduler:
        return StalenessIndexScheduler(
            weight={key: one.weight for key, one in PARAMETERS.items()},
            cost=lambda key: PARAMETERS[str(key)].cost,
        )


class ImpatientIndexMachine(IndexMachine):
    """The same with a bound on how long a key waits."""

    model = ImpatientIndexModel

    def make(self) -> Scheduler:
        return StalenessIndexScheduler(
            5.0,
            weight=lambda key: PARAMETERS[str(key)].weight,
            cost={key: one.cost for key, one in PARAMETERS.items()},
        )


TestEqualRates = OneKnownRateMachine.TestCase
TestUnknownRates = UnknownRatesMachine.TestCase
TestNoPatience = NoPatienceMachine.TestCase
TestIndex = IndexMachine.TestCase
TestImpatientIndex = ImpatientIndexMachine.TestCase
TestEqualRates.settings = SHORT_RUNS
TestUnknownRates.settings = SHORT_RUNS
TestNoPatience.settings = SHORT_RUNS
TestIndex.settings = SHORT_RUNS
TestImpatientIndex.settings = SHORT_RUNS
