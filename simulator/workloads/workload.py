"""What a workload is: keys, their mean rates, and arrivals in order of time, drawn from a seed.

The unit of time is the mean time between two arrivals, so that the cost of an update is the load: a
server of cost 5 keeps up with a fifth of what arrives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from upstream import Key

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
