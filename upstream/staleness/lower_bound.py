"""A lower bound on the staleness that any scheduler can reach, for memoryless arrivals.

**Relaxation.** Key k has Poisson arrivals of rate lambda, cost c and weight w. A cycle lasts from
one dequeue of the key to the next. In it, the next update arrives after X ~ Exp(lambda), whatever
happened before, and the scheduler lets it wait for a. The relaxed problem requires only that the
server is busy for at most all of the time, sum c_k / (1/lambda_k + a_k) <= 1. It ignores that the
server serves one key at a time. So its optimum is at most the staleness of a real scheduler. A
cycle adds to the staleness of its key

    queue        N(a) = a^2/2
    application  N(a) = (a + c)^2/2 - E[((c - X)+)^2]/2

where the last term counts in the previous cycle, until the earlier update is delivered. N is
convex, so no a that is random or depends on the past is better than its mean. The Lagrangian of
the mean over keys of w N(a) / (1/lambda + a), with multiplier W/n for the server's time, is least
where (w N(a) + W c) / (1/lambda + a) is least for each key. These are the points

    queue        w (a^2/2 + a/lambda)                                  = W c
    application  w (a^2/2 + a/lambda + (1 - e^(-lambda c))/lambda^2)   = W c,  or a = 0 if the left
                                                                         side exceeds W c already

and W is the value at which the server is just busy. The ratio falls until this a and rises after
it. So the stationary point is the minimum, and the result is a valid bound and not an estimate. The
bound also holds for schedulers that idle on purpose, and for costs that vary independently with
mean c. It does not hold for bursts, fixed intervals, or a scheduler that knows the future.

**Underload.** If sum lambda c <= 1, then W = 0 and a = 0. The queue bound is 0. The application
bound is the mean of w (c - (1 - e^(-lambda c))/lambda), because processing itself takes time.

**Numbers.** With x = lambda c, y = lambda a and D = 1 + y the conditions become D = sqrt(1 + d^2),
d^2 = W r^2 - b^2, r^2 = 2 x^2 / (c w), b^2 = 0 (queue) or 2 (1 - e^-x) (application). The code
computes only square roots of W, and no difference of nearly equal numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..errors import CostError, ParameterError, RateError, WeightError
from .per_key import Floats, Key, PerKey, one_per_key, same_for_all
from .phi import phi

# A cycle is never shorter than c, so beyond this load the rate changes no digit of the result.
_SATURATED_LOAD: Final = 1e30
# Smaller values count as 0. A key that is left out lowers the bound, so the bound stays valid.
_NEGLIGIBLE: Final = 1e-100
_LOAD_TOLERANCE: Final = 4e-15
_MOST_STEPS: Final = 300
_LONGEST_STEP: Final = 60.0


def staleness_lower_bound(
    rates: PerKey[Key],
    processing_cost: float | PerKey[Key],
    of: str = "queue",
    weights: PerKey[Key] | None = None,
) -> float:
    """Return a staleness that no scheduler can beat if the arrivals of each key are memoryless.

    `rates` are the updates per unit of time of each key, as a sequence or a mapping.
    `processing_cost` is the units of time that one update takes: a number for all keys, or one per
    key.
    `of` is "queue" or "application".
    `weights` are one number per key; the default is 1. The result bounds the mean over keys of
    weight times time-averaged staleness. It is not divided by the sum of the weights.

    If the rates are a mapping, costs and weights per key must be mappings with the same keys.
    A key with rate 0, cost 0 or weight 0 counts in the mean with staleness 0. A key with weight 0
    gets no time of the server. O(keys), usually in 3 to 15 passes.

    >>> staleness_lower_bound([5.0] * 10, 1.0)  # overloaded 50 times: a = 10 - 1/5
    4.802
    >>> staleness_lower_bound({"IBM": 0.2, "MSFT": 0.3}, 1.0)  # not overloaded
    0.0
    """
    if of not in ("queue", "application"):
        raise ParameterError("of", of, "'queue' or 'application'")
    rate = one_per_key("rates", rates, RateError, rates=rates)
    size = rate.size
    if size == 0:
        raise ParameterError("rates", "empty", "the rates of at least one key")
    cost = _costs(processing_cost, rates, size)
    weight = np.ones(size)
    if weights is not None:
        weight = one_per_key("weights", weights, WeightError, rates=rates, size=size)
    keys = _Keys.relaxed(rate, cost, weight, is_application=of == "application")
    root = _root_of_multiplier(keys) if keys.load.sum() > 1.0 else 0.0
    return float(keys.staleness(root).sum()) / size


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys that need the server's time, in the dimensionless form of the module's docstring."""

    load: Floats  # x
    weighted_cost: Floats  # w c
    slope: Floats  # r
    threshold: Floats  # b
    after_processing: Floats  # staleness per cycle at a = 0, over x c: 0 or x phi_2(-x)
    is_application: bool

    @classmethod
    def relaxed(cls, rate: Floats, cost: Floats, weight: Floats, *, is_application: bool) -> _Keys:
        with np.errstate(over="ignore"):
            load = np.minimum(rate * cost, _SATURATED_LOAD)
        kept = np.minimum(np.minimum(load, cost), weight) > _NEGLIGIBLE
        load, cost, weight = load[kept], cost[kept], weight[kept]
        nothing = np.zeros_like(load)
        return cls(
            load=load,
            weighted_cost=weight * cost,
            slope=math.sqrt(2.0) * load / np.sqrt(cost) / np.sqrt(weight),
            threshold=np.sqrt(-2.0 * np.expm1(-load)) if is_application else nothing,
            after_processing=load * phi(2, load) if is_application else nothing,
            is_application=is_application,
        )

    def excess(self, root: float) -> Floats:
        """Return d for W = root squared."""
        path = root * self.slope
        return np.sqrt(np.maximum(path - self.threshold, 0.0)) * np.sqrt(path + self.threshold)

    def load_and_steepness(self, root: float) -> tuple[float, float]:
        """Return the busy share of the server's time, and its decrease per log of the root."""
        excess = self.excess(root)
        cycle = np.hypot(1.0, excess)
        busy = self.load / cycle
        path = np.where(excess > 0.0, root * self.slope / cycle, 0.0)
        return float(busy.sum()), float((busy * path * path).sum())

    def staleness(self, root: float) -> Floats:
        """Return weight times staleness, per key."""
        excess = self.excess(root)
        cycle = np.hypot(1.0, excess)
        wait = excess * (excess / (1.0 + cycle))  # y = D - 1, without the difference
        share = wait / cycle
        staleness = 0.5 * (wait / self.load) * share
        if self.is_application:
            staleness = staleness + share + self.after_processing / cycle
        return self.weighted_cost * staleness


