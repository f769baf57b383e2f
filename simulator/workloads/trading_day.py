"""A trading day, generated: what the report's NYSE data looks like, until the data itself is there.

The report (section 5.3, figure 8) has the trades and quotes of a day of January 2006: more than
3,000 stock symbols, of which the busiest was updated 4,305 times and the slowest once. It tells
only these two ends. What lies between is a choice, so there are two shapes with the same ends:

- "power-law": the symbol of rank r has updates in proportion to r to the -theta, with the theta
  that leads from one end to the other, ln 4305 / ln 3000 = 1.045. A few symbols have most updates.
- "lognormal": the logarithms of the counts are normally distributed. Most updates belong to
  symbols in the middle, and there are 12 times as many.

The report tells nothing of the hours. Here updates come from 9:30 to 16:00, most of them after the
opening and before the close, with a calm noon between; those of all symbols alike, each
independently of the others, and at any time rather than at whole seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Final

import numpy as np

from ..errors import OptionError
from .trace_file import TraceFile
from .workload import Floats, Integers

SYMBOLS: Final = 3_000
BUSIEST: Final = 4_305
"""The updates of the busiest symbol; the slowest has one."""
OPENS: Final = 9.5 * 3600
CLOSES: Final = 16.0 * 3600
"""Seconds since midnight."""

_OPENING_BURST: Final = 3.0
_CLOSING_BURST: Final = 2.0
"""How much more there is in the first and the last moment, in times of what there is at noon."""
_BURST_SECONDS: Final = 1800.0
"""How soon the opening burst fades, and the closing burst grows: by a factor of e."""
_GRID: Final = 4001
_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
"""Consonants, so that no symbol spells a word."""
_LETTERS_OF_SYMBOL: Final = 4


def trading_day(
    shape: str = "power-law", *, seed: int = 1, symbols: int = SYMBOLS, busiest: int = BUSIEST
) -> TraceFile:
    """Return a generated day in the form of a recorded one, with times in seconds since midnight.

    `replay` makes a workload of it, in units of the mean time between two arrivals. The symbols are
    made up, and in no order of rank.

    >>> day = trading_day(seed=1)
    >>> len(day.keys), len(day.times), bool(OPENS <= day.times[0] < day.times[-1] <= CLOSES)
    (3000, 31325, True)
    """
    random = np.random.default_rng(seed)
    counts = updates_by_rank(shape, symbols=symbols, busiest=busiest)
    ranks = random.permutation(np.repeat(np.arange(symbols), counts))
    times = _times_of_day(len(ranks), random)
    order, codes = _numbered_by_appearance(ranks)
    names = _made_up_symbols(symbols, random)
    for column in (times, codes):
        column.flags.writeable = False
    return TraceFile(f"generated day, {shape}", times, codes, tuple(names[rank] for rank in order))


def updates_by_rank(shape: str, *, symbols: int = SYMBOLS, busiest: int = BUSIEST) -> Integers:
    """Return how many updates the symbol of each rank has, from the busiest to one.

    >>> updates_by_rank("power-law", symbols=4, busiest=100).tolist()
    [100, 10, 3, 1]
    >>> updates_by_rank("lognormal", symbols=4, busiest=100).tolist()
    [100, 19, 5, 1]
    """
    if shape not in SHAPES:
        raise OptionError("shape", shape, " or ".join(SHAPES))
    if not 2 <= symbols <= len(_LETTERS) ** _LETTERS_OF_SYMBOL:
        most = len(_LETTERS) ** _LETTERS_OF_SYMBOL
        raise OptionError("symbols", symbols, f"a number from 2 to {most:,}")
    if not 1 <= busiest <= 10_000_000:
        raise OptionError("busiest", busiest, "a number from 1 to 10,000,000")
    return np.rint(float(busiest) ** SHAPES[shape](symbols)).astype(np.int64)


def intensity(seconds: Floats) -> Floats:
    """Return how busy the market is at times of the day, in times of what it is at noon.

    >>> intensity(np.array([OPENS, 12.75 * 3600, CLOSES])).round(1).tolist()
    [4.0, 1.0, 3.0]
    """
    opening = _OPENING_BURST * np.exp((OPENS - seconds) / _BURST_SECONDS)
    closing = _CLOSING_BURST * np.exp((seconds - CLOSES) / _BURST_SECONDS)
    return np.asarray(1.0 + opening + closing, dtype=np.float64)


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


def _times_of_day(updates: int, random: np.random.Generator) -> Floats:
    """Draw times by the intensity, in ascending order."""
    grid = np.linspace(OPENS, CLOSES, _GRID)
    busy = intensity(grid)
    until = np.concatenate([[0.0], (busy[1:] + busy[:-1]).cumsum()])
    return np.interp(np.sort(random.random(updates)), until / until[-1], grid)


def _numbered_by_appearance(ranks: Integers) -> tuple[Integers, Integers]:
    """Return the ranks in the order in which they first appear, and each rank's place in it."""
    _, first, codes = np.unique(ranks, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return order, np.argsort(order)[codes]


def _made_up_symbols(symbols: int, random: np.random.Generator) -> list[str]:
    """Draw as many different symbols."""
    letters = len(_LETTERS)
    numbers = random.choice(letters**_LETTERS_OF_SYMBOL, symbols, replace=False).tolist()
    places = [letters**place for place in range(_LETTERS_OF_SYMBOL)]
    return ["".join(_LETTERS[n // place % letters] for place in places) for n in numbers]
