"""The evaluation of a query over windows follows from its clauses and options."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from tests.queries.setting import append, given, make_streams
from upstream import Engine, ManualClock, UnboundedQueryError
from upstream.queries.evaluation.landmark import LandmarkEvaluation
from upstream.queries.evaluation.session import SessionEvaluation
from upstream.queries.evaluation.shared_windows import WindowsOfQuery
from upstream.queries.evaluation.windowed import WindowedEvaluation


@pytest.fixture
def engine(shared_engine: Engine) -> Engine:
    return shared_engine


@pytest.mark.parametrize(
    ("window", "kind"),
    [
        ("hop(bids, 20, 10)", WindowsOfQuery),
        ("rows(bids, 3)", WindowsOfQuery),
        ("hop(bids, INTERVAL 2 MINUTES, INTERVAL 1 MINUTE, by => arrival)", WindowedEvaluation),
        ("landmark(bids)", LandmarkEvaluation),
        ("landmark(bids, 10)", LandmarkEvaluation),
        ("session(bids, 10)", SessionEvaluation),
    ],
)
def test_each_kind_of_window_has_its_evaluation(engine: Engine, window: str, kind: type) -> None:
    query = engine.continuous_query(f"SELECT count(*) AS n FROM {window}")
    assert isinstance(query._evaluated._evaluation, kind)
    assert (query._evaluated._plan.reset is None) == (kind is not LandmarkEvaluation)


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("SELECT sum(x) FROM tumble(bids, 10)", "of up to 65,536 rows are evaluated in full"),
        (
            "WITH b AS (SELECT x FROM tumble(bids, 10)) SELECT sum(x) FROM b",
            "of up to 65,536 rows are evaluated in full",
        ),
        (
            "SELECT sum(x) FROM rows(bids, 65536, 65536)",
            "of up to 65,536 rows are evaluated in full",
        ),
        ("SELECT sum(x) FROM rows(bids, 65537, 65537)", "are evaluated incrementally"),
        ("SELECT sum(x) FROM tumble(bids, 10) JOIN names USING (k)", "are evaluated incrementally"),
        (
            "SELECT sum(b.x) FROM tumble(bids, 10) b JOIN hop(asks, 9, 3) a USING (k)",
            "of up to 4,096 rows are evaluated in full",
        ),
        (
            "SELECT sum(b.x) FROM tumble(bids, 10) b JOIN latest(asks) a USING (k)",
            "are evaluated incrementally",
        ),
    ],
)
def test_a_window_is_only_evaluated_whole_if_it_is_small_and_that_gives_the_same(
    engine: Engine, text: str, way: str
) -> None:
    assert f"windows {way}" in engine.continuous_query(text).explain()


def test_a_join_of_landmarks_is_refused_for_what_a_join_needs(engine: Engine) -> None:
    with pytest.raises(UnboundedQueryError, match="may join any of them"):
        engine.continuous_query("SELECT a.x FROM landmark(bids) b JOIN landmark(asks) a USING (k)")


def test_lateness_is_in_seconds_for_every_unit_of_time(engine: Engine) -> None:
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


@pytest.mark.parametrize(
    ("window", "start"),
    [
        ("rows(bids, 1)", 0),
        ("tumble(bids, 10)", 0),
        (
            "tumble(bids, INTERVAL '10 seconds', by => arrival)",
            datetime(1970, 1, 1),
        ),
    ],
    ids=["rows", "time", "arrival"],
)
def test_bounds_are_counts_times_or_moments(window: str, start: object) -> None:
    with Engine(clock=(clock := ManualClock())) as engine:
        make_streams(engine)
        query = engine.continuous_query(f"SELECT count(*) AS n FROM {window}")
        append(engine, "bids", (0, 1))
        clock.set(10)
        append(engine, "bids", (10, 1))
        assert query.results()[0].window_start == start


def test_months_are_those_of_the_zone_of_the_window(engine: Engine) -> None:
    engine.sql("CREATE STREAM visits (time TIMESTAMP, k TEXT) KEY (k)")
    query = engine.continuous_query(
        "SELECT count(*) AS n FROM tumble(visits, INTERVAL '1 month', zone => 'Europe/Berlin')"
    )
    times = [datetime(2026, 1, 31, 22, 59), datetime(2026, 1, 31, 23, 0), datetime(2026, 3, 31, 22)]
    engine.append("visits", {"time": times, "k": ["a"] * 3})
    assert [content for _, _, content in given(query.results())] == [1, 1, 0]
    [*_, last] = [each for each in [query.ask()] if each is not None]
    assert last.window_end == datetime(2026, 3, 31, 22)
