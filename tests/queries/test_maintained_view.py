"""A view takes rows in when that is worth while, and its result may be as old as it is allowed."""

from __future__ import annotations

import pytest

from tests.queries.setting import append, make_streams
from upstream import Engine, ManualClock
from upstream.errors import ClosedError, QueryError, QuerySyntaxError
from upstream.queries import maintained_view as module
from upstream.queries.maintained_view import MaintainedView

SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"


def made(engine: Engine, options: str = "", query: str = SUMS, name: str = "v") -> MaintainedView:
    engine.sql(f"CREATE VIEW {name} {options} AS {query}")
    return engine._catalogue.views[name]


def stale(engine: Engine, seconds: float = 5.0, name: str = "v") -> MaintainedView:
    """Make a view whose result may be so old."""
    return made(engine, f"WITH (max_staleness = INTERVAL '{seconds} seconds')", name=name)


def result(view: MaintainedView) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in view.table().to_pylist()]


def read(view: MaintainedView, times: int) -> None:
    for _ in range(times):
        view.table()


def make_eager(engine: Engine, view: MaintainedView, reads: int = 100) -> None:
    """Read a view often after each refresh, until it is read often enough on average."""
    append(engine, "bids", (0, 0))
    read(view, reads)
    append(engine, "bids", (0, 0))
    view.table()
    assert view.view_statistics().reads_per_refresh >= module._EAGER_READS


# Reads and refreshes


def test_reads_and_refreshes_are_counted(engine: Engine) -> None:
    view = made(engine)
    read(view, 3)
    append(engine, "bids", (1, 5))
    append(engine, "bids", (2, 5))
    read(view, 4)
    counts = view.view_statistics()
    assert (counts.name, counts.reads, counts.refreshes, counts.rows_read) == ("v", 7, 2, 2)


def test_reads_through_sql_and_by_other_views_count(engine: Engine) -> None:
    view = made(engine)
    made(engine, query="SELECT max(n) AS m FROM v", name="above")
    engine.sql("FROM v")
    engine.view("v").table()
    engine.sql("FROM above")
    assert view.view_statistics().reads == 3


def test_reads_per_refresh_follow_the_last_refreshes(engine: Engine) -> None:
    view = made(engine)
    averages = []
    for number in range(30):
        append(engine, "bids", (number, 1))
        read(view, 4)
        averages.append(view.view_statistics().reads_per_refresh)
    assert averages == sorted(averages)
    assert averages[-1] == pytest.approx(4.0, abs=0.1)
    for number in range(30):
        append(engine, "bids", (number, 1))
        read(view, 1)
    assert view.view_statistics().reads_per_refresh == pytest.approx(1.0, abs=0.1)


# Who takes rows in


def test_a_view_that_is_read_seldom_leaves_rows_to_its_readers(engine: Engine) -> None:
    view = made(engine)
    for number in range(5):
        append(engine, "bids", (number, 1))
        read(view, 3)
    append(engine, "bids", (9, 1))
    counts = view.view_statistics()
    assert (counts.rows_waiting, counts.refreshes) == (1, 5)
    assert not view.wants_upkeep()


def test_a_view_that_is_read_ten_times_per_refresh_is_refreshed_by_append(engine: Engine) -> None:
    view = made(engine)
    make_eager(engine, view)
    before = view.view_statistics().refreshes
    append(engine, "bids", (9, 7))
    counts = view.view_statistics()
    assert (counts.rows_waiting, counts.refreshes) == (0, before + 1)
    assert result(view) == [("a", 7)]
    assert view.view_statistics().refreshes == before + 1


def test_a_view_that_is_not_read_any_more_is_left_to_its_readers_again(engine: Engine) -> None:
    view = made(engine)
    make_eager(engine, view)
    for number in range(20):
        append(engine, "bids", (number, 1))
    counts = view.view_statistics()
    assert counts.reads_per_refresh < module._EAGER_READS
    assert counts.rows_waiting > 0
    assert result(view) == [("a", 20)]