def _root_of_multiplier(keys: _Keys) -> float:
    """Find the root of W at which the server is just busy.

    This is Newton's method for log(busy share) over log(root), which is straight where the load is
    high. A step that leaves the bracket, or gains too little, is replaced by a bisection.
    """
    low, high = 0.0, float(np.sqrt(0.5 * keys.weighted_cost).sum())  # exact for infinite rates
    while keys.load_and_steepness(high)[0] > 1.0:
        low, high = high, 2.0 * high
    root, last_error = high, math.inf
    for _ in range(_MOST_STEPS):
        busy, steepness = keys.load_and_steepness(root)
        error = math.log(busy)
        low, high = (root, high) if error > 0.0 else (low, root)
        if abs(error) <= _LOAD_TOLERANCE or high - low <= _LOAD_TOLERANCE * high:
            return root
        step = busy * error / steepness if steepness > 0.0 else math.inf
        following = root * math.exp(max(-_LONGEST_STEP, min(step, _LONGEST_STEP)))
        if abs(error) > last_error / 2.0 or not low < following < high:
            following = math.sqrt(low) * math.sqrt(high) if low > 0.0 else high / 1024.0
        root, last_error = following, abs(error)
    raise AssertionError("the bracket around the multiplier did not close")


def _costs(processing_cost: object, rates: object, size: int) -> Floats:
    is_array_of_one = isinstance(processing_cost, np.ndarray) and processing_cost.ndim == 0
    if is_array_of_one or not isinstance(processing_cost, Iterable):
        return same_for_all("processing_cost", processing_cost, CostError, size=size)
    return one_per_key("processing_cost", processing_cost, CostError, rates=rates, size=size)
