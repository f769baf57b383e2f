"""A generated trading day that is like the report's NYSE data, which needs a licence.

The report (section 5.3, figure 8) uses the trades and quotes of a day of January 2006: more than
3,000 stock symbols. The busiest was updated 4,305 times and the slowest once. The report says
nothing about the symbols between these two. So there are two shapes with the same ends:

- "power-law": the symbol of rank r has updates in proportion to r to the -theta, with the theta
  that leads from one end to the other, ln 4305 / ln 3000 = 1.045. A few symbols have most updates.
- "lognormal": the logarithms of the counts are normally distributed. Most updates belong to
  symbols in the middle, and there are 12 times as many.

The report says nothing about the hours either. Here updates come from 9:30 to 16:00, most of them
after the opening and before the close, with a calm noon between. All symbols follow the same hours,
each independently of the others, and an update may come at any time, not at whole seconds only.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SYMBOLS: Final = 3_000
BUSIEST: Final = 4_305
"""The updates of the busiest symbol; the slowest has one."""
MOST_BUSIEST: Final = 10_000_000
OPENS: Final = 9.5 * 3600
CLOSES: Final = 16.0 * 3600
"""Seconds since midnight, in New York."""
CELLS: Final = 4_000
"""The number of pieces that the day is cut into; updates are even in each."""
LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
"""Consonants, so that no symbol spells a word."""
LETTERS_OF_SYMBOL: Final = 4

_OPENING_BURST: Final = 3.0
_CLOSING_BURST: Final = 2.0
"""How much more there is in the first and the last moment, in multiples of the rate at noon."""
_BURST_SECONDS: Final = 1800.0
"""In this time the opening burst fades, and the closing burst grows, by a factor of e."""


def updates_by_rank(shape: str, *, symbols: int = SYMBOLS, busiest: int = BUSIEST) -> Integers:
    """Return how many updates the symbol of each rank has, from the busiest to one.

    >>> updates_by_rank("power-law", symbols=4, busiest=100).tolist()
    [100, 10, 3, 1]
    >>> updates_by_rank("lognormal", symbols=4, busiest=100).tolist()
    [100, 19, 5, 1]
    """
    check_day(shape, symbols=symbols, busiest=busiest)
    return np.rint(float(busiest) ** SHAPES[shape](symbols)).astype(np.int64)


def check_day(shape: str, *, symbols: int, busiest: int) -> None:
    """Raise ParameterError unless a day can be made with these parameters."""
    if shape not in SHAPES:
        raise ParameterError("shape", shape, " or ".join(SHAPES))
    most = len(LETTERS) ** LETTERS_OF_SYMBOL
    if not 2 <= symbols <= most:
        raise ParameterError("symbols", symbols, f"a number from 2 to {most:,}")
    if not 1 <= busiest <= MOST_BUSIEST:
        raise ParameterError("busiest", busiest, f"a number from 1 to {MOST_BUSIEST:,}")


def intensity(seconds: Floats) -> Floats:
    """Return how busy the market is at times of the day, in multiples of the rate at noon.

    >>> intensity(np.array([OPENS, 12.75 * 3600, CLOSES])).round(1).tolist()
    [4.0, 1.0, 3.0]
    """
    opening = _OPENING_BURST * np.exp((OPENS - seconds) / _BURST_SECONDS)
    closing = _CLOSING_BURST * np.exp((seconds - CLOSES) / _BURST_SECONDS)
    return np.asarray(1.0 + opening + closing, dtype=np.float64)


def busyness() -> Floats:
    """Return how busy each of the `CELLS` pieces of the day is, relative to the others."""
    busy = intensity(np.linspace(OPENS, CLOSES, CELLS + 1))
    return busy[1:] + busy[:-1]


def made_up_symbols(symbols: int, random: np.random.Generator) -> list[str]:
    """Draw different symbols, in no order.

    >>> made_up_symbols(2, np.random.default_rng(1))
    ['MHMM', 'PSGN']
    """
    letters = len(LETTERS)
    numbers = random.choice(letters**LETTERS_OF_SYMBOL, symbols, replace=False).tolist()
    places = [letters**place for place in range(LETTERS_OF_SYMBOL)]
    return ["".join(LETTERS[n // place % letters] for place in places) for n in numbers]


def _power_law(symbols: int) -> Floats:
    logarithms: Floats = np.log(np.arange(1.0, symbols + 1.0))
    return 1.0 - logarithms / float(logarithms[-1])


def _lognormal(symbols: int) -> Floats:
    normal = NormalDist()
    quantiles = [normal.inv_cdf((symbols - rank + 0.5) / symbols) for rank in range(1, symbols + 1)]
    return (np.array(quantiles) / quantiles[0] + 1.0) / 2.0


SHAPES: Final[dict[str, Callable[[int], Floats]]] = {
    "power-law": _power_law,
    "lognormal": _lognormal,
}
"""By name, the logarithm of the updates by rank, from 1 for the busiest to 0 for a single one."""