def test_append_takes_many_rows_in_without_computing_the_result(engine: Engine) -> None:
    view = made(engine)
    view.table()
    append(engine, "bids", *[(0, 1)] * (module._MANY_ROWS - 1))
    assert view.view_statistics().rows_waiting == module._MANY_ROWS - 1
    append(engine, "bids", (0, 1))
    counts = view.view_statistics()
    assert (counts.rows_waiting, counts.refreshes) == (0, 1)
    assert result(view) == [("a", module._MANY_ROWS)]


def test_an_append_to_another_stream_takes_nothing_in(engine: Engine) -> None:
    view = made(engine)
    make_eager(engine, view)
    refreshes = view.view_statistics().refreshes
    append(engine, "asks", (1, 5))
    assert view.view_statistics().refreshes == refreshes


def test_an_error_of_an_eager_view_is_left_to_its_reader(engine: Engine) -> None:
    view = made(engine, query="SELECT sum(x) AS n FROM bids")
    make_eager(engine, view)
    append(engine, "bids", (1, 2**63 - 1), (1, 1))
    assert view.view_statistics().rows_waiting == 0
    with pytest.raises(QueryError, match="64 bits"):
        view.table()
    append(engine, "bids", (2, -1))
    assert result(view) == [(2**63 - 1,)]


# Staleness


def test_the_last_result_is_given_while_the_row_that_it_lacks_is_young(
    engine: Engine, clock: ManualClock
) -> None:
    view = stale(engine)
    append(engine, "bids", (1, 5))
    first = view.table()
    clock.advance(100.0)
    append(engine, "bids", (2, 7))
    clock.advance(3.0)
    append(engine, "bids", (3, 1))
    clock.advance(1.9)
    assert view.table() is first
    assert engine.sql("SELECT n FROM v").to_pylist() == [{"n": 5}]
    clock.advance(0.1)
    assert result(view) == [("a", 13)]


def test_rows_that_were_taken_in_make_the_last_result_stale(
    engine: Engine, clock: ManualClock
) -> None:
    view = stale(engine)
    first = view.table()
    append(engine, "bids", (1, 5))
    view.evaluate()
    clock.advance(4.9)
    append(engine, "bids", (2, 7))
    assert view.table() is first
    assert view.is_due()
    clock.advance(0.1)
    assert result(view) == [("a", 12)]
    append(engine, "bids", (3, 1))
    clock.advance(4.9)
    assert result(view) == [("a", 12)]


def test_a_result_of_another_view_that_is_older_than_its_last_one_may_be_stale(
    engine: Engine, clock: ManualClock
) -> None:
    below = made(engine, name="below")
    view = made(
        engine, "WITH (max_staleness = INTERVAL '5 seconds')", "SELECT sum(n) AS n FROM below"
    )
    view.table()
    append(engine, "bids", (1, 5))
    below.evaluate()
    assert result(view) == [(None,)]
    clock.advance(4.0)
    below.table()
    clock.advance(3.0)
    append(engine, "bids", (2, 7))
    assert result(view) == [(12,)]


def test_rows_that_wait_for_a_query_that_fills_a_stream_are_lacking_too(
    engine: Engine, clock: ManualClock
) -> None:
    engine.sql("CREATE STREAM means KEY (k) WITH (semantics = 'update') AS SELECT k, x FROM bids")
    counts = "SELECT (SELECT count(*) FROM means) AS m, (SELECT count(*) FROM asks) AS n"
    view = made(engine, "WITH (max_staleness = INTERVAL '5 seconds')", counts)
    assert result(view) == [(0, 0)]
    append(engine, "bids", (1, 5))
    clock.advance(3.0)
    append(engine, "asks", (1, 5))
    assert result(view) == [(0, 0)]
    assert view.is_due()
    clock.advance(2.0)
    assert result(view) == [(1, 1)]
    assert not view.is_due()


