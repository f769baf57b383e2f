"""The description of an evaluation in `explain`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.queries.setting import append, make_streams, windows_of
from upstream import ContinuousQuery, Engine, ManualClock
from upstream.queries.results.answer import Description


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock(), stopwatch=ManualClock()) as engine:
        make_streams(engine)
        yield engine


def now(query: ContinuousQuery) -> str:
    return query.explain().splitlines()[-1]


UP_TO = "windows of up to 65,536 rows are evaluated in full, not in parts; larger ones "


@pytest.mark.parametrize(
    ("evaluation", "aggregate", "way"),
    [
        ("increments", "sum(x)", "windows are evaluated incrementally"),
        ("increments", "median(x)", "windows are evaluated over kept rows"),
        ("whole", "sum(x)", "windows are evaluated in full"),
        ("measured", "sum(x)", f"{UP_TO}incrementally"),
        ("measured", "median(x)", f"{UP_TO}over kept rows"),
    ],
)
def test_the_way_has_a_name_that_does_not_deny_the_parts(
    engine: Engine, evaluation: Any, aggregate: str, way: str
) -> None:
    query = engine.continuous_query(
        f"SELECT {aggregate} FROM tumble(bids, 10)", evaluation=evaluation
    )
    assert now(query) == way


def test_after_a_large_window_explain_says_how_the_next_ones_are_evaluated(engine: Engine) -> None:
    query = engine.continuous_query("SELECT sum(x) FROM tumble(bids, 10)")
    rows = 65_537
    engine.append("bids", {"time": [1] * rows, "k": ["a"] * rows, "x": [1] * rows})
    append(engine, "bids", (11, 2))
    query.results()
    assert now(query) == "windows are evaluated incrementally"


def test_explain_says_in_how_many_portions_the_open_chunk_is_evaluated(engine: Engine) -> None:
    query = engine.continuous_query("SELECT sum(x) FROM tumble(bids, 10)", evaluation="increments")
    windows_of(query)._portions.count = 2
    chunks = "; the open chunk is evaluated in 2 portions"
    assert now(query) == f"windows are evaluated incrementally{chunks}"


@pytest.mark.parametrize(
    ("text", "semantics"),
    [
        ("SELECT median(x) FROM latest(bids)", "append"),
        ("SELECT x FROM bids", "append"),
        ("SELECT k, x FROM bids", "update"),
    ],
)
def test_explain_omits_a_split_that_never_runs(engine: Engine, text: str, semantics: Any) -> None:
    query = engine.continuous_query(text, semantics=semantics)
    [line] = query.explain().splitlines()
    assert query._evaluated._evaluation.describe() == Description(line, None)
    assert query.explain(sql=True).startswith(f"{line}\nwhole: SELECT ")


def test_a_query_that_is_evaluated_whole_has_no_parts_to_tell_of(engine: Engine) -> None:
    query = engine.continuous_query("SELECT sum(x) AS x FROM tumble(bids, 10)", evaluation="whole")
    assert query.explain(sql=True).splitlines() == [
        "windows are evaluated in full",
        "whole: SELECT SUM(x) AS x FROM bids",
    ]
