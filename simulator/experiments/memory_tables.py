"""How the tables of Figures 16 and 17 are read: means over runs, savings, and ranges by page size.

`x` is the column on the x-axis, theta or the load; means are over the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from .experiment import Row, Table, column, where

Means = Mapping[float, float]
"""A mean for each theta, or for each load, in ascending order."""


def page_sizes(table: Table) -> list[int]:
    """Return the page sizes of a table, in tuples, the smallest first."""
    return sorted({int(size) for size in column(table, "tuples_per_page")})


def pages_of(table: Table, tuples: int) -> list[Row]:
    """Return the rows of one page size."""
    return where(table, tuples_per_page=tuples)


def mean_by(table: Table, x: str, y: str, *, memory: str) -> Means:
    """Return the means of a column.

    >>> rows = [{"load": 2, "memory": "naive", "usage": usage} for usage in (90.0, 100.0)]
    >>> mean_by(rows, "load", "usage", memory="naive")
    {2.0: 95.0}
    """
    rows = where(table, memory=memory)
    found = {}
    for value in sorted(set(column(rows, x))):
        cells = column(where(rows, **{x: value}), y)
        found[value] = sum(cells) / len(cells)
    return found


def saving(table: Table, x: str, y: str) -> Means:
    """Return by what share on-demand paging holds less than naive memory."""
    on_demand = mean_by(table, x, y, memory="on-demand")
    naive = mean_by(table, x, y, memory="naive")
    return {value: 1.0 - on_demand[value] / naive[value] for value in naive}


def rises(means: Means) -> bool:
    """Tell whether each mean is above the one before.

    >>> rises({0.0: 1.0, 0.3: 2.0}), rises({0.0: 1.0, 0.3: 1.0})
    (True, False)
    """
    return all(before < after for before, after in pairwise(means.values()))


def falls(means: Means) -> bool:
    """Tell whether each mean is below the one before."""
    return all(before > after for before, after in pairwise(means.values()))


def by_page(table: Table, measured: Callable[[Table], Means], form: str) -> str:
    """Say in which range means are, for each page size."""
    ranges = []
    for tuples in page_sizes(table):
        means = measured(pages_of(table, tuples)).values()
        low, high = f"{min(means):{form}}", f"{max(means):{form}}"
        found = low if low == high else f"{low} to {high}"
        ranges.append(f"{found} with {tuples} tuples a page")
    return ", ".join(ranges)
