"""Times that add up exactly, so that what happens at one moment is seen to.

No float is 1.2. Add it up five times, and a server that is always busy is done just before the
arrival at 6, or with it, as rounding would have it. With fixed costs and fixed intervals such
moments never end, and the order that they are given is seen in the results: at this load the queue
staleness of a single key would come out a quarter too high. So costs are rounded up and intervals
down, by two billionths at most, to numbers short enough for their sums to be exact. Then what
ought to end with an arrival ends with it or just after it, and arrivals come first, as they should.
"""

from __future__ import annotations

import math
from typing import Final

BITS: Final = 30
"""Sums stay exact as long as they are less than two to the power of 23 times what is added up."""


def rounded_up(cost: float) -> float:
    """Return the least number of so many bits that is no less than `cost`.

    >>> rounded_up(2.5), rounded_up(1.2) - 1.2 < 2e-9
    (2.5, True)
    """
    mantissa, exponent = math.frexp(cost)
    return math.ldexp(math.ceil(math.ldexp(mantissa, BITS)), exponent - BITS)


def rounded_down(interval: float) -> float:
    """Return the greatest number of so many bits that is no more than `interval`."""
    mantissa, exponent = math.frexp(interval)
    return math.ldexp(math.floor(math.ldexp(mantissa, BITS)), exponent - BITS)