def test_the_first_result_is_never_stale(engine: Engine) -> None:
    view = stale(engine)
    append(engine, "bids", (1, 5))
    assert result(view) == [("a", 5)]


def test_without_rows_that_wait_the_result_is_current(engine: Engine, clock: ManualClock) -> None:
    view = stale(engine)
    append(engine, "bids", (1, 5))
    first = view.table()
    clock.advance(100.0)
    assert view.table() is first
    assert not view.is_due()


def test_without_an_option_every_result_is_current(engine: Engine) -> None:
    view = made(engine)
    for number in range(1, 4):
        append(engine, "bids", (number, 1))
        assert result(view) == [("a", number)]
    assert not view.is_due()


def test_the_engine_refreshes_a_view_before_it_is_too_stale(
    engine: Engine, clock: ManualClock
) -> None:
    view = stale(engine)
    view.table()
    append(engine, "bids", (1, 5))
    clock.advance(2.4)
    assert engine.run(1.0) == 0
    clock.advance(0.1)
    assert engine.run(1.0) == 1
    assert view.view_statistics().refreshes == 2
    clock.advance(2.4)
    assert result(view) == [("a", 5)]
    assert engine.run(1.0) == 0


def test_of_equally_stale_views_the_most_read_is_refreshed_first(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(clock=clock, stopwatch=ManualClock())  # all views cost the same
    make_streams(engine)
    views = {name: stale(engine, name=name) for name in ("seldom", "often", "never")}
    for _ in range(4):
        append(engine, "bids", (1, 1))
        clock.advance(5.0)
        engine.run(1.0)
        read(views["often"], 9)
        read(views["seldom"], 2)
    order: list[str] = []
    run = MaintainedView.run

    def noted(view: MaintainedView) -> None:
        order.append(view.name)
        run(view)

    monkeypatch.setattr(MaintainedView, "run", noted)
    append(engine, "bids", (1, 1))
    clock.advance(3.0)
    assert engine.run(1.0) == 3
    assert order == ["often", "seldom", "never"]
    engine.close()


def test_an_error_in_a_run_is_left_to_the_reader(engine: Engine, clock: ManualClock) -> None:
    option = "WITH (max_staleness = INTERVAL '5 seconds')"
    view = made(engine, option, "SELECT sum(x) AS n FROM bids")
    view.table()
    append(engine, "bids", (1, 2**63 - 1), (1, 1))
    clock.advance(5.0)
    assert engine.run(1.0) == 1
    with pytest.raises(QueryError, match="64 bits"):
        view.table()


def test_a_closed_view_has_no_result_and_is_never_due(engine: Engine, clock: ManualClock) -> None:
    view = stale(engine)
    view.table()
    append(engine, "bids", (1, 5))
    engine.sql("DROP VIEW v")
    clock.advance(3.0)
    assert not view.is_due()
    with pytest.raises(ClosedError):
        view.table()


@pytest.mark.parametrize("value", ["5", "'soon'", "true"])
def test_a_staleness_is_a_length_of_time(engine: Engine, value: str) -> None:
    with pytest.raises(QuerySyntaxError, match="max_staleness is a length of time") as caught:
        engine.sql(f"CREATE VIEW v WITH (max_staleness = {value}) AS {SUMS}")
    assert caught.value.hint == "write max_staleness = INTERVAL '5 seconds'"
    assert "v" not in engine.views


@pytest.mark.timeout(30)
def test_what_reads_a_stale_view_is_not_served_again_and_again(
    engine: Engine, clock: ManualClock
) -> None:
    stale(engine)
    query = engine.continuous_query("SELECT a.x, v.n FROM asks AS a JOIN v ON v.k = a.k")
    append(engine, "bids", (1, 5))
    append(engine, "asks", (1, 1))
    engine.run(1.0)
    assert [each.table.to_pylist() for each in query.results()] == [[{"x": 1, "n": 5}]]
    clock.advance(1.0)
    append(engine, "bids", (2, 5))
    assert engine.run(1.0) < 3
