"""What a workload is: keys, their mean rates, and arrivals in order of time, drawn from a seed.

The unit of time is the mean time between two arrivals, so that the cost of an update is the load: a
server of cost 5 keeps up with a fifth of what arrives. Keys are numbers, unless they are recorded.
Their shares of the updates add up to 1. The busiest key comes first, so that a plot over keys needs
no sorting.

Times of fixed intervals and costs have to add up exactly. No float is 1.2. After five additions of
it, a server that is always busy is done just before the arrival at 6 or together with it, depending
on rounding. With fixed costs and fixed intervals such moments never end, and their order shows in
the results: at this load the queue staleness of a single key would be a quarter too high. So costs
are rounded up and intervals down, by two billionths at most, to numbers that are short enough for
their sums to be exact. Then work that ends with an arrival ends at that moment or just after it,
and arrivals come first, as they should.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from upstream import Key
from upstream.workloads.key_shares import even_shares, two_class_shares, zipf_shares

from ..errors import parameters_as_options

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Arrivals(NamedTuple):
    """Some arrivals that follow one another: when each comes, and for which key."""

    times: Floats
    codes: Integers
    """For each, the index of its key."""


class Workload(Protocol):
    """Where the updates of a simulation come from."""

    @property
    def keys(self) -> Sequence[Key]:
        """All keys that may arrive."""
        ...

    @property
    def rates(self) -> Floats:
        """The mean update rate of each key; their sum is one, unless it was recorded otherwise."""
        ...

    @property
    def is_memoryless(self) -> bool:
        """Whether the arrivals are Poisson at constant rates, as the lower bound assumes."""
        ...

    def arrivals(self, random: np.random.Generator) -> Iterator[Arrivals]:
        """Draw the arrivals, some at a time; for the same seed they are the same every time."""
        ...


def first(arrivals: Iterator[Arrivals], updates: int) -> Iterator[Arrivals]:
    """Yield the first `updates` of the arrivals."""
    for times, codes in arrivals:
        yield Arrivals(times[:updates], codes[:updates])
        updates -= len(times)
        if updates <= 0:
            return


BITS: Final = 30
"""Sums stay exact while they are less than 2 to the power of 23 times the number added."""


def rounded_up(cost: float) -> float:
    """Return the least number of `BITS` bits that is not less than `cost`.

    >>> rounded_up(2.5), rounded_up(1.2) - 1.2 < 2e-9
    (2.5, True)
    """
    mantissa, exponent = math.frexp(cost)
    return math.ldexp(math.ceil(math.ldexp(mantissa, BITS)), exponent - BITS)


def rounded_down(interval: float) -> float:
    """Return the greatest number of `BITS` bits that is not more than `interval`."""
    mantissa, exponent = math.frexp(interval)
    return math.ldexp(math.floor(math.ldexp(mantissa, BITS)), exponent - BITS)


class KnownFromStart:
    """Let each key of a workload arrive once at time 0, in order, and then the workload."""

    __slots__ = ("_workload", "is_memoryless", "keys", "rates")

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self.keys = workload.keys
        self.rates = workload.rates
        """The mean update rate of each key, without its first update."""
        self.is_memoryless = workload.is_memoryless
        """Whether the arrivals after the first ones are."""

    def arrivals(self, random: np.random.Generator) -> Iterator[Arrivals]:
        """Return one arrival of each key, then draw those of the workload."""
        keys = len(self.keys)
        yield Arrivals(np.zeros(keys), np.arange(keys))
        yield from self._workload.arrivals(random)


@parameters_as_options()
def uniform(keys: int) -> Floats:
    """Return equal shares; OptionError unless this many keys can be made."""
    return even_shares(keys)


@parameters_as_options()
def zipf(keys: int, theta: float) -> Floats:
    """Return shares by Zipf's law; OptionError for parameters that make no sense.

    >>> zipf(3, 1.0).round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    return zipf_shares(keys, theta)


@parameters_as_options()
def two_classes(keys: int, slow: int, ratio: float) -> Floats:
    """Return two classes of equal keys: the last `slow` update `ratio` times less than the others.

    OptionError for parameters that make no sense.
    """
    return two_class_shares(keys, slow, ratio)
