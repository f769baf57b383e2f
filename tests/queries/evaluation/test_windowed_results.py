"""Sliding windows: which answers are given, skipped, and returned by ask()."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Literal, cast

import pyarrow as pa
import pytest

from tests.queries.setting import append, asked, every_way, given, revised, windows_of
from upstream import ContinuousQuery, Engine, ManualClock
from upstream.database.prepared import Prepared
from upstream.queries.choices import Way
from upstream.queries.evaluation.finish import Finish

HOPS = "SELECT sum(x) AS x FROM hop(bids, 20, 10)"
TUMBLES = "SELECT sum(x) AS x FROM tumble(bids, 10)"


def test_an_update_query_skips_older_results_and_never_rows(engine: Engine) -> None:
    query = engine.continuous_query(HOPS, semantics="update", evaluation="increments")
    for time in range(0, 100, 5):
        append(engine, "bids", (time, time))
    [result] = query.results()
    assert given([result]) == [(70, 90, 70 + 75 + 80 + 85)]
    counts = query.statistics()
    assert (counts.results_skipped, result.missed) == (8, 8)


def test_a_result_that_was_skipped_counts_as_a_revision(engine: Engine) -> None:
    query = engine.continuous_query(
        TUMBLES, semantics="update", evaluation="increments", allowed_lateness=50
    )
    append(engine, "bids", (5, 1), (15, 2), (25, 4))
    assert revised(query.results()) == [(10, 0, 2)]
    append(engine, "bids", (6, 8))
    assert query.results() == []  # an older window does not replace a newer one
    assert query.statistics().results_skipped == 2
    append(engine, "bids", (16, 16))
    assert revised(query.results()) == [(10, 1, 18)]


@every_way
def test_at_most_every_so_often_the_newest_result_is_given(
    engine: Engine, clock: ManualClock, way: Way
) -> None:
    query = engine.continuous_query(TUMBLES, evaluation=way, emit_every=timedelta(minutes=1))
    append(engine, "bids", (5, 1), (15, 2))
    assert given(query.results()) == [(0, 10, 1)]
    append(engine, "bids", (25, 4), (35, 8))
    assert query.results() == []
    clock.set(60)
    append(engine, "bids", (45, 16))
    [result] = query.results()
    assert (given([result]), result.missed) == ([(30, 40, 8)], 2)
    assert query.statistics().results_skipped == 2


@every_way
def test_only_what_changed_is_given(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(TUMBLES, evaluation=way, emit="changed")
    append(engine, "bids", (5, 1), (15, 1), (25, 2), (35, 2), (45, 1), (55, 0))
    assert given(query.results()) == [(0, 10, 1), (20, 30, 2), (40, 50, 1)]
    assert query.statistics().results_unchanged == 2


# Asking


def answer(query: ContinuousQuery) -> list[tuple[object, ...]]:
    return revised([asked(query)])


@every_way
@pytest.mark.parametrize("emit", ["asked", "slide"])
def test_ask_returns_the_newest_closed_window(
    engine: Engine, way: Way, emit: Literal["asked", "slide"]
) -> None:
    query = engine.continuous_query(HOPS, evaluation=way, emit=emit)
    assert answer(query) == [(None, 0, None)]
    append(engine, "bids", (5, 1))
    assert answer(query) == [(-20, 0, None)]  # the newest window that is over
    append(engine, "bids", (15, 2), (25, 4))
    assert answer(query) == [(0, 0, 3)]
    assert answer(query) == [(0, 0, 3)]
    append(engine, "bids", (28, 8))
    assert answer(query) == [(0, 0, 3)]
    append(engine, "bids", (1_000, 0))
    assert answer(query) == [(980, 0, None)]
    assert answer(query) == [(980, 0, None)]


@every_way
def test_over_arrival_the_clock_makes_the_answer_of_ask_empty(
    engine: Engine, clock: ManualClock, way: Way
) -> None:
    query = engine.continuous_query(
        "SELECT count(*) AS n FROM tumble(bids, INTERVAL '5 seconds', by => arrival)",
        evaluation=way,
    )
    grouped = engine.continuous_query(
        "SELECT k, count(*) AS n FROM tumble(bids, INTERVAL '5 seconds', by => arrival) GROUP BY k",
        evaluation=way,
    )
    assert [content for _, _, content in answer(query)] == [0]
    clock.set(1.0)
    append(engine, "bids", (1,), (2,), (3,))
    clock.set(5.0)
    assert [content for _, _, content in answer(query)] == [3]
    clock.set(3_600.0)
    evaluations = _counted_runs(query)
    for _ in range(720):
        assert [content for _, _, content in answer(query)] == [0]
    assert evaluations() <= 2  # that of the result, and that of the first time it is asked for
    assert [content for _, _, content in answer(grouped)] == [[]]
    assert [len(each.table) for each in query.results()] == [1, 1]
    counts = query.statistics()
    assert (counts.results_due, counts.is_balanced) == (2, True)


def _counted_runs(query: ContinuousQuery) -> Callable[[], int]:
    """Return what tells how often DuckDB was asked about windows without rows since."""
    finish = windows_of(query)._finish
    assert isinstance(finish, Finish)
    whole = finish.whole
    runs = 0

    def counted(**tables: pa.Table) -> pa.Table:
        nonlocal runs
        runs += 1
        return whole.run(**tables)

    finish.whole = cast("Prepared", SimpleNamespace(run=counted, close=whole.close))
    return lambda: runs


@every_way
def test_ask_has_an_answer_after_all_results_were_taken(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(HOPS, evaluation=way)
    append(engine, "bids", (5, 1), (15, 2), (25, 4))
    assert len(query.results()) == 2
    assert answer(query) == [(0, 0, 3)]
    assert query.results() == []


@every_way
@pytest.mark.parametrize("emit", ["asked", "slide"])
def test_ask_takes_late_rows_into_account(
    engine: Engine, way: Way, emit: Literal["asked", "slide"]
) -> None:
    # time    0     10    20    30    40
    # rows       1           |
    # late       2      4               [10, 20) is the newest, and was empty at first
    query = engine.continuous_query(TUMBLES, evaluation=way, emit=emit, allowed_lateness=30)
    append(engine, "bids", (5, 1), (25, 0))
    assert answer(query) == [(10, 0, None)]
    append(engine, "bids", (5, 2))
    assert answer(query) == [(10, 0, None)]
    append(engine, "bids", (15, 4))
    assert answer(query) == [(10, 1, 4)]
    append(engine, "bids", (6, 8))
    assert answer(query) == [(10, 1, 4)]
