"""What `explain` says of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.queries.setting import append, make_streams
from upstream import ContinuousQuery, Engine, ManualClock
from upstream.queries.results.description import Description


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock(), stopwatch=ManualClock()) as engine:
        make_streams(engine)
        yield engine


def now(query: ContinuousQuery) -> str:
    return query.explain().splitlines()[-1]


@pytest.mark.parametrize(
    ("evaluation", "aggregate", "way"),
    [
        ("increments", "sum(x)", "by increments"),
        ("increments", "median(x)", "over kept rows"),
        ("whole", "sum(x)", "whole"),
        (
            "measured",
            "median(x)",
            "as is measured to be cheaper, whole or over kept rows, once there is a window",
        ),
    ],
)
def test_the_way_has_a_name_that_does_not_deny_the_parts(
    engine: Engine, evaluation: Any, aggregate: str, way: str
) -> None:
    query = engine.continuous_query(
        f"SELECT {aggregate} FROM tumble(bids, 10)", evaluation=evaluation
    )
    assert now(query) == f"windows are evaluated {way}"


def test_what_was_measured_is_said_once_there_was_a_window(engine: Engine) -> None:
    query = engine.continuous_query("SELECT sum(x) FROM tumble(bids, 10)")
    append(engine, "bids", (1, 1), (11, 2))
    query.results()
    measured = "(a window costs whole 0.00 ms)"
    instead = "at the moment, not in these parts"
    assert now(query) == f"windows are evaluated whole {measured} {instead}"


@pytest.mark.parametrize(
    ("text", "semantics"),
    [
        ("SELECT median(x) FROM latest(bids)", "append"),
        ("SELECT x FROM bids", "append"),
        ("SELECT k, x FROM bids", "update"),
    ],
)
def test_of_a_split_that_is_never_run_nothing_is_said(
    engine: Engine, text: str, semantics: Any
) -> None:
    query = engine.continuous_query(text, semantics=semantics)
    [line] = query.explain().splitlines()
    assert query._evaluation.describe() == Description(line, None)
    assert query.explain(sql=True).startswith(f"{line}\nwhole: SELECT ")


def test_a_query_that_is_evaluated_whole_has_no_parts_to_tell_of(engine: Engine) -> None:
    query = engine.continuous_query("SELECT sum(x) AS x FROM tumble(bids, 10)", evaluation="whole")
    assert query.explain(sql=True).splitlines() == [
        "windows are evaluated whole",
        "whole: SELECT SUM(x) AS x FROM bids",
    ]
