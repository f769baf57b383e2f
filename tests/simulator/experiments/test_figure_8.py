"""Figure 8: a generated day of stock updates, counted, and served by three policies."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from simulator.experiments.experiment import Scale, column, number
from simulator.experiments.figure_8 import EXPERIMENT, count_updates, points, verdict
from simulator.workloads.recorded import trading_day
from simulator.workloads.trace_file import TraceFile
from upstream.workloads.trading_day import SHAPES, updates_by_rank

from .golden import quick_table


def test_both_shapes_are_measured_and_one_if_quick() -> None:
    assert [point["shape"] for point in points(Scale())] == list(SHAPES)
    assert [point["shape"] for point in points(Scale(is_quick=True))] == ["power-law"]


def test_updates_are_counted_as_a_queue_hands_them_out() -> None:
    day = TraceFile("three trades", np.array([5.0, 6.0, 6.0]), np.array([0, 1, 0]), ("CSCX", "GMX"))
    assert count_updates(day) == Counter({"CSCX": 2, "GMX": 1})


def test_the_table_has_the_counts_of_the_ranks_and_of_the_whole_day() -> None:
    table = quick_table(EXPERIMENT)
    counts = updates_by_rank("power-law")
    ranks = column(table, "rank")
    assert (ranks[0], ranks[-1]) == (1, 3_000)
    assert column(table, "updates") == [counts[int(rank) - 1] for rank in ranks]
    assert number(table[0], "total_updates") == counts.sum() == 31_325
    for percent, symbols in ((1, 30), (10, 300)):
        share = number(table[0], f"share_of_busiest_{percent}_percent")
        assert share == pytest.approx(counts[:symbols].sum() / counts.sum())


def test_symbols_of_the_table_have_the_updates_that_it_says() -> None:
    day = trading_day("power-law", seed=1)
    updates = dict(zip(day.keys, np.bincount(day.codes).tolist(), strict=True))
    for row in quick_table(EXPERIMENT):
        assert updates[row["symbol"]] == row["updates"]


def test_the_index_serves_the_day_better_than_in_place_and_linecutting_worse() -> None:
    day = quick_table(EXPERIMENT)[0]
    assert number(day, "index") < 0.9 * number(day, "in_place")
    assert number(day, "index_true_rates") < number(day, "index")
    assert number(day, "linecutting") > 1.1 * number(day, "in_place")


@pytest.mark.parametrize(
    ("column", "cell"), [("symbols", 2_999), ("busiest", 4_304), ("slowest", 2)]
)
def test_the_verdict_says_whether_the_ends_are_the_reported_ones(column: str, cell: int) -> None:
    table = quick_table(EXPERIMENT)
    assert verdict(table).held
    other = verdict([{**row, column: cell} for row in table])
    assert other.held is False
    assert f"{cell:,}" in other.sentence


def test_the_verdict_says_whether_in_place_is_the_best() -> None:
    table = quick_table(EXPERIMENT)
    assert "IN-PLACE is not the best" in verdict(table).sentence
    worse = {"index": 1e6, "index_true_rates": 1e6, "linecutting": 1e6}
    assert "IN-PLACE is the best" in verdict([{**row, **worse} for row in table]).sentence
