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


# Epochs


IN_FULL = "epochs of up to 4,096 rows are evaluated in full, not in parts; larger ones "
CHUNK_BY_CHUNK = "  each chunk is evaluated once, and chunks are merged by a tree over the chunks, "
JOINED = "new rows are joined once with the held rows"
PORTIONS = "the open chunk is evaluated in 8 portions"
NOT_MATCHED = "LEFT JOIN: whether a row has no match depends on all rows"


def about_epochs(engine: Engine, text: str, **choices: Any) -> list[str]:
    """Return what explain says about epochs, after what is buffered and what they answer with."""
    about, answers, *lines = engine.continuous_query(text, **choices).explain().splitlines()
    assert about.startswith("epoch by epoch: ")
    assert answers.startswith("an epoch answers with ")
    return lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "SELECT median(x) AS m FROM epochs(bids, 10, keep => 3) ORDER BY m",
            [
                "recomputed for each epoch: median(x), from bids",
                "  rows are kept; median(x) needs every value, so it is recomputed for each epoch",
                f"{IN_FULL}over kept rows",
            ],
        ),
        (
            """SELECT k, sum(a.x) AS x FROM epochs(bids, 10) a
            JOIN epochs(asks, 10, keep => 3) b USING (k) GROUP BY k ORDER BY k""",
            [
                "incrementally: sum(a.x) by k, from a joined with b",
                f"  {JOINED}, and the final statement merges the partials of all chunks",
                "for each epoch: the rest of the query, over these results",
                f"{IN_FULL}incrementally",
            ],
        ),
        (
            "SELECT a.x FROM epochs(bids, 10, keep => 2) a LEFT JOIN epochs(asks, 10) b USING (k)",
            [
                "recomputed for each epoch: the whole query, from a and b",
                f"  rows are kept; {NOT_MATCHED}, so the query is recomputed for each epoch",
                f"{IN_FULL}over kept rows",
            ],
        ),
        (
            "SELECT 1 FROM epochs(bids, 9, keep => 2), epochs(asks, 9, keep => 2)",
            [f"epochs are evaluated by new pairs: {JOINED} of the other inputs; {PORTIONS}"],
        ),
        (
            "SELECT x FROM epochs(bids, rows => 10) ORDER BY x LIMIT 3",
            [
                "incrementally: the first rows, from bids",
                f"{CHUNK_BY_CHUNK}whose nodes are merged by concatenating rows",
                "  only the first rows of each chunk are kept, and sorted for each epoch",
                "for each epoch: the rest of the query, over these results",
                f"{IN_FULL}incrementally",
            ],
        ),
    ],
    ids=["recomputed", "aggregates of a join", "outer join", "new pairs", "first rows"],
)
def test_explain_speaks_of_epochs_where_a_query_is_over_epochs(
    engine: Engine, text: str, lines: list[str]
) -> None:
    found = about_epochs(engine, text)
    assert found == lines
    assert "window" not in " ".join(found)


def test_explain_speaks_of_epochs_whichever_way_is_chosen(engine: Engine) -> None:
    text = "SELECT sum(x) AS x FROM epochs(bids, 10)"
    assert about_epochs(engine, text, evaluation="whole") == ["epochs are evaluated in full"]
    assert about_epochs(engine, text, evaluation="increments")[-1] == (
        "epochs are evaluated incrementally; the open chunk is evaluated in 8 portions"
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("moments, INTERVAL '5 minutes'", "every 5 minutes of t"),
        ("moments, INTERVAL '1 minute'", "every minute of t"),
        ("moments, INTERVAL '90 seconds'", "every 90 seconds of t"),
        ("moments, INTERVAL '1 second'", "every second of t"),
        ("moments, INTERVAL '1 ms'", "every 0.001 seconds of t"),
        ("moments, INTERVAL '3 hours', by => arrival", "every 3 hours of arrival"),
        ("moments, INTERVAL '24 hours'", "every day of t"),
        ("moments, INTERVAL '2 weeks'", "every 14 days of t"),
        ("moments, INTERVAL '1 month'", "every month of t"),
        ("moments, INTERVAL '1 quarter'", "every 3 months of t"),
        ("moments, INTERVAL '1 year'", "every year of t"),
        ("bids, 300", "every 300 of time"),
        ("bids, rows => 1", "every row"),
        ("bids, rows => 1000", "every 1,000 rows"),
    ],
)
def test_explain_says_where_epochs_are_cut_in_the_largest_unit(
    engine: Engine, call: str, words: str
) -> None:
    engine.sql("CREATE STREAM moments (t TIMESTAMP) TIME (t)")
    query = engine.continuous_query(f"SELECT count(*) AS n FROM epochs({call})")
    stream = call.partition(",")[0]
    about = query.explain().splitlines()[0]
    assert about == f"epoch by epoch: {stream} cut {words}, the current chunk is kept"
