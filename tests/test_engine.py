"""The engine: statements over streams and tables, and standing queries served in an order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from upstream import (
    ClosedError,
    Engine,
    ManualClock,
    NameTakenError,
    ParameterError,
    QueryError,
    QueryKeyError,
    QuerySyntaxError,
    Result,
    StatementError,
    StreamTypeError,
    UnboundedQueryError,
    UnknownColumnError,
    UnknownFunctionError,
    UnknownNameError,
    UnknownPolicyError,
    UnknownStreamError,
    UnknownTableError,
    UpStreamError,
    WindowError,
)
from upstream.plans import Filter, PlanQuery, Source

CREATE = "CREATE STREAM trades (time TIMESTAMP, symbol TEXT, price DOUBLE) KEY (symbol)"
NAMES = pa.table({"symbol": ["IBM", "HP"], "name": ["Business Machines", "Hewlett Packard"]})


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(clock: ManualClock) -> Iterator[Engine]:
    with Engine(clock=clock) as engine:
        engine.sql(CREATE)
        yield engine


def trade(second: int, symbol: str, price: float) -> dict[str, object]:
    return {"time": datetime(2026, 1, 2, 9, 30, second), "symbol": symbol, "price": price}


def test_a_query_of_a_stream_reads_the_newest_row_of_each_key(engine: Engine) -> None:
    rows = [trade(1, "IBM", 24.0), trade(2, "HP", 1.0), trade(3, "IBM", 25.0)]
    assert engine.append("trades", rows) == 3
    answer = engine.sql("SELECT symbol, price FROM trades ORDER BY symbol")
    assert answer.to_pylist() == [
        {"symbol": "HP", "price": 1.0},
        {"symbol": "IBM", "price": 25.0},
    ]


def test_a_stream_without_a_key_has_one_newest_row(engine: Engine) -> None:
    engine.sql("CREATE STREAM beats (n BIGINT)")
    query = engine.continuous_query("SELECT n FROM beats", "update")
    engine.sql("INSERT INTO beats VALUES (1), (3), (2)")
    assert engine.sql("FROM beats").to_pylist() == [{"n": 2}]
    assert [result.table.to_pylist() for result in query.results()] == [[{"n": 2}]]
    beats = engine.stream("beats")
    engine.append("beats", {"n": [7]})
    assert [update.value for update in beats.snapshot()] == [{"n": 7}]


def test_rows_can_be_inserted_by_sql(engine: Engine) -> None:
    answer = engine.sql("INSERT INTO Trades (symbol, time, price) VALUES ('IBM', '2026-01-02', 1)")
    assert answer.to_pylist() == [{"Count": 1}]
    assert engine.sql("SELECT price FROM trades").to_pylist() == [{"price": 1.0}]


def test_streams_and_tables_are_joined(engine: Engine) -> None:
    engine.create_table("names", NAMES)
    engine.append("trades", [trade(1, "IBM", 24.0), trade(2, "SUN", 1.0)])
    answer = engine.sql("SELECT name, price FROM trades JOIN names USING (symbol)")
    assert answer.to_pylist() == [{"name": "Business Machines", "price": 24.0}]


def test_a_table_can_be_created_from_a_stream(engine: Engine) -> None:
    engine.append("trades", [trade(1, "IBM", 24.0)])
    engine.sql("CREATE TABLE kept AS SELECT * FROM trades")
    engine.append("trades", [trade(2, "HP", 1.0)])
    engine.sql("INSERT INTO kept SELECT * FROM trades WHERE symbol = 'HP'")
    assert engine.sql("SELECT count(*) AS n FROM kept").to_pylist() == [{"n": 2}]


def test_tables_are_created_from_data_and_files(engine: Engine, tmp_path: Path) -> None:
    pq.write_table(NAMES, tmp_path / "names.parquet")
    (tmp_path / "names.csv").write_text("symbol,name\nIBM,Business Machines\nHP,Hewlett Packard\n")
    (tmp_path / "names.json").write_text('{"symbol": "IBM"}\n{"symbol": "HP"}\n')
    sources = [NAMES, pd.DataFrame(NAMES.to_pylist()), tmp_path / "names.parquet"]
    sources += [str(tmp_path / "names.csv"), tmp_path / "names.json"]
    for number, data in enumerate(sources):
        engine.create_table(f"names {number}", data)
        answer = engine.sql(f'SELECT symbol FROM "names {number}" ORDER BY ALL')
        assert answer.to_pylist() == [{"symbol": "HP"}, {"symbol": "IBM"}]


def test_a_name_can_be_used_once(engine: Engine) -> None:
    engine.create_table("names", NAMES)
    with pytest.raises(NameTakenError):
        engine.create_table("names", NAMES)
    with pytest.raises(NameTakenError):
        engine.create_table("Trades", NAMES)
    with pytest.raises(NameTakenError):
        engine.sql("CREATE STREAM names (a TEXT) KEY (a)")
    with pytest.raises(NameTakenError):
        engine.sql(CREATE)
    engine.sql(CREATE.replace("STREAM", "STREAM IF NOT EXISTS"))
    engine.sql("CREATE OR REPLACE STREAM trades (symbol TEXT) KEY (symbol)")
    assert engine.streams["trades"].schema.names == ["symbol"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("", "empty"), ("chunk_0", "reserved"), ("Merged_1", "reserved"), ("__lent_1", "reserved")],
)
def test_names_that_rewritten_queries_use_are_refused(
    engine: Engine, name: str, reason: str
) -> None:
    with pytest.raises(ParameterError, match=reason):
        engine.create_table(name, NAMES)


def test_a_stream_is_dropped_when_no_query_reads_it(engine: Engine) -> None:
    query = engine.continuous_query("SELECT symbol FROM trades", name="symbols")
    for text in ("DROP STREAM trades", CREATE.replace("CREATE", "CREATE OR REPLACE")):
        with pytest.raises(StatementError, match="symbols") as refused:
            engine.sql(text)
        assert refused.value.column == text.index("trades") + 1
    query.close()
    engine.sql("DROP STREAM trades")
    assert not engine.streams
    engine.sql("DROP STREAM IF EXISTS trades")
    engine.sql("CREATE STREAM ticks (n BIGINT)")
    with pytest.raises(UnknownStreamError) as unknown:
        engine.sql("DROP STREAM tick")
    assert unknown.value.hint == "did you mean ticks?"


def test_a_window_in_a_one_time_query_is_refused(engine: Engine) -> None:
    with pytest.raises(StatementError, match="newest row of each key"):
        engine.sql("SELECT count(*) FROM tumble(trades, INTERVAL '1 minute')")


def test_a_one_time_query_may_read_the_latest_row_of_each_key(
    engine: Engine,
) -> None:
    engine.append("trades", [trade(1, "IBM", 24.0), trade(2, "HP", 1.0), trade(3, "IBM", 25.0)])
    for window in ("latest(trades)", "latest(trades, rows => 1, per => symbol)"):
        answer = engine.sql(f"SELECT symbol, price FROM {window} ORDER BY symbol")
        assert answer.equals(engine.sql("SELECT symbol, price FROM trades ORDER BY symbol"))
    for window in ("latest(trades, rows => 2)", "latest(trades, per => price)"):
        with pytest.raises(StatementError, match="newest row of each key") as caught:
            engine.sql(f"SELECT symbol FROM {window}")
        assert caught.value.column == 20


def test_rows_that_do_not_fit_are_refused_as_a_whole(engine: Engine) -> None:
    query = engine.continuous_query("SELECT symbol FROM trades")
    with pytest.raises(StreamTypeError):
        engine.append("trades", [trade(1, "IBM", 1.0), {**trade(2, "IBM", 1.0), "symbol": None}])
    assert query.results() == []
    assert engine.sql("SELECT * FROM trades").num_rows == 0


BAD = [
    ("SELEC symbol FROM trades", QuerySyntaxError),
    ("SELECT price FROM", QuerySyntaxError),
    ("SELECT cost FROM tumble(trades, INTERVAL '1 minute')", UnknownColumnError),
    ("SELECT symbol FROM tumble(ticks, INTERVAL '1 minute')", UnknownStreamError),
    ("SELECT symbol FROM tumble(trades, INTERVAL '0 seconds')", WindowError),
    ("SELECT symbol FROM hop(trades, INTERVAL '1 minute')", WindowError),
    ("SELECT symbol FROM tumble(trades, INTERVAL '1.5 months')", WindowError),
    ("SELECT count(*) FROM trades", UnboundedQueryError),
    ("SELECT symbol FROM landmark(trades)", UnboundedQueryError),
    ("SELECT a.symbol FROM trades a JOIN trades b USING (symbol)", UnboundedQueryError),
    ("SELECT 1 AS one", StatementError),
    ("SELECT symbol FROM trads", UnknownTableError),
    ("SELECT symbol FROM tumbl(trades, INTERVAL '1 minute')", UnknownFunctionError),
    ("DROP STREAM trades", QueryError),
]


@pytest.mark.parametrize(("text", "error"), BAD, ids=[text for text, _ in BAD])
def test_an_invalid_query_is_refused_when_it_is_created(
    engine: Engine, text: str, error: type[QueryError]
) -> None:
    with pytest.raises(error):
        engine.continuous_query(text)
    assert engine.queries == ()
    engine.append("trades", [trade(1, "IBM", 1.0)])  # which no half-made query keeps
    assert engine.sql("SELECT count(*) AS n FROM trades").to_pylist() == [{"n": 1}]


def test_an_error_shows_the_place_and_what_to_do(engine: Engine) -> None:
    with pytest.raises(UnknownColumnError) as caught:
        engine.continuous_query("SELECT\n  prise FROM tumble(trades, INTERVAL '1 minute')")
    assert (caught.value.line, caught.value.column) == (2, 3)
    assert "price" in str(caught.value)


def test_an_update_query_without_a_window_must_select_the_key(engine: Engine) -> None:
    with pytest.raises(QueryKeyError, match="symbol"):
        engine.continuous_query("SELECT price FROM trades", "update")


@pytest.mark.parametrize(
    "choices",
    [
        {"semantics": "newest"},
        {"emit": "often"},
        {"evaluation": "fast"},
        {"emit_every": -1},
        {"emit_every": "5 seconds"},
        {"allowed_lateness": float("nan")},
        {"close_after": float("inf")},
        {"keep": 0},
        {"weight": 0},
    ],
    ids=str,
)
def test_invalid_choices_are_refused(engine: Engine, choices: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        engine.continuous_query(
            "SELECT symbol FROM tumble(trades, INTERVAL '1 minute')",
            **choices,  # type: ignore[arg-type]  # wrong on purpose
        )


@pytest.mark.parametrize(
    ("window", "choices"),
    [
        ("rows(trades, 10, 5)", {"close_after": 1}),
        ("rows(trades, 10, 5)", {"allowed_lateness": 1}),
        ("trades", {"close_after": 1}),
        ("latest(trades)", {"allowed_lateness": 1}),
        ("trades", {"emit_every": 1}),
        ("trades", {"emit": "asked"}),
        ("trades", {"emit": "changed"}),
        ("trades", {"emit": "changed", "semantics": "update"}),
    ],
)
def test_choices_that_do_not_fit_the_window_are_refused(
    engine: Engine, window: str, choices: dict[str, object]
) -> None:
    with pytest.raises(QueryError, match=next(iter(choices))):
        # choices that are wrong, or of any type
        engine.continuous_query(f"SELECT symbol FROM {window}", **choices)  # type: ignore[arg-type]


def test_windows_of_one_query_are_over_times_of_one_kind(engine: Engine) -> None:
    with pytest.raises(WindowError, match="over times of one kind"):
        engine.continuous_query(
            "SELECT count(*) AS n FROM tumble(trades, INTERVAL '1 minute') a"
            " JOIN rows(trades, 20) b USING (symbol)"
        )


LISTED = [
    call
    for calls in re.findall(r"^ {8}(\w+\(trades.*?)  ", Engine.__doc__ or "", re.MULTILINE)
    for call in re.split(r", (?=\w+\()", calls)
]
"""The windows that the docstring of the class lists."""


@pytest.mark.parametrize("window", LISTED)
def test_each_window_that_is_listed_can_be_queried(engine: Engine, window: str) -> None:
    query = engine.continuous_query(f"SELECT count(*) AS trades FROM {window}")
    rows = [trade(second, "IBM", 24.0) for second in range(3)]
    engine.append("trades", [*rows, {**trade(4, "HP", 0.0), "time": datetime(2026, 3, 2)}])
    engine.punctuate("trades")
    counts = {result.table.column(0)[0].as_py() for result in query.results()}
    if window == "rows(trades, 1000, 100)":
        assert not counts, "so many rows have not come"
    else:
        assert counts
        assert counts <= {0, 1, 2, 3, 4}


def test_windows_of_every_kind_are_listed() -> None:
    kinds = {"tumble", "hop", "session", "rows", "latest", "landmark", "epochs"}
    assert {window.partition("(")[0] for window in LISTED} == kinds


@pytest.mark.parametrize("data", [[], {}, pa.table({}), pd.DataFrame()], ids=lambda d: str(type(d)))
def test_an_empty_batch_adds_no_rows(engine: Engine, data: object) -> None:
    query = engine.continuous_query("SELECT symbol FROM trades")
    assert engine.append("trades", data) == 0
    assert engine.append("trades", [trade(1, "IBM", 1.0)]) == 1
    assert [result.table.to_pylist() for result in query.results()] == [[{"symbol": "IBM"}]]


def test_names_that_do_not_exist_are_errors(engine: Engine) -> None:
    with pytest.raises(UnknownNameError):
        engine.append("ticks", [])
    with pytest.raises(UnknownNameError):
        engine.stream("ticks")
    with pytest.raises(UnknownPolicyError):
        Engine(scheduler="newest")
    with pytest.raises(ParameterError):
        Engine(threads=0)
    engine.continuous_query("SELECT symbol FROM trades", name="one")
    with pytest.raises(NameTakenError):
        engine.continuous_query("SELECT symbol FROM trades", name="one")


def test_run_serves_every_query_and_every_plan(engine: Engine, clock: ManualClock) -> None:
    seen: list[tuple[str, object]] = []

    def note(result: Result) -> None:
        seen.append(("query", result.table.to_pylist()))

    engine.continuous_query("SELECT symbol FROM trades", callback=note)
    plan = PlanQuery(
        Filter(Source(engine.stream("trades")), lambda update: update.key != "HP"),
        name="plan",
        output="push",
        callback=lambda update: seen.append(("plan", update.key)),
        clock=clock,
    )
    engine.add_plan(plan)
    with pytest.raises(NameTakenError):
        engine.add_plan(plan)
    engine.append("trades", [trade(1, "IBM", 24.0)])
    assert engine.run(1.0) == 2
    assert sorted(seen, key=str) == [("plan", "IBM"), ("query", [{"symbol": "IBM"}])]
    assert engine.run(1.0) == 0
    plan.close()


def test_a_stream_for_plans_begins_with_the_newest_rows(engine: Engine) -> None:
    engine.append("trades", [trade(1, "IBM", 24.0), trade(2, "IBM", 25.0)])
    stream = engine.stream("TRADES")
    update = stream.read("IBM")
    assert update is not None
    assert update.value == trade(2, "IBM", 25.0)
    engine.append("trades", [trade(3, "HP", 1.0)])
    assert {update.key for update in stream.snapshot()} == {"IBM", "HP"}


def test_a_query_without_requests_is_evaluated_before_too_many_rows_wait(engine: Engine) -> None:
    engine.sql("CREATE STREAM numbers (i BIGINT) KEY (i)")
    query = engine.continuous_query("SELECT sum(i) AS i FROM rows(numbers, 100000, 100000)")
    rows = pa.table({"i": pa.array(range(400_000), pa.int64())})
    for _ in range(3):
        engine.append("numbers", rows)
    counts = query.statistics()
    assert counts.rows_waiting == 0
    assert counts.results_waiting == 12


def test_a_punctuation_comes_after_the_rows_that_were_appended(engine: Engine) -> None:
    reader = engine._catalogue.streams.named("trades").log.reader(follows_punctuations=True)
    engine.append("trades", [trade(1, "IBM", 24.0)])
    engine.punctuate("TRADES")
    engine.append("trades", [trade(2, "IBM", 25.0)])
    kinds = [type(each).__name__ for each in reader.peek_punctuated()]
    assert kinds == ["Batch", "Punctuation", "Batch"]


def test_queries_are_evaluated_before_too_many_punctuations_wait(engine: Engine) -> None:
    reader = engine._catalogue.streams.named("trades").log.reader(follows_punctuations=True)
    query = engine.continuous_query("SELECT symbol FROM trades")
    engine.append("trades", [trade(1, "IBM", 24.0)])
    for _ in range(4_095):
        engine.punctuate("trades")
    assert query.statistics().rows_waiting == 1
    engine.punctuate("trades")
    assert query.statistics().rows_waiting == 0
    assert reader.waiting == 4_097


def test_what_is_filled_by_a_query_cannot_be_punctuated(engine: Engine) -> None:
    engine.sql("CREATE VIEW means AS SELECT avg(price) AS mean FROM trades")
    engine.continuous_query("SELECT symbol FROM rows(trades, 2, 2)", into="symbols")
    with pytest.raises(ParameterError, match="means is a view"):
        engine.punctuate("means")
    with pytest.raises(StatementError, match="symbols is filled by a query"):
        engine.punctuate("symbols")
    with pytest.raises(UnknownNameError):
        engine.punctuate("bids")


def test_a_closed_engine_cannot_be_used(clock: ManualClock) -> None:
    engine = Engine(clock=clock)
    engine.sql(CREATE)
    query = engine.continuous_query("SELECT symbol FROM trades")
    engine.close()
    engine.close()
    for call in (
        lambda: engine.sql("SELECT 1"),
        lambda: engine.append("trades", []),
        lambda: engine.punctuate("trades"),
        lambda: engine.run(1.0),
        query.results,
    ):
        with pytest.raises(ClosedError):
            call()


def test_a_statement_raises_errors_of_the_library(engine: Engine) -> None:
    with pytest.raises(UpStreamError):
        engine.sql("SELECT CAST('x' AS INTEGER) AS n")
    with pytest.raises(UpStreamError):
        engine.sql("DROP TABLE nothing")
