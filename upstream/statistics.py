"""The statistics monitor: update rates per key, processing cost, and snapshots of the counters.

Only some schedulers need rates, and only when a key starts to wait. So an arrival does not update
an estimate; it only increments its key's version. When a rate is needed, the arrivals since the
last estimate are folded into the mean interval. Each fold counts as the number of its intervals,
and older intervals lose weight by `forgetting` with every new interval. So frequent and rare keys
forget the same number of intervals, not the same length of time.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeGuard, TypeVar, cast

import numpy as np

from .errors import CostError, ParameterError, RateError
from .keys import KeyCell
from .updates import Key

DEFAULT_FORGETTING = 0.05
"""The weight of the newest interval; about the last 20 intervals count."""

AnyKey = TypeVar("AnyKey", bound=Hashable)
PerKey = Mapping[AnyKey, float] | Callable[[AnyKey], float]
"""One number per key, as a mapping or a function of the key."""
Rates = PerKey[Key]
GivenCost = float | Callable[[], float | None]
"""The seconds for one update, or a function that returns them (None while unknown)."""


class UpdateRates(Protocol):
    """The update rates of keys, in updates per second."""

    def given(self, key: Key) -> float | None:
        """Return the rate given for a new key, or None; an invalid rate raises RateError."""
        ...

    def begin(self, cell: KeyCell, given: float | None) -> None:
        """Note the first arrival of a key; `given` is what the method `given` returned for it."""
        ...

    def begin_again(self, cell: KeyCell) -> None:
        """Treat the present arrival as the first arrival of the key."""
        ...

    def observe(self, cell: KeyCell) -> float | None:
        """Return the expected rate of a key that starts to wait, or None if it is unknown."""
        ...

    def rate(self, cell: KeyCell) -> float | None:
        """Return the rate of the arrivals so far, or None if it is unknown."""
        ...


class EstimatedRates:
    """Update rates estimated from the arrivals that the key cells count.

    `forgetting` is the weight of the newest interval, more than 0 and at most 1.
    """

    __slots__ = ("_forgetting", "_intervals", "_seen_arrival", "_seen_version")

    def __init__(self, forgetting: float = DEFAULT_FORGETTING) -> None:
        check_forgetting(forgetting)
        self._forgetting = forgetting
        self._intervals = array("d")
        self._seen_version = array("q")
        self._seen_arrival = array("d")

    def given(self, key: Key) -> float | None:
        """Return None, because no rate is given."""
        return None

    def begin(self, cell: KeyCell, given: float | None = None) -> None:
        """Note the first arrival of a key; `cell.arrival` is its time."""
        index = cell.index
        if index >= len(self._intervals):
            zeros = bytes(8 * (index + 1 + index // 8 - len(self._intervals)))
            self._intervals.frombytes(zeros)
            self._seen_version.frombytes(zeros)
            self._seen_arrival.frombytes(zeros)
        self._intervals[index] = 0.0
        self._seen_version[index] = 1
        self._seen_arrival[index] = cell.arrival

    def begin_again(self, cell: KeyCell) -> None:
        """Count from the present arrival; `cell.arrival` is its time."""
        self.begin(cell)

    def observe(self, cell: KeyCell) -> float | None:
        """Fold the arrivals since the last call into the estimate, and return the expected rate.

        The reciprocal of the mean of n memoryless intervals is too high on average, by the factor
        n / (n - 1). A key that arrived twice by chance would count as busy for ever. So the first
        interval alone gives no rate, and later estimates are corrected by this factor.
        """
        mean = self._mean_interval(cell)
        index = cell.index
        if mean != self._intervals[index] or cell.arrival > self._seen_arrival[index]:
            self._intervals[index] = mean
            self._seen_version[index] = cell.version
            self._seen_arrival[index] = cell.arrival
        return expected_rate(mean, self._seen_version[index], self._forgetting)

    def rate(self, cell: KeyCell) -> float | None:
        """Return the reciprocal of the mean interval; None before the second arrival.

        Several arrivals at one instant look like a single one until time has passed.
        """
        mean = self._mean_interval(cell)
        return 1 / mean if mean > 0 else None

    def _mean_interval(self, cell: KeyCell) -> float:
        index = cell.index
        mean = self._intervals[index]
        intervals = cell.version - self._seen_version[index]
        elapsed = cell.arrival - self._seen_arrival[index]
        if intervals <= 0 or elapsed <= 0:
            return mean
        return folded_interval(mean, intervals, elapsed, cell.version, self._forgetting)


def folded_interval(
    mean: float, intervals: int, elapsed: float, version: int, forgetting: float
) -> float:
    """Return the mean interval of a key after `intervals` further ones.

    These took `elapsed` seconds together, and the last of them ended with `version`.
    """
    fading = 1 - (1 - forgetting) ** intervals
    share = max(intervals / (version - 1), fading)
    return mean + share * (elapsed / intervals - mean)


def expected_rate(mean: float, version: int, forgetting: float) -> float | None:
    """Return the rate to expect if the mean interval up to `version` is `mean`; None if unknown.

    The reciprocal of a mean of few intervals is too high on average (`EstimatedRates.observe`).
    """
    intervals = min(version - 1, max(2.0, 1 / forgetting))
    return (1 - 1 / intervals) / mean if mean > 0 and intervals > 1 else None


class GivenRates:
    """Known update rates, for example those of a simulation.

    `given` is a mapping or a function of the key. A function is called once for each new key. A key
    that is missing from a mapping has no known rate.
    """

    __slots__ = ("_given", "_rates")

    def __init__(self, given: Rates) -> None:
        if isinstance(given, Mapping):
            for key, rate in given.items():
                _check_rate(key, rate)
        elif not callable(given):
            raise ParameterError("rates", given, "a mapping or a function of the key")
        self._given = given
        self._rates = array("d")

    def given(self, key: Key) -> float | None:
        """Look up the rate of a new key; an invalid rate raises RateError."""
        given = self._given
        if isinstance(given, Mapping):
            return given.get(key)
        return _check_rate(key, given(key))

    def begin(self, cell: KeyCell, given: float | None) -> None:
        """Note the rate of a new key."""
        missing = cell.index + 1 - len(self._rates)
        if missing > 0:
            self._rates.extend([math.nan] * missing)
        self._rates[cell.index] = math.nan if given is None else given

    def begin_again(self, cell: KeyCell) -> None:
        """Do nothing: a given rate does not depend on when counting began."""

    def observe(self, cell: KeyCell) -> float | None:
        """Return `rate`."""
        return self.rate(cell)

    def rate(self, cell: KeyCell) -> float | None:
        """Return the rate given for the key, or None."""
        rate = self._rates[cell.index]
        return None if math.isnan(rate) else rate


def _check_rate(key: Key, rate: object) -> float:
    if not is_quantity(rate):
        raise RateError(f"the update rate of {key!r}", rate, "a finite number, 0 or more")
    return float(rate)


def rates_from(given: PerKey[AnyKey] | None, forgetting: float) -> UpdateRates:
    """Return the given rates, or estimates with this weight of the newest interval."""
    return EstimatedRates(forgetting) if given is None else GivenRates(cast(Rates, given))


class ProcessingCost:
    """The seconds that the consumer needs for one update.

    `cost` is the number of seconds, or a function that returns it. With None the cost is measured,
    and `forgetting` is the weight of the newest measurement.

    The cost of an update is the time from its dequeue to its delivery. If several updates are in
    process, it is the time since the previous delivery, if that was later than the dequeue. So with
    two workers the result is the cost of one update to both together. Updates that are delivered
    together count as one group, whose time is divided by the number of updates.
    """

    __slots__ = (
        "_cost",
        "_forgetting",
        "_group",
        "_group_seconds",
        "_is_given",
        "_last_delivery",
        "_samples",
        "_tell",
        "_told",
    )

    def __init__(self, cost: GivenCost | None, forgetting: float = DEFAULT_FORGETTING) -> None:
        self._tell = cost if callable(cost) else None
        self._told: float | None = None
        if not (cost is None or callable(cost)):
            check_cost("processing_cost", cost)
        check_forgetting(forgetting)
        self._is_given = cost is not None
        self._forgetting = forgetting
        self._cost = 0.0 if cost is None or callable(cost) else float(cost)
        self._samples = 0
        self._group = 0
        self._group_seconds = 0.0
        self._last_delivery = -math.inf

    def delivered(self, dequeued_at: float, now: float) -> None:
        """Note that an update, dequeued at `dequeued_at`, was delivered at `now`."""
        if self._is_given:
            return
        last = self._last_delivery
        seconds = now - (last if last > dequeued_at else dequeued_at)
        self._last_delivery = now
        group = self._group
        if seconds * group * TOGETHER <= self._group_seconds and now - last <= seconds:
            self._group = group + 1
            self._group_seconds += seconds
            return
        if group == 1:  # the usual case; this is `_mean`, written out
            samples = self._samples = self._samples + 1
            share = self._forgetting
            if samples * share < 1:
                share = 1 / samples
            self._cost += share * (self._group_seconds - self._cost)
        else:
            self._cost = self._mean()
            self._samples += group
            self._group = 1
        self._group_seconds = seconds

    def took(self, seconds: float) -> None:
        """Note a measurement made elsewhere: the consumer needed `seconds` for one update."""
        if self._is_given:
            return
        samples = self._samples = self._samples + 1
        seconds = max(seconds, 0.0)  # the clock may have stepped back
        self._cost += max(self._forgetting, 1 / samples) * (seconds - self._cost)

    def seconds(self) -> float | None:
        """Return the cost of one update, or None while it is unknown or zero.

        If a function gives the cost, it is called; an invalid result raises CostError.
        """
        if not self._is_given:
            cost = self._mean()
        elif self._tell is None:
            cost = self._cost
        else:
            told = self._tell()
            if told is None:
                return None
            check_cost("the result of processing_cost", told)
            cost = float(told)
        return cost if cost > 0 else None

    @property
    def is_told(self) -> bool:
        """Whether a function gives the cost; it may fail."""
        return self._tell is not None

    def ask(self) -> None:
        """If a function gives the cost, call it and keep the result for `known`."""
        if self._tell is not None:
            self._told = self.seconds()

    def known(self) -> float | None:
        """Return the cost like `seconds`, but use the last result of a function."""
        return self.seconds() if self._tell is None else self._told

    def _mean(self) -> float:
        """Return the cost including the present group."""
        group = self._group
        if group == 0:
            return self._cost
        share = max(group / (self._samples + group), 1 - (1 - self._forgetting) ** group)
        return self._cost + share * (self._group_seconds / group - self._cost)


TOGETHER = 100
"""A delivery joins the group if its own time is this many times shorter than the group's mean."""


