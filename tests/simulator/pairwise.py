"""Rows of parameters in which any two values meet, rather than all combinations."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product


def pairwise(*columns: Iterable[str]) -> list[tuple[str, ...]]:
    """Return rows, one value of each column, so that values of any two columns meet in some row.

    What two parameters break together is found as with all combinations; what only three of them
    break is left to tests that draw their parameters.
    """
    met: set[tuple[tuple[int, str], ...]] = set()
    rows = []
    for row in product(*columns):
        pairs = set(combinations(enumerate(row), 2))
        if not pairs <= met:
            met |= pairs
            rows.append(row)
    return rows
