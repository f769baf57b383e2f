"""The statistics monitor: update rate per key, processing cost, and the counters' snapshot.

Rates are needed only where a scheduler asks for them, when a key starts to wait. So nothing is
estimated on the way in: an update merely counts its key's versions, and the arrivals since the
last look are folded into the mean interval when somebody looks. Each fold weighs as much as the
intervals it holds, and the past fades by `forgetting` with every interval, so that fast and slow
keys forget at their own pace.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeGuard, TypeVar

import numpy as np

from .errors import CostError, ParameterError, RateError
from .keys import KeyCell
from .updates import Key

DEFAULT_FORGETTING = 0.05
"""The weight of the newest interval: about the last 20 count."""

AnyKey = TypeVar("AnyKey", bound=Hashable)
PerKey = Mapping[AnyKey, float] | Callable[[AnyKey], float]
"""A number for each key, as a mapping or a function."""
Rates = PerKey[Key]
GivenCost = float | Callable[[], float | None]
"""The seconds for one update, or a function that tells them at present, None while not known."""


class UpdateRates(Protocol):
    """Tells the update rate of a key, in updates per second."""

    def given(self, key: Key) -> float | None:
        """Return the rate given for a new key, None if none was; RateError if it is no rate."""
        ...

    def begin(self, cell: KeyCell, given: float | None) -> None:
        """Note the first arrival of a key, for which `given` returned `given`."""
        ...

    def begin_again(self, cell: KeyCell) -> None:
        """Note that what counts as the first arrival of a key is the one that comes now."""
        ...

    def observe(self, cell: KeyCell) -> float | None:
        """Return the rate to expect of a key that starts to wait, None if it cannot be told."""
        ...

    def rate(self, cell: KeyCell) -> float | None:
        """Return the rate that the arrivals so far suggest, or None if they cannot tell."""
        ...


class EstimatedRates:
    """Estimates of update rates from the arrivals that the key cells count."""

    __slots__ = ("_forgetting", "_intervals", "_seen_arrival", "_seen_version")

    def __init__(self, forgetting: float = DEFAULT_FORGETTING) -> None:
        check_forgetting(forgetting)
        self._forgetting = forgetting
        self._intervals = array("d")
        self._seen_version = array("q")
        self._seen_arrival = array("d")

    def given(self, key: Key) -> float | None:
        """Return None: nothing was given."""
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
        """Count from the arrival that comes now; `cell.arrival` is its time."""
        self.begin(cell)

    def observe(self, cell: KeyCell) -> float | None:
        """Fold the arrivals since the last look into the estimate, and return what to expect.

        One over a mean of few intervals is too high on average, by n / (n - 1) for n memoryless
        ones, and keys seen twice by chance would count as busy for ever. So the first interval
        tells nothing yet, and later ones are corrected.
        """
        mean = self._mean_interval(cell)
        index = cell.index
        if mean != self._intervals[index] or cell.arrival > self._seen_arrival[index]:
            self._intervals[index] = mean
            self._seen_version[index] = cell.version
            self._seen_arrival[index] = cell.arrival
        return expected_rate(mean, self._seen_version[index], self._forgetting)

    def rate(self, cell: KeyCell) -> float | None:
        """Return one over the mean interval between arrivals, None before the second one.

        Arrivals at one instant cannot be told from a single one until time has passed.
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
    """Return the mean interval of a key after `intervals` more, the last one ending in `version`.

    They took `elapsed` seconds together.
    """
    fading = 1 - (1 - forgetting) ** intervals
    share = max(intervals / (version - 1), fading)
    return mean + share * (elapsed / intervals - mean)


def expected_rate(mean: float, version: int, forgetting: float) -> float | None:
    """Return the rate to expect where the mean interval up to `version` is `mean`, None if unknown.

    One over a mean of few intervals is too high on average (`EstimatedRates.observe`).
    """
    intervals = min(version - 1, max(2.0, 1 / forgetting))
    return (1 - 1 / intervals) / mean if mean > 0 and intervals > 1 else None


