"""Statements about tables: what DuckDB is given, and what streams are kept out of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from upstream import Engine, ManualClock, QueryError, StatementError


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


def test_a_common_table_expression_hides_a_stream(engine: Engine) -> None:
    engine.sql("CREATE TABLE kept AS WITH trades AS (SELECT 7 AS price) SELECT price FROM trades")
    assert engine.sql("FROM kept").to_pylist() == [{"price": 7}]


def test_a_stream_can_be_described(engine: Engine) -> None:
    columns = engine.sql("DESCRIBE trades").select(["column_name", "column_type"]).to_pylist()
    assert columns == [
        {"column_name": "symbol", "column_type": "VARCHAR"},
        {"column_name": "price", "column_type": "BIGINT"},
    ]


def test_what_is_lent_to_queries_is_not_shown(engine: Engine) -> None:
    engine.continuous_query("SELECT symbol FROM trades")
    assert engine.sql("SHOW TABLES").to_pylist() == []
    engine.sql("CREATE TABLE kept (symbol TEXT)")
    assert engine.sql("SHOW TABLES").to_pylist() == [{"name": "kept"}]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE trades (a TEXT)",
        "CREATE VIEW seen AS SELECT * FROM trades",
        "DROP TABLE trades",
        "ALTER TABLE trades ADD COLUMN a TEXT",
        "DELETE FROM trades",
        "UPDATE trades SET price = 1",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
    ],
)
def test_what_is_not_for_streams_is_refused(engine: Engine, text: str) -> None:
    with pytest.raises(StatementError):
        engine.sql(text)
    assert engine.sql("SELECT count(*) AS n FROM trades").to_pylist() == [{"n": 2}]


def test_what_duckdb_refuses_is_an_error_of_ours(engine: Engine) -> None:
    with pytest.raises(QueryError, match="nothing"):
        engine.sql("INSERT INTO nothing VALUES (1)")
