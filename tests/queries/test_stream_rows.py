"""Deletions as the readers of a stream see them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.queries.setting import append, asked, make_streams, rows_of
from tests.queries.setting import given as results_of
from upstream import (
    TOMBSTONE,
    Engine,
    InPlaceScheduler,
    ManualClock,
    ParameterError,
    StreamTypeError,
    UnknownNameError,
    UpdateQueue,
)
from upstream.database.duck import Duck
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables import engine_stream


def test_delete_takes_keys_in_any_form_of_data(engine: Engine) -> None:
    append(engine, "bids", (1, 1, "a"), (1, 2, "b"), (1, 3, "c"), (1, 4, "d"))
    assert engine.delete("bids", {"k": ["a", "unknown"]}) == 2
    assert engine.delete("BIDS", [{"k": "b"}]) == 1
    assert engine.delete("bids", engine.sql("SELECT 'd' AS K")) == 1
    assert engine.delete("bids", []) == 0
    assert engine.sql("SELECT k FROM bids")["k"].to_pylist() == ["c"]


def test_keys_that_do_not_fit_are_refused_and_nothing_is_deleted(engine: Engine) -> None:
    append(engine, "bids", (1, 1, "a"))
    for keys in ({"x": [1]}, {"k": [None]}, {"k": ["a"], "time": [1]}, {"k": [1]}):
        with pytest.raises(StreamTypeError):
            engine.delete("bids", keys)
    with pytest.raises(UnknownNameError):
        engine.delete("nothing", {"k": ["a"]})
    engine.sql("CREATE STREAM beats (n BIGINT)")
    with pytest.raises(ParameterError, match="DELETE FROM"):
        engine.delete("beats", {"n": [1]})
    assert engine.sql("FROM bids").num_rows == 1


def test_an_aggregate_over_the_newest_rows_is_evaluated_anew(engine: Engine) -> None:
    query = engine.continuous_query("SELECT sum(x) AS x FROM latest(bids)")
    append(engine, "bids", (1, 1, "a"), (1, 10, "b"))
    assert results_of(query.results()) == [(None, None, 11)]
    engine.delete("bids", {"k": ["b"]})
    assert query.is_due()
    assert results_of(query.results()) == [(None, None, 1)]
    assert not query.is_due()
    assert query.results() == []
    counts = query.statistics()
    assert (counts.rows_read, counts.rows_deleted, counts.rows_held) == (2, 1, 1)
    assert counts.rows_waiting == 0


def test_a_deletion_of_several_rows_of_each_key(engine: Engine) -> None:
    query = engine.continuous_query("SELECT k, sum(x) AS x FROM latest(bids, rows => 2) GROUP BY k")
    append(engine, "bids", (1, 1, "a"), (2, 2, "a"), (3, 4, "a"), (1, 8, "b"))
    engine.sql("DELETE FROM bids WHERE x = 4")
    assert [rows_of(each) for each in query.results()] == [[("b", 8)]]
    append(engine, "bids", (0, 16, "a"))
    assert [rows_of(each) for each in query.results()] == [[("a", 16), ("b", 8)]]


def test_a_deleted_key_is_in_no_further_result_of_its_own_and_is_no_news(engine: Engine) -> None:
    query = engine.continuous_query("SELECT k, x FROM bids", semantics="update")
    append(engine, "bids", (1, 1, "a"), (1, 2, "b"))
    engine.delete("bids", {"k": ["a"]})
    assert [rows_of(each) for each in query.results()] == [[("b", 2)]]
    engine.delete("bids", {"k": ["b"]})
    assert query.results() == []
    assert not query.is_due()
    assert rows_of(asked(query)) == []
    append(engine, "bids", (0, 3, "b"))
    assert [rows_of(each) for each in query.results()] == [[("b", 3)]]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT k, x FROM bids",
        "SELECT count(*) AS n FROM tumble(bids, 10)",
        "SELECT count(*) AS n FROM rows(bids, 2)",
        "SELECT count(*) AS n FROM landmark(bids)",
        "SELECT count(*) AS n FROM session(bids, 3)",
    ],
)
def test_readers_of_rows_do_not_notice_deletions(engine: Engine, text: str) -> None:
    query = engine.continuous_query(text)
    with Engine(clock=ManualClock()) as other:
        make_streams(other)
        beside = other.continuous_query(text)
        for time in (1, 2, 12, 23, 24):
            for each in (engine, other):
                append(each, "bids", (time, time, "a"))
            engine.delete("bids", {"k": ["a"]})
            assert [*map(rows_of, query.results())] == [*map(rows_of, beside.results())]
            assert not query.is_due()
        counts, expected = query.statistics(), beside.statistics()
        assert (counts.rows_read, counts.rows_waiting) == (expected.rows_read, 0) == (5, 0)
    engine.sql("FROM bids")
    log = engine._catalogue.streams["bids"].log
    assert (log.stored_rows, log.deletions) == (0, [])


def test_a_row_meets_no_deleted_row(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT b.x, a.x AS y FROM bids b JOIN latest(asks) a USING (k)"
    )
    append(engine, "asks", (1, 10, "a"), (1, 20, "b"))
    append(engine, "bids", (1, 1, "a"), (1, 2, "b"))
    assert [rows_of(each) for each in query.results()] == [[(1, 10), (2, 20)]]
    engine.delete("asks", {"k": ["a"]})
    append(engine, "bids", (2, 3, "a"), (2, 4, "b"))
    assert [rows_of(each) for each in query.results()] == [[(4, 20)]]


def test_plans_get_a_tombstone_that_is_never_late(engine: Engine) -> None:
    append(engine, "bids", (5, 1, "a"), (6, 2, "b"))
    stream = engine.stream("bids")
    queue = UpdateQueue(InPlaceScheduler())
    stream.attach(queue)
    append(engine, "bids", (7, 3, "a"))
    engine.delete("bids", {"k": ["a", "unknown", "a"]})
    update = queue.dequeue()
    assert update is not None
    assert (update.key, update.value, update.time) == ("a", TOMBSTONE, 7.0)
    queue.deliver(update)
    assert stream.newest_time("a") is None
    assert stream.newest_time("b") == 6.0
    append(engine, "bids", (1, 4, "a"))
    update = queue.dequeue()
    assert update is not None
    assert (update.key, update.time) == ("a", 1.0)


def test_keys_expire_by_the_clock_of_the_engine(engine: Engine, clock: ManualClock) -> None:
    text = "SELECT count(*) AS n FROM latest(bids, expire_after => INTERVAL '10 seconds')"
    query = engine.continuous_query(text)
    append(engine, "bids", (1, 1, "a"), (1, 2, "b"))
    assert results_of(query.results()) == [(None, None, 2)]
    clock.advance(6)
    append(engine, "bids", (2, 1, "a"))
    assert results_of(query.results()) == [(None, None, 2)]
    clock.advance(3.5)
    assert not query.is_due()
    clock.advance(0.5)
    assert query.is_due()
    [result] = query.results()
    assert (rows_of(result), result.staleness) == ([(1,)], 0.0)
    clock.advance(10)
    assert results_of(query.results()) == [(None, None, 0)]
    assert query.statistics().rows_expired == 2
    clock.advance(100)
    assert not query.is_due()
    append(engine, "bids", (0, 1, "a"))
    assert results_of(query.results()) == [(None, None, 1)]


def test_a_row_meets_no_expired_row(engine: Engine, clock: ManualClock) -> None:
    latest = "latest(asks, rows => 2, expire_after => INTERVAL '1 minute')"
    query = engine.continuous_query(f"SELECT b.x, a.x AS y FROM bids b JOIN {latest} a USING (k)")
    append(engine, "asks", (1, 10, "a"), (2, 11, "a"), (1, 20, "b"))
    clock.advance(30)
    append(engine, "asks", (2, 21, "b"))
    append(engine, "bids", (1, 1, "a"))
    assert [rows_of(each) for each in query.results()] == [[(1, 10), (1, 11)]]
    clock.advance(30)
    append(engine, "bids", (2, 2, "a"), (2, 3, "b"))
    assert [rows_of(each) for each in query.results()] == [[(3, 20), (3, 21)]]


def test_a_view_follows_deletions_and_expiry(engine: Engine, clock: ManualClock) -> None:
    append(engine, "bids", (1, 1, "a"), (1, 2, "b"))
    engine.sql("CREATE VIEW sums AS SELECT sum(x) AS x FROM latest(bids)")
    expiring = "latest(bids, expire_after => INTERVAL '1 minute')"
    engine.sql(f"CREATE VIEW fresh AS SELECT count(*) AS n FROM {expiring}")
    engine.sql("CREATE VIEW above AS SELECT n + 1 AS n FROM fresh")
    assert engine.sql("FROM sums").to_pylist() == [{"x": 3}]
    engine.delete("bids", {"k": ["a"]})
    assert engine.sql("FROM sums").to_pylist() == [{"x": 2}]
    assert engine.sql("FROM above").to_pylist() == [{"n": 2}]
    clock.advance(60)
    assert engine.sql("FROM above").to_pylist() == [{"n": 1}]
    assert engine.sql("FROM fresh").to_pylist() == [{"n": 0}]
    assert engine.sql("FROM sums").to_pylist() == [{"x": 2}]


def test_many_deletions_are_read_before_too_many_are_stored(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_stream, "_BACKLOG_BATCHES", 50)
    query = engine.continuous_query("SELECT count(*) AS n FROM latest(bids)")
    for number in range(120):
        append(engine, "bids", (number, 1, f"k{number}"))
        engine.delete("bids", {"k": [f"k{number}"]})
    log = engine._catalogue.streams["bids"].log
    assert len(log.deletions) <= 51
    assert [rows_of(each) for each in query.results()][-1:] == [[(0,)]]
    assert engine.sql("FROM bids").num_rows == 0


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 9), st.sampled_from("abcd"), st.integers(0, 5)),
        st.sampled_from(["x = 1", "x > 3", "k < 'c'", "time >= 5", "read"]),
    ),
    max_size=14,
)


@given(actions=ACTIONS)
@settings(max_examples=30)
def test_the_newest_rows_of_queries_and_views_are_those_of_the_stream(
    actions: list[tuple[int, str, int] | str],
) -> None:
    clock = ManualClock()
    with Engine(clock=clock) as engine:
        make_streams(engine)
        texts = {
            "SELECT k, x FROM latest(bids)": "SELECT k, x FROM bids",
            "SELECT count(*) AS n FROM latest(bids)": "SELECT count(*) FROM bids",
        }
        queries = {engine.continuous_query(text): same for text, same in texts.items()}
        engine.sql("CREATE VIEW kept AS SELECT k, max(x) AS x FROM latest(bids) GROUP BY k")
        for action in actions:
            if isinstance(action, tuple):
                time, key, number = action
                append(engine, "bids", (time, number, key))
            elif action != "read":
                engine.sql(f"DELETE FROM bids WHERE {action}")
            if action == "read":
                engine.run(1.0)
            for query, same in queries.items():
                found = sorted(map(repr, rows_of(asked(query))))
                expected = engine.sql(same).to_pylist()
                assert found == sorted(repr(tuple(row.values())) for row in expected)
            view = engine.sql("FROM kept ORDER BY k").to_pylist()
            assert view == engine.sql("SELECT k, x FROM bids ORDER BY k").to_pylist()
        [counts, _] = [query.statistics() for query in queries]
        lost = counts.rows_superseded + counts.rows_late + counts.rows_deleted
        assert counts.rows_read == lost + counts.rows_held


def test_what_was_read_of_a_file_is_gone_after_an_interruption(
    engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("1,a,1,x\n2,b,2,y\n", encoding="utf-8")
    for owner, name in ((Duck, "run_as_written"), (StreamDefinition, "conform")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                engine.sql(f"COPY bids FROM '{path}'")
        assert engine.sql("SHOW TABLES")["name"].to_pylist() == ["asks", "bids"]
        assert engine.sql("FROM bids").num_rows == 0
    assert engine.sql(f"COPY bids FROM '{path}'").to_pydict() == {"Count": [2]}
    assert engine.sql("FROM bids").num_rows == 2


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt
