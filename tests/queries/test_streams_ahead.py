"""Joined streams of which one is so far ahead that no more of it is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from upstream import ContinuousQuery, Engine, ManualClock, Result
from upstream.queries.chunks import reading
from upstream.queries.evaluation import interval

EPOCHS = "SELECT a.v, b.v AS w FROM epochs(x, {x}) a JOIN epochs(y, {y}) b USING (k)"
BAND = "SELECT a.v, b.v AS w FROM x a JOIN y b ON a.k = b.k AND b.t BETWEEN a.t - 5 AND a.t + 5"
BY_TIME = EPOCHS.format(x="10", y="10")
ARRIVAL = "INTERVAL '10 seconds', by => arrival"
BY_ARRIVAL = EPOCHS.format(x=ARRIVAL, y=ARRIVAL)
QUERIES = [
    pytest.param(BY_TIME, None, id="by time"),
    pytest.param(BY_TIME, 5.0, id="by time, which silence ends"),
    pytest.param(BY_ARRIVAL, None, id="by arrival"),
    pytest.param(EPOCHS.format(x="rows => 3", y="rows => 1"), None, id="by count"),
    pytest.param(EPOCHS.format(x="by => t", y="by => t"), 5.0, id="by object"),
    pytest.param(BAND, None, id="interval"),
    pytest.param(BAND, 5.0, id="interval with silence"),
]
Rows = list[tuple[int, int]]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(reading, "MOST_AHEAD", 4)
    monkeypatch.setattr(interval, "MOST_AHEAD", 4)
    with made() as engine:
        yield engine


@pytest.fixture(scope="module")
def house() -> Iterator[Engine]:
    with made() as engine:
        yield engine


def made() -> Engine:
    engine = Engine(clock=ManualClock(1_000.0))
    for name in ("x", "y"):
        engine.sql(f"CREATE STREAM {name} (t BIGINT, k BIGINT, v BIGINT) TIME (t)")
    return engine


def advance(engine: Engine, seconds: float) -> None:
    clock = engine._clock
    assert isinstance(clock, ManualClock)
    clock.advance(seconds)


def append(engine: Engine, stream: str, *times: int) -> None:
    """Append rows whose values are their times."""
    engine.append(stream, {"t": times, "k": [0] * len(times), "v": times})


def pairs(query: ContinuousQuery) -> Rows:
    """Return the rows of the results that are due, which a second call has nothing to add to."""
    found = [tuple(row.values()) for each in query.results() for row in each.table.to_pylist()]
    assert query.results() == []
    return sorted(found)


@pytest.mark.parametrize(("sql", "close_after"), QUERIES)
def test_rows_that_waited_for_another_stream_are_read_when_it_has_caught_up(
    engine: Engine, sql: str, close_after: float | None
) -> None:
    query = engine.continuous_query(sql, close_after=close_after)
    for start in range(0, 80, 10):
        append(engine, "x", start, start, start)
        append(engine, "y", start)
        advance(engine, 10 if "arrival" in sql else 1)
    if close_after is not None:
        append(engine, "x", 90)
        append(engine, "y", 90)
    expected = [(start, start) for start in range(0, 80, 10) for _ in range(3)]
    if sql == BAND and close_after:
        expected.append((90, 90))
    elif sql == BY_TIME and close_after is None:
        expected = expected[:-3]
    assert pairs(query) == expected
    assert query.statistics().late_by_stream == {"x": 0, "y": 0}


@pytest.mark.parametrize("sql", [BY_TIME, BAND], ids=["epochs", "interval"])
def test_a_stream_whose_rows_wait_is_not_silent(engine: Engine, sql: str) -> None:
    query = engine.continuous_query(sql, close_after=5)
    append(engine, "y", 0)
    for start in range(0, 80, 10):
        append(engine, "x", start, start)
        append(engine, "y", 0)
        advance(engine, 1)
        pairs(query)
    for time in (50, 60, 70, 100):
        advance(engine, 1)
        append(engine, "y", time)
    append(engine, "x", 100)
    found = pairs(query)
    assert [(time, time) for time in (50, 60, 70) for _ in range(2)] == [
        each for each in found if 0 < each[0] < 100
    ]
    assert query.statistics().late_by_stream["x"] == 0


@pytest.mark.parametrize("sql", [BY_TIME, BAND], ids=["epochs", "interval"])
def test_the_engine_has_nothing_to_do_while_rows_wait_for_another_stream(
    engine: Engine, sql: str
) -> None:
    found: list[Result] = []
    query = engine.continuous_query(sql, callback=found.append)
    for start in range(0, 80, 10):
        append(engine, "x", start, start)
        engine.run(60)
    assert engine.run(60) == 0
    assert query.statistics().rows_waiting > 0
    append(engine, "y", 70, 80)
    assert engine.run(60) == 1
    append(engine, "x", 80)
    engine.run(60)
    assert query.statistics().rows_waiting == 0
    rows = [row for result in found for row in result.table.to_pylist() if row["v"] == 70]
    assert rows == [{"v": 70, "w": 70}] * 2


Steps = list[tuple[str, list[int], bool]]
steps = st.lists(
    st.tuples(st.sampled_from("xxy"), st.lists(st.integers(0, 6), max_size=6), st.booleans()),
    max_size=25,
)


@pytest.mark.parametrize(
    "sql", [BY_TIME, BAND, EPOCHS.format(x="rows => 2", y="rows => 2")], ids=["time", "band", "row"]
)
@given(steps=steps)
@example(steps=[("x", [1, 9, 1], True), ("x", [9, 9], False), ("y", [6, 9, 9], False)])
def test_how_far_streams_are_read_ahead_changes_no_answer(
    house: Engine, sql: str, steps: Steps
) -> None:
    limits = pytest.MonkeyPatch()
    with limits.context() as limited:
        limited.setattr(reading, "MOST_AHEAD", 3)
        limited.setattr(interval, "MOST_AHEAD", 3)
        answers = answers_to(house, sql, steps)
    assert answers == answers_to(house, sql, steps)


def answers_to(engine: Engine, sql: str, steps: Steps) -> Rows:
    """Return all rows that a new query gives; a stream's times go on from 0, and fall at times."""
    rows, newest = [], {"x": 0, "y": 0}
    with engine.continuous_query(sql) as query:
        for stream, gaps, has_results in steps:
            times = []
            for gap in gaps:
                newest[stream] += gap - 1
                times.append(newest[stream])
            append(engine, stream, *times)
            rows += pairs(query) if has_results else []
        return sorted(rows + pairs(query))


@pytest.mark.parametrize(("sql", "epochs"), [(BY_TIME, 3), (BAND, 0)], ids=["epochs", "interval"])
def test_append_reports_how_far_a_stream_is_ahead(engine: Engine, sql: str, epochs: int) -> None:
    query = engine.continuous_query(sql)
    append(engine, "y", 0)
    append(engine, "x", 0, 10, 20, 30)
    pairs(query)
    appended = engine.append("x", {"t": [30], "k": [0], "v": [0]})
    assert (appended, appended.rows_ahead, appended.epochs_ahead) == (1, 3, epochs)
    append(engine, "y", 30)
    pairs(query)
    assert appended.rows_ahead == appended.epochs_ahead == 0


@pytest.mark.parametrize("sql", [BY_TIME, BAND], ids=["epochs", "interval"])
def test_rows_are_not_held_back_where_the_wait_has_a_limit(engine: Engine, sql: str) -> None:
    query = engine.continuous_query(sql, close_after=5)
    for start in range(0, 80, 10):
        append(engine, "x", start, start)
        query.results()
    assert query.statistics().rows_waiting == 0
