"""Constants that DuckDB cannot evaluate are refused when a query is defined."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from upstream import Engine, ManualClock, QueryTypeError

TRADES = "tumble(trades, INTERVAL '1 minute')"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        engine.sql(
            "CREATE STREAM trades (time TIMESTAMP, symbol TEXT, price DOUBLE, size INTEGER,"
            " day DATE, kind TEXT) KEY (symbol) TIME (time)"
        )
        yield engine


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("price > 'high'", "'high' to DOUBLE"),
        ("'high' < price", "'high' to DOUBLE"),
        ("price IN ('a', '2')", "'a' to DOUBLE"),
        ("price BETWEEN 1 AND 'b'", "'b' to DOUBLE"),
        ("size = '1000000000000'", "INT32"),
        ("size > CAST('x' AS INT)", "'x' to INT32"),
        ("time > 'yesterday'", "timestamp"),
        ("time > time - INTERVAL 'foo'", "'foo' to INTERVAL"),
        ("day > DATE '2020-13-01'", "date"),
        ("symbol = 'IBM' AND price > 'high'", "'high' to DOUBLE"),
        ("NOT (price > 'high')", "'high' to DOUBLE"),
        ("abs(price - size) > 'high'", "'high' to DOUBLE"),
        ("CASE WHEN price > 'high' THEN true ELSE false END", "'high' to DOUBLE"),
        ("coalesce(price > 'high', true)", "'high' to DOUBLE"),
    ],
)
def test_a_condition_that_no_row_can_be_tried_by_is_refused(
    condition: str, said: str, engine: Engine
) -> None:
    with pytest.raises(QueryTypeError, match=said) as caught:
        engine.continuous_query(f"SELECT count(*) AS n FROM {TRADES} WHERE {condition}")
    assert caught.value.line == 1
    assert caught.value.hint
    assert engine.queries == ()


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT sum(size + CAST('x' AS INT)) AS s FROM {TRADES}",
        f"SELECT count(*) FILTER (price > 'high') AS n FROM {TRADES}",
        f"SELECT symbol, max(price) AS p FROM {TRADES} GROUP BY symbol HAVING max(price) > 'high'",
        f"SELECT count(*) AS n FROM (SELECT * FROM {TRADES} WHERE price > 'high') t",
        f"SELECT INTERVAL 'foo' AS i, count(*) AS n FROM {TRADES}",
        "SELECT symbol, price > 'high' AS is_high FROM trades",
    ],
)
def test_so_is_one_anywhere_else_that_every_row_needs_it(query: str, engine: Engine) -> None:
    with pytest.raises(QueryTypeError):
        engine.continuous_query(query)


@pytest.mark.parametrize(
    "condition",
    [
        "price > '12.5'",
        "time > '2026-01-02'",
        "size IN ('1', '2')",
        "day = DATE '2026-01-02'",
        "symbol > 'high'",
        "kind = 'number' OR price > 'high'",
        "CASE WHEN symbol = 'A' THEN price > 'high' ELSE true END",
        "coalesce(price, CAST('x' AS DOUBLE)) > 1",
        "TRY(price > 'high') IS NULL",
        "TRY_CAST('x' AS INT) IS NULL",
        "if(symbol = 'A', price > 'high', true)",
        "price > 1 + random()",
        "time > now() - INTERVAL '1 day'",
        "union_value(a := size) IS NOT NULL",
        "(day, symbol) > (DATE '2026-01-02', 'a') AND day BETWEEN '2026-01-01' AND '2026-12-31'",
        "price IN (1, '2.5', NULL) AND price < 1e300 AND size < 99999999999",
        "symbol::UUID = '6f9619ff-8b86-d011-b42d-00cf4fc964ff'",
        "json_object('a', size) = '{}' AND [size] = ['1'] AND {'a': size} = {'a': '1'}",
        "map([symbol], [1])['a'] IS NULL",
    ],
)
def test_what_some_rows_are_answered_with_is_accepted(condition: str, engine: Engine) -> None:
    query = engine.continuous_query(f"SELECT count(*) AS n FROM {TRADES} WHERE {condition}")
    query.close()


def test_a_column_that_nothing_reads_is_not_evaluated(engine: Engine) -> None:
    text = f"SELECT count(*) AS n FROM (SELECT CAST('x' AS INT) AS x, * FROM {TRADES}) t"
    query = engine.continuous_query(text)
    query.close()


NUMBERS = (
    *("TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "INTEGER", "UINTEGER", "BIGINT", "UBIGINT"),
    *("FLOAT", "DOUBLE"),
)


@pytest.mark.parametrize("number", NUMBERS)
def test_whole_numbers_can_be_compared_with_every_column_of_numbers(number: str) -> None:
    """Which is why DuckDB is not asked about them."""
    comparisons = [
        f"{one} {sign} {other}"
        for literal in ("0", "128", "70000", "5000000000", "9" * 18)
        for sign in ("=", "<>", "<", "<=", ">", ">=")
        for one, other in (("x", literal), (literal, "x"))
    ]
    with Engine(clock=ManualClock()) as engine:
        engine.sql(f"CREATE STREAM s (x {number})")
        query = engine.continuous_query(f"SELECT {', '.join(comparisons)} FROM s")
        engine.append("s", {"x": [1]})
        [result] = query.results()
        assert (result.error, result.rows_failed) == (None, 0)
        assert result.table.num_columns == len(comparisons)


def test_a_number_that_a_decimal_has_no_room_for_is_refused() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (x DECIMAL(38, 37))")
        with pytest.raises(QueryTypeError):
            engine.continuous_query("SELECT x > 7999 AS a FROM s")
        with pytest.raises(QueryTypeError):
            engine.continuous_query("SELECT d.x > 7999 AS a FROM (SELECT x FROM s) AS d")