class GivenRates:
    """Update rates that somebody knows: the simulator, or a test. A function is asked of new keys.

    A key that a mapping leaves out has no known rate.
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
        """Look up the rate of a new key; RateError if the function of keys gives no rate."""
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
        """Do nothing: the rate is the given one, whenever it counts from."""

    def observe(self, cell: KeyCell) -> float | None:
        """Return `rate`."""
        return self.rate(cell)

    def rate(self, cell: KeyCell) -> float | None:
        """Return the rate given for the key, None if none was."""
        rate = self._rates[cell.index]
        return None if math.isnan(rate) else rate


def _check_rate(key: Key, rate: object) -> float:
    if not is_quantity(rate):
        raise RateError(f"the update rate of {key!r}", rate, "a finite number, zero or more")
    return float(rate)


class ProcessingCost:
    """The seconds that the consumer needs for one update: given, told by a function, or measured.

    Measured is the time from a dequeue to its delivery; where several updates are in process, from
    the delivery before, if that was later. So two workers at once give what one update costs both
    together. Updates that are delivered together count as one group, whose time is divided by their
    number, so that a batch gives what one update costs and not what the batch did.
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
        if group == 1:  # mostly; `_mean`, written out
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
        """Note that one update, or window, took the consumer so long, as somebody measured."""
        if self._is_given:
            return
        samples = self._samples = self._samples + 1
        seconds = max(seconds, 0.0)  # by a clock that may have stepped back
        self._cost += max(self._forgetting, 1 / samples) * (seconds - self._cost)

    def seconds(self) -> float | None:
        """Return the cost of one update, None while it is not known or zero.

        CostError if a function tells what is no cost.
        """
        if not self._is_given:
            cost = self._mean()
        elif self._tell is None:
            cost = self._cost
        else:
            told = self._tell()
            if told is None:
                return None
            check_cost("what processing_cost tells", told)
            cost = float(told)
        return cost if cost > 0 else None

    @property
    def is_told(self) -> bool:
        """Whether a function tells the cost, which may fail."""
        return self._tell is not None

    def ask(self) -> None:
        """Ask the function that tells the cost, if there is one, for `known` to tell."""
        if self._tell is not None:
            self._told = self.seconds()

    def known(self) -> float | None:
        """Return the cost as `seconds` does, but what a function told when it was asked last."""
        return self.seconds() if self._tell is None else self._told

    def _mean(self) -> float:
        """Return the cost with the present group folded in."""
        group = self._group
        if group == 0:
            return self._cost
        share = max(group / (self._samples + group), 1 - (1 - self._forgetting) ** group)
        return self._cost + share * (self._group_seconds / group - self._cost)


TOGETHER = 100
"""Deliveries this many times closer than a group's updates took each belong to the group."""


def is_quantity(value: object) -> TypeGuard[float]:
    """Tell whether `value` is a finite number, zero or more."""
    if not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return bool(0 <= value < math.inf)


def check_count(name: str, count: object, *, least: int, or_none: bool = False) -> None:
    """Raise ParameterError unless `count` is a whole number from `least` on, or None if allowed."""
    if count is None and or_none:
        return
    is_whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
    if not (is_whole and is_quantity(count) and count >= least):
        expected = f"a whole number from {least} on" + (", or None" if or_none else "")
        raise ParameterError(name, count, expected)


def check_cost(name: str, cost: object) -> None:
    """Raise CostError unless `cost` is a finite number, zero or more."""
    if not is_quantity(cost):
        raise CostError(name, cost, "a finite number of seconds, zero or more")


def check_forgetting(forgetting: object) -> None:
    """Raise ParameterError unless `forgetting` is a share."""
    if not (is_quantity(forgetting) and 0 < forgetting <= 1):
        raise ParameterError("forgetting", forgetting, "more than 0 and at most 1")


@dataclass(frozen=True, slots=True)
class QueueStatistics:
    """The exact counters of a queue at one moment.

    At every moment `arrived + returned` equals `dequeued + superseded + late + expired + shed +
    rejected + waiting`. Each is counted where it happens, and none ever falls but `waiting` and
    `in_process`.
    """

    arrived: int
    """Updates that reached the queue, keys taken over from a snapshot among them."""
    returned: int
    """Updates given back."""
    dequeued: int
    superseded: int
    """Values that waited and were replaced, or were given back when a newer one was known."""
    late: int
    """Updates older than the newest known for their key."""
    expired: int
    """Updates that waited longer than `time_to_live`, or whose key was forgotten meanwhile."""
    shed: int
    """Updates that a full append queue dropped at random."""
    rejected: int
    """Updates that found the queue or the page pool full."""
    waiting: int
    delivered: int
    """Updates delivered, taken as delivered among them."""
    taken_as_delivered: int
    """Updates taken as delivered because more were in process than the queue remembers."""
    in_process: int
    """Updates dequeued and neither delivered nor given back."""
    keys: int
    """Keys that have arrived and were not forgotten."""
    forgotten: int
    """Keys forgotten since, each time counted."""
    switches: int
    """How often an adaptive queue changed its way of queueing."""

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
    """Updates older than the newest accepted for their key."""
    rejected: int
    """Updates for which the page pool had no room."""
    keys: int
    """Keys that are known."""
    queues: int
    """Queues that are attached."""
    clock_steps_back: int = 0
    """Readings of the clock that were earlier than one before them; time stood still meanwhile."""
