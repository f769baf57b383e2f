"""The sweeps of the DataCell paper (Figures 5 to 9): incremental and whole, side by side.

There is one budget for all of them: incremental evaluation is never slower than re-evaluation by
more than a tenth, small windows included, where the engine has to find out that it should evaluate
them whole.
"""

from __future__ import annotations

import pytest

from tests.benchmarks.measure import Table
from tests.benchmarks.paper_queries import Query, query_1, query_2
from tests.benchmarks.reevaluation import ByArrow, ByTable
from tests.benchmarks.slides import Incremental, System, race

pytestmark = pytest.mark.benchmark

NEVER_SLOWER = 1.1


def compare(table: Table, what: str, query: Query, *, rounds: int, slides: int) -> None:
    """Print what a slide takes each way, and hold their ratio to the budget."""
    systems: dict[str, System] = {"incremental": Incremental(query), "arrow": ByArrow(query)}
    if query.window > 10_000:  # below, deleting rows costs more than reading them
        systems["table"] = ByTable(query)
    found = race(query, systems, rounds=rounds, slides=slides, warm_up=3)
    whole = found.faster(*(name for name in systems if name != "incremental"))
    table.row(f"{what}: incremental", found.milliseconds("incremental"), None, "ms")
    table.row(f"{what}: whole ({whole})", found.milliseconds(whole), None, "ms")
    table.row(what, found.total_ratio("incremental", whole), NEVER_SLOWER)


def test_selectivity() -> None:
    """Figure 5(a)."""
    table = Table("Q1, window 10,240,000, step 20,000, 2,000 groups: a slide, by rows kept")
    for kept in (0.1, 0.5, 0.9):
        compare(table, f"{kept:.0%} kept", query_1(kept=kept), rounds=3, slides=3)
    table.assert_met()


def test_selectivity_of_a_join() -> None:
    """Figure 5(b)."""
    table = Table("Q2, window 102,400, step 1,600: a slide, by pairs that match")
    for exponent in (-7, -6, -5, -4):
        matching = 10.0**exponent
        what = f"a share of 1e{exponent} matches"
        compare(table, what, query_2(matching=matching), rounds=5, slides=5)
    table.assert_met()


def test_window_size() -> None:
    """Figure 6(a)."""
    table = Table("Q1, 512 steps a window, 20% kept, 2,000 groups: a slide, by window")
    for window in (102_400, 1_024_000, 10_240_000):
        query = query_1(window=window, step=window // 512)
        compare(table, f"window of {window:,}", query, rounds=5, slides=3)
    table.assert_met()


def test_number_of_steps() -> None:
    """Figure 7(a), with a tenth of its rows."""
    table = Table("Q1, window 1,024,000, 20% kept, 2,000 groups: a slide, by steps in a window")
    for steps in (2, 16, 128, 512, 2_048):
        query = query_1(window=1_024_000, step=1_024_000 // steps)
        compare(table, f"{steps:,} steps", query, rounds=5, slides=3)
    table.assert_met()


def test_number_of_steps_of_a_join() -> None:
    """Figure 7(b)."""
    table = Table("Q2, window 102,400, a share of 1e-4 matches: a slide, by steps in a window")
    for steps in (2, 16, 64, 512):
        query = query_2(window=102_400, step=102_400 // steps, matching=0.000_1)
        compare(table, f"{steps:,} steps", query, rounds=5, slides=3)
    table.assert_met()


def test_small_and_large_windows_of_a_join() -> None:
    """Figure 9, without the loading of files: a hundred slides, 64 steps in a window."""
    table = Table("Q2, 64 steps a window, a share of 1e-4 matches: a slide, by window")
    for window in (1_024, 3_200, 10_240, 32_000, 102_400):
        query = query_2(window=window, step=window // 64, matching=0.000_1)
        compare(table, f"window of {window:,}", query, rounds=5, slides=20)
    table.assert_met()


SMALLEST = ((10, 1), (10, 10), (32, 4), (100, 1), (100, 50), (320, 32), (1_000, 100))


def test_the_smallest_windows() -> None:
    """Where nothing can be gained, nothing may be lost, whatever it took to find that out."""
    table = Table("Q1, 20 groups, windows of a few rows: a slide")
    for window, step in SMALLEST:
        query = query_1(window=window, step=step, groups=20)
        compare(table, f"window of {window:,}, step {step}", query, rounds=9, slides=20)
    table.assert_met()


def test_the_smallest_windows_of_a_join() -> None:
    table = Table("Q2, 1% match, windows of a few rows: a slide")
    for window, step in SMALLEST:
        query = query_2(window=window, step=step)
        compare(table, f"window of {window:,}, step {step}", query, rounds=9, slides=20)
    table.assert_met()
