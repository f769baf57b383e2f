"""Which evaluation a query gets, and which queries get none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from sqlglot import exp, parse_one

from tests.queries.setting import append, given, make_streams
from upstream import (
    Engine,
    ManualClock,
    UnboundedQueryError,
    UpStreamError,
    WindowError,
)
from upstream.queries.evaluation.planning import renamed_tables


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        engine.sql("CREATE STREAM moments (time TIMESTAMP, k TEXT) KEY (k)")
        engine.create_table("names", {"k": ["a"], "name": ["Ada"]})
        yield engine


@pytest.fixture
def engine(shared_engine: Engine) -> Iterator[Engine]:
    """The engine that all tests here have in common: none looks at what came before it."""
    yield shared_engine
    for query in shared_engine.queries:
        query.close()


@pytest.mark.parametrize(
    ("text", "semantics", "words"),
    [
        ("SELECT sum(x) FROM tumble(bids, 10)", "append", "windows are evaluated"),
        ("SELECT sum(x) FROM rows(bids, 10, 5)", "update", "windows are evaluated"),
        ("SELECT sum(x) FROM landmark(bids)", "append", "since the landmark"),
        ("SELECT sum(x) FROM latest(bids)", "append", "the newest rows of all keys"),
        ("SELECT sum(x) FROM bids", "update", "the newest rows of all keys"),
        ("SELECT k, x FROM bids", "update", "the newest rows of keys with news"),
        ("SELECT k, x FROM bids", "append", "nothing is remembered"),
        ("SELECT b.x FROM bids b JOIN latest(asks) a USING (k)", "append", "nothing is remembered"),
        ("SELECT 1 FROM tumble(bids, 10) JOIN latest(asks) USING (k)", "append", "windows are"),
    ],
)
def test_windows_and_semantics_say_how_a_query_is_evaluated(
    engine: Engine, text: str, semantics: Any, words: str
) -> None:
    assert words in engine.continuous_query(text, semantics=semantics).explain()


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("SELECT sum(x) FROM tumble(bids, 10)", "as is measured"),
        ("WITH b AS (SELECT x FROM tumble(bids, 10)) SELECT sum(x) FROM b", "as is measured"),
        ("SELECT sum(x) FROM rows(bids, 65536, 65536)", "as is measured"),
        ("SELECT sum(x) FROM rows(bids, 65537, 65537)", "by increments"),
        ("SELECT sum(x) FROM tumble(bids, 10) JOIN names USING (k)", "by increments"),
        ("SELECT sum(b.x) FROM tumble(bids, 10) b JOIN latest(asks) a USING (k)", "by increments"),
    ],
)
def test_a_window_is_only_evaluated_whole_if_that_can_be_cheap_and_gives_the_same(
    engine: Engine, text: str, way: str
) -> None:
    assert f"windows are evaluated {way}" in engine.continuous_query(text).explain()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM tumble(bids, 10) a JOIN tumble(asks, 20) b USING (k)",
        "SELECT 1 FROM hop(bids, 10, 5) a JOIN tumble(asks, 10) b USING (k)",
        "SELECT 1 FROM tumble(bids, 10) a JOIN rows(asks, 10, 10) b USING (k)",
        "SELECT 1 FROM tumble(bids, 10) a JOIN landmark(asks) b USING (k)",
        "SELECT 1 FROM tumble(bids, 10) a JOIN tumble(moments, INTERVAL '10 us') b USING (k)",
    ],
)
def test_windows_that_are_not_closed_together_are_refused(engine: Engine, text: str) -> None:
    with pytest.raises(WindowError, match="one size and slide"):
        engine.continuous_query(text)


def test_windows_of_one_size_and_slide_may_be_named_differently(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT count(*) AS n FROM tumble(bids, 10) a JOIN hop(asks, 10, 10) b USING (k)"
    )
    append(engine, "bids", (1,), (10,))
    append(engine, "asks", (1,), (10,))
    assert given(query.results()) == [(0, 10, 1)]


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("SELECT sum(x) FROM rows(bids, 10, 5)", {"allowed_lateness": 1}),
        ("SELECT sum(x) FROM rows(bids, 10, 5)", {"close_after": 1}),
        ("SELECT sum(x) FROM landmark(bids)", {"allowed_lateness": 1}),
        ("SELECT sum(x) FROM landmark(bids)", {"close_after": 1}),
        (
            "SELECT sum(x) FROM tumble(bids, INTERVAL '1 second', by => arrival)",
            {"allowed_lateness": 1},
        ),
        (
            "SELECT sum(x) FROM tumble(bids, INTERVAL '1 second', by => arrival)",
            {"close_after": 1},
        ),
        ("SELECT x FROM bids", {"allowed_lateness": 1}),
        ("SELECT sum(x) FROM latest(bids)", {"close_after": 1}),
    ],
)
def test_what_a_window_cannot_have_is_refused(
    engine: Engine, text: str, choices: dict[str, Any]
) -> None:
    [name] = choices
    with pytest.raises(WindowError, match=name):
        engine.continuous_query(text, **choices)


def test_a_join_of_landmarks_is_refused_for_what_a_join_needs(engine: Engine) -> None:
    with pytest.raises(UnboundedQueryError, match="may join any of them"):
        engine.continuous_query(
            "SELECT count(*) AS n FROM landmark(bids) b JOIN landmark(asks) a USING (k)"
        )


UNBOUNDED = [
    "SELECT sum(x) FROM bids",
    "SELECT DISTINCT x FROM bids",
    "SELECT b.x FROM bids b JOIN asks a USING (k)",
    "SELECT x FROM landmark(bids)",
    "SELECT median(x) FROM landmark(bids)",
    "SELECT b.x FROM tumble(bids, 10) b JOIN asks a USING (k)",
]


@pytest.mark.parametrize("text", UNBOUNDED)
def test_what_would_keep_all_rows_is_refused_with_what_to_do_instead(
    engine: Engine, text: str
) -> None:
    with pytest.raises(UnboundedQueryError) as caught:
        engine.continuous_query(text)
    assert text in str(caught.value)
    assert caught.value.hint
    assert_nothing_is_stored(engine)


def test_nothing_is_stored_for_a_query_that_was_refused(engine: Engine) -> None:
    with pytest.raises(UpStreamError):
        engine.continuous_query("SELECT x FROM tumble(bids, 10), rows(asks, 5, 5)")
    assert_nothing_is_stored(engine)


def assert_nothing_is_stored(engine: Engine) -> None:
    """Fail if somebody still reads the streams, beside the engine itself."""
    for stream in ("bids", "asks"):
        append(engine, stream, (1,), (2,))
        engine.sql(f"SELECT * FROM {stream}")
        assert engine._streams[stream].log.stored_rows == 0


def test_lateness_is_in_seconds_whatever_the_unit_of_time(engine: Engine) -> None:
    # row      00:00:10
    # late     00:00:08.5   00:00:08.4      1.5 s are allowed
    engine.sql("CREATE STREAM instants (time TIMESTAMP_MS, k TEXT) KEY (k)")
    query = engine.continuous_query(
        "SELECT count(*) AS n FROM tumble(instants, INTERVAL '1 second')",
        allowed_lateness=timedelta(seconds=1.5),
    )
    midnight = datetime(2026, 1, 2)
    times = [midnight + timedelta(seconds=each) for each in (10, 8.5, 8.4)]
    engine.append("instants", {"time": times, "k": ["a"] * 3})
    assert [content for _, _, content in given(query.results())] == [1, 0]
    assert query.statistics().rows_late == 1


def test_lateness_over_days_is_in_seconds_too(engine: Engine) -> None:
    engine.sql("CREATE STREAM days (time DATE, k TEXT) KEY (k) TIME (time)")
    query = engine.continuous_query(
        "SELECT count(*) AS n FROM tumble(days, INTERVAL '1 day')",
        allowed_lateness=timedelta(days=2),
    )
    times = [date(2026, 1, day) for day in (10, 8, 7)]
    engine.append("days", {"time": times, "k": ["a"] * 3})
    assert given(query.results()) == [
        (date(2026, 1, 8), date(2026, 1, 9), 1),
        (date(2026, 1, 9), date(2026, 1, 10), 0),
    ]
    assert query.statistics().rows_late == 1


def test_bounds_are_of_the_type_of_the_time(engine: Engine) -> None:
    engine.sql("CREATE STREAM readings (time DOUBLE, k TEXT) KEY (k) TIME (time)")
    query = engine.continuous_query(
        "SELECT count(*) AS n FROM tumble(readings, INTERVAL '0.5 seconds')"
    )
    engine.append("readings", {"time": [-0.25, 0.25, 1.0], "k": ["a"] * 3})
    assert given(query.results()) == [(-0.5, 0.0, 1), (0.0, 0.5, 1), (0.5, 1.0, 0)]


def test_tables_get_other_names_and_keep_what_the_query_calls_them() -> None:
    text = "SELECT chunk_1.x, b.y FROM chunk_1, chunk_0 AS b, other, db.chunk_0"
    query = parse_one(text, dialect="duckdb")
    assert isinstance(query, exp.Query)
    renamed = renamed_tables(query, {"chunk_0": "lent_7", "chunk_1": "chunk_0"})
    assert renamed.sql("duckdb") == (
        'SELECT chunk_1.x, b.y FROM "chunk_0" AS "chunk_1", "lent_7" AS b, other, db.chunk_0'
    )
    assert query.sql("duckdb") == text
