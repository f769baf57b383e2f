"""What a standing query answers is a stream that queries, one-time SQL and queues read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pytest

from tests.queries.result_rows import SUMS, rows_of, told
from tests.queries.setting import append, make_streams, waiting
from upstream import (
    ContinuousQuery,
    Engine,
    ManualClock,
    StalenessIndexScheduler,
    Update,
    UpdateQueue,
)
from upstream.errors import ClosedError, StatementError
from upstream.queries.evaluated_query import EvaluatedQuery
from upstream.tables import engine_stream
from upstream.updates import TOMBSTONE

DOUBLES = "SELECT k, 2 * x AS x, window_end FROM sums"


@pytest.fixture
def chain(engine: Engine) -> Sequence[ContinuousQuery]:
    """Three levels: sums of bids, their doubles, and a query that counts these."""
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    engine.sql(f"CREATE STREAM doubles KEY (k) TIME (window_end) AS {DOUBLES}")
    last = engine.continuous_query("SELECT sum(x) AS x FROM tumble(doubles, 20)", name="last")
    return [engine.query("sums"), engine.query("doubles"), last]


def test_a_one_time_query_reads_what_has_just_been_appended(
    engine: Engine, chain: Sequence[ContinuousQuery]
) -> None:
    append(engine, "bids", (1, 1, "a"), (2, 2, "a"), (3, 5, "b"), (11, 7, "a"))
    assert rows_of(engine, "sums") == [("a", 3, 10), ("b", 5, 10)]
    assert rows_of(engine, "doubles") == [("a", 6, 10), ("b", 10, 10)]
    append(engine, "bids", (21, 1, "a"))
    assert rows_of(engine, "doubles") == [("a", 14, 20), ("b", 10, 10)]
    engine.sql("CREATE TABLE kept AS SELECT x FROM doubles")
    append(engine, "bids", (31, 1, "a"))
    engine.sql("INSERT INTO kept SELECT x FROM doubles WHERE k = 'a'")
    assert engine.sql("SELECT x FROM kept ORDER BY x").to_pydict() == {"x": [2, 10, 14]}
    engine.sql("INSERT INTO asks SELECT window_end, k, x, 'x' FROM doubles WHERE x = 2")
    assert rows_of(engine, "asks") == [(30, "a", 2, "x")]


def test_the_last_query_of_a_chain_is_due_when_the_first_one_is(
    engine: Engine, clock: ManualClock, chain: Sequence[ContinuousQuery]
) -> None:
    *_, last = chain
    assert not last.is_due()
    append(engine, "bids", (1, 1), (11, 2), (21, 4), (31, 8))
    clock.advance(5)
    assert last.is_due()
    assert last.staleness() == 5.0
    assert told(last) == [[(2,)]]
    assert last.staleness() == 0.0
    assert not any(query.is_due() for query in chain)
    append(engine, "bids", (41, 16))
    answer = last.ask()
    assert answer is not None
    assert answer.table.to_pydict() == {"x": [12]}
    assert told(last) == [[(12,)]]


def test_one_run_serves_a_chain_until_nothing_is_due(
    engine: Engine, chain: Sequence[ContinuousQuery]
) -> None:
    append(engine, "bids", (1, 1), (11, 2), (21, 4), (31, 8))
    assert engine.run(60.0) >= 1
    assert not any(query.is_due() for query in engine.queries)
    assert [query.statistics().rows_waiting for query in chain] == [0, 0, 0]
    assert [query.statistics().rows_read for query in chain] == [4, 3, 3]


def test_each_level_of_a_chain_is_evaluated_after_the_one_below(
    engine: Engine, chain: Sequence[ContinuousQuery], monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    evaluate = EvaluatedQuery.evaluate_alone

    def noted(self: EvaluatedQuery) -> float:
        order.append(self.name)
        return evaluate(self)

    monkeypatch.setattr(EvaluatedQuery, "evaluate_alone", noted)
    append(engine, "bids", (1, 1), (11, 2), (21, 4), (31, 8))
    chain[2].evaluate()
    assert order == ["sums", "doubles", "last"]


def test_a_query_over_two_branches_sees_both_of_them(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    engine.sql(f"CREATE STREAM doubles KEY (k) TIME (window_end) AS {DOUBLES}")
    halves = DOUBLES.replace("2 * x", "x / 2")
    engine.sql(f"CREATE STREAM halves KEY (k) TIME (window_end) AS {halves}")
    both = engine.continuous_query(
        """SELECT a.x AS double, b.x AS half
           FROM tumble(doubles, 10) a JOIN tumble(halves, 10) b USING (k)"""
    )
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    assert told(both) == [[(2, 0.5)]]


def test_a_query_costs_what_it_has_to_run_before_it() -> None:
    with Engine(clock=ManualClock(), stopwatch=TickingClock()) as engine:
        make_streams(engine)
        engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
        reader = engine.continuous_query("SELECT k FROM sums")
        assert reader.cost() == 0.0
        append(engine, "bids", (1, 1), (11, 2))
        reader.evaluate()
        alone, below = reader.cost(), engine.query("sums").cost()
        assert min(alone, below) > 0
        append(engine, "bids", (21, 1))
        assert reader.cost() == alone + below


class TickingClock(ManualClock):
    """A clock that advances by a second each time it is read."""

    def now(self) -> float:
        self.advance(1)
        return super().now()


def test_the_results_are_not_given_a_second_time(
    engine: Engine, chain: Sequence[ContinuousQuery]
) -> None:
    append(engine, "bids", (1, 1), (11, 2))
    query = chain[0]
    for take in (query.results, query.latest, lambda: list(query)):
        with pytest.raises(StatementError, match="rows of the stream sums") as caught:
            take()
        assert "FROM sums" in caught.value.hint
    answer = query.ask()
    assert answer is not None
    assert answer.table.to_pydict() == {"k": ["a"], "x": [1]}
    counts = query.statistics()
    assert (counts.results_taken, counts.results_waiting, counts.rows_appended) == (1, 0, 1)
    assert counts.is_balanced


def test_more_results_than_are_usually_kept_are_all_rows(engine: Engine) -> None:
    engine.sql("CREATE STREAM counts AS SELECT count(*) AS n FROM rows(bids, 1)")
    append(engine, "bids", *((i, i) for i in range(3_000)))
    [(_, end)] = rows_of(engine, "counts")
    assert end == 3_000
    counts = engine.query("counts").statistics()
    assert (counts.rows_appended, counts.results_dropped) == (3_000, 0)


def test_an_update_query_appends_news_once(engine: Engine) -> None:
    engine.sql(
        """CREATE STREAM seen KEY (k) TIME (time) WITH (semantics = 'update') AS
           SELECT k, x, time FROM bids"""
    )
    reader = engine.continuous_query("SELECT k, x FROM seen")
    append(engine, "bids", (1, 1, "a"), (2, 2, "a"), (3, 3, "b"))
    assert told(reader) == [[("a", 2), ("b", 3)]]
    append(engine, "bids", (4, 4, "b"), (1, 9, "a"))
    assert told(reader) == [[("b", 4)]]
    assert rows_of(engine, "seen") == [("a", 2, 2), ("b", 4, 4)]
    assert engine.query("seen").statistics().rows_appended == 3


def test_results_that_did_not_change_are_no_rows(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) WITH (emit = 'changed') AS {SUMS}")
    append(engine, "bids", (1, 1), (11, 1), (21, 2), (31, 1))
    assert rows_of(engine, "sums") == [("a", 2, 30)]
    counts = engine.query("sums").statistics()
    assert (counts.rows_appended, counts.results_unchanged) == (2, 1)


def test_a_late_result_of_an_older_window_does_not_replace_a_newer_one(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) WITH (allowed_lateness = 50) AS {SUMS}")
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    assert rows_of(engine, "sums") == [("a", 2, 20)]
    append(engine, "bids", (2, 10), (12, 20), (31, 1))
    assert rows_of(engine, "sums") == [("a", 4, 30)]
    assert engine.query("sums").statistics().rows_appended == 5


KINDS = {
    "tumble(s, INTERVAL '10 seconds')": "TIMESTAMP",
    "hop(s, INTERVAL '1 month', INTERVAL '1 month')": "TIMESTAMPTZ",
    "tumble(s, INTERVAL '1 second', offset => INTERVAL '300 milliseconds')": "TIMESTAMP_NS",
    "tumble(s, INTERVAL '1 minute')": "TIMESTAMP_S",
    "hop(s, INTERVAL '3 days', INTERVAL '1 day')": "DATE",
    "tumble(s, 0.5)": "DOUBLE",
    "tumble(s, 2.5)": "FLOAT",
    "tumble(s, 5)": "UTINYINT",
    "hop(s, 20, 5)": "UBIGINT",
    "session(s, INTERVAL '10 seconds', per => k)": "TIMESTAMP",
    "landmark(s, INTERVAL '1 minute')": "TIMESTAMP",
    "landmark(s)": "DOUBLE",
    "tumble(s, INTERVAL '10 seconds', by => arrival)": "BIGINT",
    "rows(s, 3, 2)": "INTEGER",
}
"""Windows of each kind, and a type of the time column."""


@pytest.mark.parametrize(("window", "kind"), KINDS.items(), ids=KINDS)
def test_the_time_of_a_row_is_the_end_of_its_window(window: str, kind: str) -> None:
    clock = ManualClock()
    with Engine(clock=clock) as engine:
        engine.sql(f"CREATE STREAM s (at {kind}, k TEXT) KEY (k) TIME (at)")
        query = f"SELECT k, count(*) AS n FROM {window} GROUP BY k"
        engine.sql(f"CREATE STREAM filled AS {query}")
        reader = engine._catalogue.streams["filled"].log.reader()
        plain = engine.continuous_query(query)
        for number in range(8):
            moment = f"make_timestamp({number * 40_000_000_000_000 // 7})"
            is_moment = kind.startswith(("TIME", "DATE"))
            value = moment if is_moment else f"{number} * 7"
            engine.sql(f"INSERT INTO s SELECT ({value})::{kind}, '{'ab'[number % 2]}'")
            clock.advance(17)
        results = plain.results()
        assert len(results) > 1 or window == "landmark(s)"
        assert len({result.window_end for result in results}) == len(results)
        engine.query("filled").evaluate()
        rows = waiting(reader)
        ends = rows.schema.field("window_end").type
        expected = [
            pa.scalar(result.window_end, ends)
            for result in results
            for _ in range(result.table.num_rows)
        ]
        assert [value for value in rows.column("window_end") if value.is_valid] == expected


def test_a_result_with_failing_rows_is_appended_and_counted(engine: Engine) -> None:
    engine.sql(
        "CREATE STREAM notes KEY (k) AS"
        " SELECT k, sum(note::INT) AS n FROM tumble(bids, 10) GROUP BY k"
    )
    append(engine, "bids", (1, 1, "a", "5"), (2, 1, "a", "x"), (11, 1))
    assert rows_of(engine, "notes") == [("a", 5, 10)]
    counts = engine.query("notes").statistics()
    assert counts.rows_failed == 1
    assert counts.error is not None


def test_a_result_that_is_an_error_adds_no_rows_and_is_kept_in_the_statistics(
    engine: Engine,
) -> None:
    engine.sql(
        "CREATE STREAM notes KEY (k) WITH (on_error = 'fail') AS"
        " SELECT k, sum(note::INT) AS n FROM tumble(bids, 10) GROUP BY k"
    )
    append(engine, "bids", (1, 1, "a", "x"), (11, 1, "a", "7"), (21, 1))
    assert rows_of(engine, "notes") == [("a", 7, 20)]
    counts = engine.query("notes").statistics()
    assert counts.error is not None
    assert counts.results_taken == 2


def test_groups_without_a_key_are_left_out_and_counted(engine: Engine) -> None:
    engine.sql(
        "CREATE STREAM sums KEY (g) AS"
        " SELECT nullif(k, 'b') AS g, sum(x) AS x FROM tumble(bids, 10) GROUP BY g"
    )
    append(engine, "bids", (1, 1, "a"), (2, 2, "b"), (11, 1))
    assert rows_of(engine, "sums") == [("a", 1, 10)]
    counts = engine.query("sums").statistics()
    assert (counts.rows_appended, counts.rows_refused) == (1, 1)
    assert counts.error == "rows are left out in which g is NULL or NaN"


def test_what_reads_results_begins_after_those_that_are_due(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    append(engine, "bids", (1, 1), (11, 2))
    reader = engine.continuous_query("SELECT x FROM sums")
    append(engine, "bids", (21, 4))
    engine.sql("CREATE VIEW totals AS SELECT sum(x) AS x FROM sums")
    append(engine, "bids", (31, 8))
    assert told(reader) == [[(2,), (4,)]]
    assert rows_of(engine, "totals") == [(4,)]


# Who else may write, and the end


def test_only_its_query_writes_to_the_stream(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    text = "INSERT INTO Sums VALUES ('a', 1, 1)"
    with pytest.raises(StatementError, match="sums is filled by a query") as caught:
        engine.sql(text)
    assert caught.value.column == text.index("Sums") + 1
    assert "close" in caught.value.hint
    with pytest.raises(StatementError, match="sums is filled by a query"):
        engine.append("sums", {"k": ["a"], "x": [1], "window_end": [1]})
    for other in ("DELETE FROM sums", "UPDATE sums SET x = 1", "COPY sums FROM 'sums.csv'"):
        with pytest.raises(StatementError):
            engine.sql(other)
    assert rows_of(engine, "sums") == []


def test_a_stream_whose_query_was_closed_is_an_ordinary_one(
    engine: Engine, chain: Sequence[ContinuousQuery]
) -> None:
    first, second, last = chain
    append(engine, "bids", (1, 1), (11, 2))
    assert rows_of(engine, "doubles") == [("a", 2, 10)]
    first.close()
    append(engine, "bids", (21, 4))
    assert rows_of(engine, "doubles") == [("a", 2, 10)]
    engine.append("sums", {"k": ["a"], "x": [100], "window_end": [20]})
    assert rows_of(engine, "doubles") == [("a", 200, 20)]
    with pytest.raises(ClosedError):
        first.evaluate()
    second.close()
    assert told(last) == [[(2,)]]
    assert engine.append("doubles", {"k": ["a"], "x": [1], "window_end": [50]}) == 1
    assert told(last) == [[(200,)]]


def test_the_stream_is_listed_and_described(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    assert engine.streams["sums"].key == ("k",)
    described = engine.sql("DESCRIBE sums").to_pylist()
    assert [(each["column_name"], each["column_type"], each["key"]) for each in described] == [
        ("k", "VARCHAR", "KEY"),
        ("x", "BIGINT", None),
        ("window_end", "BIGINT", "TIME"),
    ]
    assert "sums" in engine.sql("SHOW TABLES")["name"].to_pylist()
    assert "appended to the stream sums (key k; time window_end)" in engine.query("sums").explain()
    engine.sql("CREATE STREAM copies AS SELECT k FROM bids")
    assert engine.query("copies").explain(sql=True).count("appended to the stream copies") == 1


# Memory


def test_results_that_no_query_has_asked_for_are_read_before_there_are_too_many(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_stream, "_BACKLOG_BATCHES", 4)
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    engine.sql(f"CREATE STREAM doubles KEY (k) TIME (window_end) AS {DOUBLES}")
    last = engine.continuous_query("SELECT sum(x) AS x FROM tumble(doubles, 20)")
    first = engine.query("sums")
    for number in range(60):
        append(engine, "bids", (10 * number, 1))
        first.evaluate()
        for stream in ("sums", "doubles"):
            assert len(engine._catalogue.streams[stream].log.batches) <= 5
    assert last.statistics().rows_read > 40
    assert len(told(last)) == 29


# Queues


def values(updates: Iterable[Update]) -> dict[object, object]:
    found = {}
    for update in updates:
        assert isinstance(update.value, dict)
        found[update.key] = update.value["x"]
    return found


def test_the_results_reach_a_queue_that_serves_them_by_staleness() -> None:
    clock = ManualClock()
    with Engine(clock=clock) as engine:
        make_streams(engine)
        engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
        append(engine, "bids", (1, 1, "a"), (2, 2, "b"), (11, 3, "a"))
        stream = engine.stream("sums")
        assert values(stream.snapshot()) == {"a": 1, "b": 2}
        queue = UpdateQueue(StalenessIndexScheduler(), clock=clock)
        stream.attach(queue)
        append(engine, "bids", (12, 4, "b"), (21, 5, "a"))
        assert len(queue) == 0  # until the query is evaluated
        engine.run(1.0)
        assert len(queue) == 2
        clock.advance(4)
        append(engine, "bids", (31, 6, "a"))
        engine.run(1.0)
        newest = queue.read("a")
        assert newest is not None
        assert newest.value == {"k": "a", "x": 5, "window_end": 30}
        assert newest.time == 30.0
        assert (len(queue), queue.statistics().superseded) == (2, 1)
        clock.advance(2)
        taken = queue.dequeue_many(2)
        assert values(taken) == {"a": 5, "b": 4}
        clock.advance(1)
        for update in taken:
            queue.deliver(update)
        assert queue.queue_staleness("b") == pytest.approx(6**2 / 2 / 7)
        assert queue.application_staleness("b") == pytest.approx(7**2 / 2 / 7)
        clock.advance(7)
        assert queue.application_staleness("b") == pytest.approx(7**2 / 2 / 14)
        assert queue.statistics().is_balanced


# Deletions


def test_a_key_that_leaves_the_result_is_deleted_from_the_stream(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) WITH (deletes = true) AS {SUMS}")
    engine.sql("CREATE VIEW totals AS SELECT k, x FROM latest(sums)")
    newest = engine.continuous_query("SELECT k, x FROM latest(sums)")
    queue = UpdateQueue(StalenessIndexScheduler(), clock=engine._clock)
    engine.stream("sums").attach(queue)
    append(engine, "bids", (1, 1, "a"), (2, 2, "b"), (11, 3, "b"))
    assert rows_of(engine, "sums") == [("a", 1, 10), ("b", 2, 10)]
    append(engine, "bids", (21, 1, "c"))
    assert rows_of(engine, "sums") == [("b", 3, 20)]
    assert rows_of(engine, "totals") == [("b", 3)]
    assert told(newest)[-1] == [("b", 3)]
    append(engine, "bids", (51, 1, "a"))
    assert rows_of(engine, "sums") == []
    assert told(newest)[-1] == []
    append(engine, "bids", (61, 1, "a"))
    assert rows_of(engine, "sums") == [("a", 1, 60)]
    assert engine.query("sums").statistics().keys_deleted == 3
    assert "keys that leave the result are deleted" in engine.query("sums").explain()
    taken = {update.key: update.value for update in queue.dequeue_many(10)}
    assert taken["b"] is TOMBSTONE
    assert taken["a"] == {"k": "a", "x": 1, "window_end": 60}


def test_a_key_that_leaves_an_answer_over_the_newest_rows_is_deleted(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT k, x FROM latest(bids) WHERE x > 0", into="found", key=("k",), deletes=True
    )
    append(engine, "bids", (1, 1, "a"), (1, 1, "b"))
    query.evaluate()
    assert rows_of(engine, "found") == [("a", 1), ("b", 1)]
    append(engine, "bids", (2, 0, "a"), (2, 2, "b"))
    assert rows_of(engine, "found") == [("b", 2)]
    engine.delete("bids", {"k": ["b"]})
    assert rows_of(engine, "found") == []
