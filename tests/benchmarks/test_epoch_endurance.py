"""Ten thousand epochs of a standing query: time and memory stay flat.

`LASTING_EPOCHS` sets how many epochs there are.
"""

from __future__ import annotations

import os

import pytest

from tests.benchmarks.epoch_endurance import CASES, PART, measured
from tests.benchmarks.measure import Table

pytestmark = pytest.mark.benchmark

EPOCHS = int(os.environ.get("LASTING_EPOCHS", "10000"))
MOST_TIME = 1.3
MOST_MEGABYTES = 12.0
MOST_OBJECTS = 500
MOST_ROWS = 20
"""An interval join holds the rows of some seconds, which are not always as many."""


@pytest.mark.parametrize("case", CASES)
def test_an_epoch_costs_as_much_after_ten_thousand(case: str) -> None:
    found = measured(case, EPOCHS)
    early, late = found.early, found.late
    table = Table(f"{case}: {EPOCHS:,} epochs, the last {PART:,} and the second {PART:,}")
    table.row("an epoch, median", 1e3 * found.median, None, "ms")
    table.row("the last by the second, median", found.ratio, None)
    table.row("the same by the time to make the rows", found.ratio_by_making, MOST_TIME)
    table.row("megabytes at the end", late.megabytes, None, "MB")
    table.row("more than after the first part", found.grown, MOST_MEGABYTES, "MB")
    table.row("Python objects, more", late.objects - early.objects, MOST_OBJECTS, "")
    table.row("tables of DuckDB, more", late.tables - early.tables, 0, "")
    table.row("prepared statements, more", late.statements - early.statements, 0, "")
    table.row("rows held, more", late.rows_held - early.rows_held, MOST_ROWS, "")
    table.assert_met()
