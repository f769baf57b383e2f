"""A generated trading day in the form of a recorded one; `upstream.workloads` has its formulas."""

from __future__ import annotations

import numpy as np

from upstream.workloads.trading_day import (
    BUSIEST,
    CELLS,
    CLOSES,
    OPENS,
    SYMBOLS,
    busyness,
    made_up_symbols,
    updates_by_rank,
)

from ..errors import parameters_as_options
from .trace_file import TraceFile
from .workload import Floats, Integers


def trading_day(
    shape: str = "power-law", *, seed: int = 1, symbols: int = SYMBOLS, busiest: int = BUSIEST
) -> TraceFile:
    """Return a generated day, with times in seconds since midnight.

    `replay` makes a workload of it, in units of the mean time between two arrivals. The symbols are
    made up, and in no order of rank.

    >>> day = trading_day(seed=1)
    >>> len(day.keys), len(day.times), bool(OPENS <= day.times[0] < day.times[-1] <= CLOSES)
    (3000, 31325, True)
    """
    random = np.random.default_rng(seed)
    with parameters_as_options():
        counts = updates_by_rank(shape, symbols=symbols, busiest=busiest)
    ranks = random.permutation(np.repeat(np.arange(symbols), counts))
    times = _times_of_day(len(ranks), random)
    order, codes = _numbered_by_appearance(ranks)
    names = made_up_symbols(symbols, random)
    for column in (times, codes):
        column.flags.writeable = False
    return TraceFile(f"generated day, {shape}", times, codes, tuple(names[rank] for rank in order))


def _times_of_day(updates: int, random: np.random.Generator) -> Floats:
    """Draw times by the intensity, in ascending order."""
    until = np.concatenate([[0.0], busyness().cumsum()])
    edges = np.linspace(OPENS, CLOSES, CELLS + 1)
    return np.interp(np.sort(random.random(updates)), until / until[-1], edges)


def _numbered_by_appearance(ranks: Integers) -> tuple[Integers, Integers]:
    """Return the ranks in the order in which they first appear, and each rank's place in it."""
    _, first, codes = np.unique(ranks, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return order, np.argsort(order)[codes]