def is_quantity(value: object) -> TypeGuard[float]:
    """Tell whether `value` is a finite number, 0 or more."""
    if not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return bool(0 <= value < math.inf)


def check_count(name: str, count: object, *, least: int, or_none: bool = False) -> None:
    """Raise ParameterError unless `count` is a whole number from `least`, or an allowed None."""
    if count is None and or_none:
        return
    is_whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
    if not (is_whole and is_quantity(count) and count >= least):
        expected = f"a whole number, {least} or more" + (", or None" if or_none else "")
        raise ParameterError(name, count, expected)


def check_cost(name: str, cost: object) -> None:
    """Raise CostError unless `cost` is a finite number, 0 or more."""
    if not is_quantity(cost):
        raise CostError(name, cost, "a finite number of seconds, 0 or more")


def check_forgetting(forgetting: object) -> None:
    """Raise ParameterError unless `forgetting` is more than 0 and at most 1."""
    if not (is_quantity(forgetting) and 0 < forgetting <= 1):
        raise ParameterError("forgetting", forgetting, "more than 0 and at most 1")


@dataclass(frozen=True, slots=True)
class QueueStatistics:
    """The exact counters of a queue at one moment.

    `arrived + returned` always equals `dequeued + superseded + late + expired + shed + rejected +
    waiting`. Each event is counted where it happens. Only `waiting`, `in_process` and `keys` can
    fall.
    """

    arrived: int
    """Updates that reached the queue, including the values of a snapshot."""
    returned: int
    """Updates that were given back."""
    dequeued: int
    superseded: int
    """Waiting values that were replaced, and values given back after a newer one was accepted."""
    late: int
    """Updates that were older than the newest known for their key."""
    expired: int
    """Updates that waited longer than `time_to_live`, or whose key was forgotten."""
    shed: int
    """Updates that a full append queue dropped at random."""
    rejected: int
    """Updates for which the queue or the page pool had no room."""
    waiting: int
    delivered: int
    """Updates that were delivered or taken as delivered."""
    taken_as_delivered: int
    """Updates taken as delivered because more were in process than the queue may remember."""
    in_process: int
    """Updates that were dequeued and are neither delivered nor given back."""
    keys: int
    """Keys that have arrived and are not forgotten."""
    forgotten: int
    """How many times a key was forgotten."""
    switches: int
    """How many times an adaptive queue started or stopped conflating."""

    @property
    def is_balanced(self) -> bool:
        """Whether every update is accounted for."""
        return self.arrived + self.returned == (
            self.dequeued
            + self.superseded
            + self.late
            + self.expired
            + self.shed
            + self.rejected
            + self.waiting
        )


@dataclass(frozen=True, slots=True)
class StreamStatistics:
    """The exact counters of a stream at one moment."""

    arrived: int
    """Updates enqueued."""
    late: int
    """Updates that were older than the newest accepted for their key."""
    rejected: int
    """Updates for which the page pool had no room."""
    keys: int
    """Known keys."""
    queues: int
    """Attached queues."""
    clock_steps_back: int = 0
    """Clock readings that were earlier than a previous one; time stood still meanwhile."""
