"""Statements about tables: what DuckDB runs, and where streams are refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from upstream import (
    Engine,
    ManualClock,
    QueryError,
    StatementError,
    UnknownColumnError,
    UnknownFunctionError,
    UnknownTableError,
)
from upstream.tables.engine_stream import EngineStream


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM Trades (symbol TEXT, price BIGINT) KEY (symbol)")
        engine.sql("INSERT INTO trades VALUES ('IBM', 1), ('HP', 2), ('IBM', 3)")
        yield engine


def test_a_table_is_made_of_the_newest_rows_of_a_stream(engine: Engine) -> None:
    engine.sql("CREATE TABLE kept AS SELECT symbol, trades.price + 1 AS price FROM TRADES")
    rows = engine.sql("FROM kept ORDER BY symbol").to_pylist()
    assert rows == [{"symbol": "HP", "price": 3}, {"symbol": "IBM", "price": 4}]


def test_newest_rows_are_inserted_into_a_table(engine: Engine) -> None:
    engine.sql("CREATE TABLE kept (symbol TEXT)")
    engine.sql("INSERT INTO kept SELECT symbol FROM trades WHERE price > 2")
    assert engine.sql("FROM kept").to_pylist() == [{"symbol": "IBM"}]


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("SELECT count(*) FROM trades", True),
        ("CREATE TABLE kept AS FROM trades", True),
        ("INSERT INTO others SELECT symbol FROM trades", True),
        ("SELECT 1 AS a", False),
        ("SELECT * FROM others", False),
        ("DESCRIBE trades", False),
        ("INSERT INTO others VALUES ('trades')", False),
        ("INSERT INTO trades VALUES ('HP', 5)", False),
        ("INSERT INTO trades VALUES (upper('hp'), 5)", False),
        ("CREATE TABLE kept AS SELECT 'trades' AS a", False),
    ],
)
def test_a_statement_reads_only_the_streams_that_it_names(
    engine: Engine, text: str, is_read: bool
) -> None:
    engine.sql("CREATE STREAM others (symbol TEXT)")
    engine.sql(text)
    newest_rows_of_trades = engine._catalogue.streams["Trades"]._newest.newest
    assert (newest_rows_of_trades.statistics().came > 0) is is_read


def test_only_the_columns_that_a_query_names_are_scanned(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned: list[object] = []
    scan = EngineStream.scan

    def noting(stream: EngineStream, columns: Sequence[str] | None = None) -> pa.Table:
        scanned.append(columns)
        return scan(stream, columns)

    monkeypatch.setattr(EngineStream, "scan", noting)
    assert engine.sql("SELECT max(price) AS most FROM trades").to_pylist() == [{"most": 3}]
    engine.sql("SELECT * FROM trades")
    assert engine.sql("SELECT count(*) AS n FROM trades").to_pylist() == [{"n": 2}]
    assert scanned == [("price",), ("symbol", "price"), ("symbol",)]


def test_a_common_table_expression_hides_a_stream(engine: Engine) -> None:
    engine.sql("CREATE TABLE kept AS WITH trades AS (SELECT 7 AS price) SELECT price FROM trades")
    assert engine.sql("FROM kept").to_pylist() == [{"price": 7}]


@pytest.mark.parametrize("text", ["DESCRIBE trades", "SHOW TRADES", 'DESCRIBE "trades"'])
def test_a_stream_is_described_with_its_key_and_its_time(engine: Engine, text: str) -> None:
    engine.sql(
        "CREATE OR REPLACE STREAM Trades (at DATE, symbol TEXT, n BIGINT) KEY (symbol) TIME (at)"
    )
    columns = engine.sql(text).to_pylist()
    assert [(each["column_name"], each["column_type"]) for each in columns] == [
        ("at", "DATE"),
        ("symbol", "VARCHAR"),
        ("n", "BIGINT"),
    ]
    assert [each["null"] for each in columns] == ["NO", "NO", "YES"]
    assert [each["key"] for each in columns] == ["TIME", "KEY", None]


def test_streams_are_shown_and_not_what_is_lent_to_queries(engine: Engine) -> None:
    engine.continuous_query("SELECT symbol FROM trades")
    assert engine.sql("SHOW TABLES").to_pylist() == [{"name": "Trades"}]
    engine.sql("CREATE TABLE Kept (symbol TEXT)")
    assert engine.sql("SHOW TABLES").to_pylist() == [{"name": "Kept"}, {"name": "Trades"}]


def test_the_newest_rows_are_copied_to_a_file(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "trades.csv"
    for what in ("Trades (symbol, price)", "(SELECT symbol, price FROM trades)"):
        assert engine.sql(f"COPY {what} TO '{path}'").to_pylist() == [{"Count": 2}]
        assert sorted(path.read_text().split()) == ["HP,2", "IBM,3", "symbol,price"]
    assert engine.sql(f"COPY trades TO '{path}'").to_pylist() == [{"Count": 2}]


@pytest.mark.parametrize("text", ["SUMMARIZE Trades", "SUMMARIZE SELECT * FROM trades"])
def test_the_newest_rows_are_summarized(engine: Engine, text: str) -> None:
    rows = engine.sql(text).to_pylist()
    assert [(row["column_name"], row["max"]) for row in rows] == [("symbol", "IBM"), ("price", "3")]


def test_a_query_over_streams_is_described_and_explained(engine: Engine) -> None:
    [column] = engine.sql("DESCRIBE SELECT price FROM trades").to_pylist()
    assert (column["column_name"], column["column_type"]) == ("price", "BIGINT")
    for explain in ("EXPLAIN", "explain\nanalyze", "EXPLAIN (ANALYZE, FORMAT json)"):
        [plan] = engine.sql(f"{explain} SELECT count(*) FROM trades WHERE price > 1").to_pylist()
        assert "AGGREGATE" in plan["explain_value"].upper()


def test_an_error_in_an_explained_query_has_its_place(engine: Engine) -> None:
    with pytest.raises(UnknownColumnError) as caught:
        engine.sql("EXPLAIN SELECT\n pric FROM trades")
    assert (caught.value.line, caught.value.column) == (2, 2)
    assert caught.value.hint == "did you mean price?"


@pytest.mark.parametrize(
    "text",
    [
        "EXPLAIN SELECT * FROM rows(trades, 3)",
        "CREATE TABLE t AS FROM Latest(Trades)",
        "CREATE TABLE t AS SELECT epoch FROM Epochs(trades, rows => 3)",
    ],
)
def test_a_window_is_for_standing_queries(engine: Engine, text: str) -> None:
    with pytest.raises(StatementError, match="in standing queries only") as caught:
        engine.sql(text)
    assert caught.value.column == text.index("FROM") + 6


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("DELETE FROM trade", "did you mean Trades?"),
        ("INSERT INTO trade VALUES (1)", "did you mean Trades?"),
        ("SUMMARIZE kep", "did you mean kept?"),
    ],
)
def test_the_nearest_name_is_suggested_for_an_unknown_table(
    engine: Engine, text: str, hint: str
) -> None:
    engine.sql("CREATE TABLE kept (symbol TEXT)")
    with pytest.raises(UnknownTableError) as caught:
        engine.sql(text)
    assert caught.value.hint == hint
    assert caught.value.line == 1


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE trades (a TEXT)",
        "DROP TABLE trades",
        "ALTER TABLE trades ADD COLUMN a TEXT",
        "UPDATE trades SET price = 1",
        "EXPLAIN DROP TABLE trades",
        "EXPLAIN ANALYZE DELETE FROM trades",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
    ],
)
def test_statements_that_are_not_for_streams_are_refused(engine: Engine, text: str) -> None:
    with pytest.raises(StatementError):
        engine.sql(text)
    assert engine.sql("SELECT count(*) AS n FROM trades").to_pylist() == [{"n": 2}]


def test_an_error_of_duckdb_becomes_an_error_of_the_library(engine: Engine) -> None:
    with pytest.raises(QueryError, match="nothing"):
        engine.sql("INSERT INTO nothing VALUES (1)")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("DROP TABLE trades", "DROP STREAM trades"),
        ("UPDATE trades SET price = 1", "INSERT INTO"),
    ],
)
def test_the_error_names_what_streams_offer_instead(engine: Engine, text: str, hint: str) -> None:
    with pytest.raises(StatementError) as caught:
        engine.sql(text)
    assert hint in caught.value.hint
    assert caught.value.column == text.index("trades") + 1


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            "PIVOT trades ON symbol USING sum(price) ORDER BY 1",
            [{"HP": 2, "IBM": 3}],
        ),
        (
            "UNPIVOT Trades ON price INTO NAME n VALUE v ORDER BY v",
            [{"symbol": "HP", "n": "price", "v": 2}, {"symbol": "IBM", "n": "price", "v": 3}],
        ),
        ("SELECT symbol FROM trades WHERE row(price) < row(3)", [{"symbol": "HP"}]),
        ("SELECT symbol FROM trades SEMI JOIN (SELECT 3 AS price) q USING (price)", ["IBM"]),
        ("SELECT symbol FROM trades ANTI JOIN (SELECT 3 AS price) q USING (price)", ["HP"]),
        ("SELECT reduce([1, 2], lambda x, y: x + y) AS a", [{"a": 3}]),
        ("SELECT apply([1, 2], lambda x: x + 1) AS a, 4! AS b", [{"a": [2, 3], "b": 24}]),
        ("WITH trades AS (SELECT 1 AS a) FROM trades WHERE row(a) < row(2)", [{"a": 1}]),
    ],
)
def test_queries_that_only_duckdb_can_read_are_run_as_they_are(
    engine: Engine, text: str, rows: list[object]
) -> None:
    found = engine.sql(text).to_pylist()
    assert [{"symbol": row} if isinstance(row, str) else row for row in rows] == found
    assert engine.sql("SHOW TABLES").to_pylist() == [{"name": "Trades"}]


def test_a_statement_about_tables_is_run_as_it_was_written(engine: Engine) -> None:
    engine.sql(r"CREATE TABLE a AS SELECT decode('\xA0'::BLOB, 'replace') AS a, -2 ** 2 AS b")
    assert engine.sql("FROM a").to_pylist() == [{"a": "?", "b": 4}]
    with pytest.raises(UnknownFunctionError, match="to_char"):
        engine.sql("CREATE TABLE b AS SELECT to_char(DATE '2020-01-01', 'YYYY')")


@pytest.mark.parametrize("text", ["BEGIN", "START TRANSACTION", "COMMIT", "ABORT"])
def test_transactions_are_refused(engine: Engine, text: str) -> None:
    with pytest.raises(StatementError, match="transaction"):
        engine.sql(text)


def test_a_statement_that_only_duckdb_can_read_changes_no_stream(engine: Engine) -> None:
    with pytest.raises(StatementError, match="is for tables"):
        engine.sql("ALTER TABLE trades ALTER price SET DATA TYPE TEXT USING price || x'41'")
    with pytest.raises(StatementError, match="works in standing queries"):
        engine.sql("PIVOT latest(trades) ON symbol USING sum(price) ORDER BY symbol")


@pytest.mark.parametrize("name", ["self", "text", "tables", "rows", "result"])
def test_no_python_variable_is_a_table(engine: Engine, name: str) -> None:
    for text in (f"FROM {name}", f"UNPIVOT {name} ON a INTO NAME n VALUE v ORDER BY v"):
        with pytest.raises(UnknownTableError):
            engine.sql(text)
