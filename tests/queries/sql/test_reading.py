"""Streams in queries become chunks wherever they are, and nothing else does."""

from __future__ import annotations

import pytest
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.errors import QueryError, QuerySyntaxError, StatementError, WindowError
from upstream.queries.sql import check, read_query
from upstream.queries.sql.window_clause import WindowKind

from .example_streams import STREAMS, refused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM trades", "SELECT * FROM chunk_0 AS trades"),
        ("FROM trades", "SELECT * FROM chunk_0 AS trades"),
        ("SELECT * FROM Trades", "SELECT * FROM chunk_0 AS Trades"),
        ('SELECT * FROM "TRADES"', 'SELECT * FROM chunk_0 AS "TRADES"'),
        ("SELECT t.price FROM trades t", "SELECT t.price FROM chunk_0 AS t"),
        ("SELECT * FROM trades AS t(a, b)", "SELECT * FROM chunk_0 AS t(a, b)"),
        (
            "SELECT trades.price FROM tumble(trades, INTERVAL '1 day')",
            "SELECT trades.price FROM chunk_0 AS trades",
        ),
        ("SELECT a FROM rows(trades, 9, 3) t(a)", "SELECT a FROM chunk_0 AS t(a)"),
        (
            "SELECT * FROM companies c JOIN trades USING (symbol), ticks",
            "SELECT * FROM companies AS c JOIN chunk_0 AS trades USING (symbol), chunk_1 AS ticks",
        ),
        (
            "SELECT (SELECT max(price) FROM trades) AS m, * FROM ticks",
            "SELECT (SELECT MAX(price) FROM chunk_0 AS trades) AS m, * FROM chunk_1 AS ticks",
        ),
        (
            "SELECT 1 FROM news WHERE EXISTS(SELECT 1 FROM trades)",
            'SELECT 1 AS "1" FROM chunk_0 AS news WHERE EXISTS(SELECT 1 FROM chunk_1 AS trades)',
        ),
        (
            "SELECT k FROM news UNION ALL SELECT sensor FROM ticks",
            "SELECT k FROM chunk_0 AS news UNION ALL SELECT sensor FROM chunk_1 AS ticks",
        ),
        (
            "SELECT * FROM news, LATERAL (FROM rows(trades, 9)) x",
            "SELECT * FROM chunk_0 AS news, LATERAL (SELECT * FROM chunk_1 AS trades) AS x",
        ),
        ("SELECT * FROM LATERAL rows(trades, 9)", "SELECT * FROM chunk_0 AS trades"),
        ("SELECT * FROM (rows(trades, 9)) x", "SELECT * FROM (chunk_0 AS trades) AS x"),
        ("SELECT * FROM main.trades", "SELECT * FROM main.trades"),
        ("SELECT trades FROM companies", "SELECT trades FROM companies"),
    ],
)
def test_a_stream_becomes_a_chunk(text: str, expected: str) -> None:
    parsed = read_query(text, STREAMS)
    assert parsed.query.sql("duckdb") == expected
    assert parsed.text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WITH trades AS (SELECT 1) SELECT * FROM trades", []),
        ("WITH TRADES AS (SELECT 1) SELECT * FROM trades, Ticks", ["ticks"]),
        ("WITH trades AS (SELECT * FROM trades) SELECT * FROM trades", ["trades"]),
        ("WITH RECURSIVE trades AS (SELECT 1 UNION ALL FROM trades) FROM trades", []),
        ("WITH a AS (FROM news), news AS (FROM a) SELECT * FROM news", ["news"]),
        ("WITH news AS (FROM ticks), a AS (FROM news) SELECT * FROM a, news", ["ticks"]),
        ("SELECT * FROM (WITH news AS (SELECT 1) FROM news) x, news", ["news"]),
        ("WITH news AS (SELECT 1) SELECT * FROM (SELECT * FROM news) x", []),
        ("WITH news AS (SELECT 1) SELECT (SELECT max(k) FROM rows(news, 3))", ["news"]),
        ("WITH a AS (WITH news AS (SELECT 1) FROM news) SELECT * FROM a, news", ["news"]),
    ],
)
def test_a_common_table_expression_hides_a_stream(text: str, expected: list[str]) -> None:
    assert [window.stream for window in read_query(text, STREAMS).windows] == expected


def test_windows_are_in_the_order_of_the_text() -> None:
    text = """
        WITH a AS (SELECT * FROM rows(trades, 1)), b AS (SELECT * FROM rows(ticks, 2))
        SELECT (SELECT count(*) FROM rows(news, 3)) FROM b, a, rows(trades, 4), days
        WHERE EXISTS (SELECT 1 FROM rows(ticks, 5))"""
    parsed = read_query(text, STREAMS)
    assert [window.size for window in parsed.windows] == [1, 2, 3, 4, 0, 5]
    assert [window.kind for window in parsed.windows][4] is WindowKind.STREAM
    assert [text[place or 0 :].split("(", maxsplit=1)[0] for place in parsed.places] == [
        *["rows"] * 4,
        text[text.index("days") :].split("(", maxsplit=1)[0],
        "rows",
    ]
    for i in range(6):
        assert parsed.query.sql().count(f"chunk_{i}") == 1


def test_a_window_cannot_be_used_as_a_value() -> None:
    with refused(WindowError, "tumble(", "returns a table, not a value"):
        read_query("SELECT price FROM trades WHERE tumble(trades, 3) > 1", STREAMS)


def test_a_function_of_that_name_over_something_else_is_not_ours() -> None:
    parsed = read_query("SELECT latest(price) FROM trades", STREAMS)
    assert "LATEST(price)" in parsed.query.sql()


@pytest.mark.parametrize(
    "text",
    ["CREATE TABLE x (a INT)", "INSERT INTO x VALUES (1)", "PRAGMA version", "VALUES (1)", "nosql"],
)
def test_a_statement_that_is_not_a_query_is_refused(text: str) -> None:
    with pytest.raises(StatementError, match="not a query"):
        read_query(text, STREAMS)


@pytest.mark.parametrize("text", ["PIVOT trades ON symbol USING sum(price)", "UNPIVOT news ON k"])
def test_a_pivot_that_is_a_statement_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(StatementError, match=f"{text.split(maxsplit=1)[0]} is not supported"):
        read_query(text, STREAMS)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELECT * FROM chunk_0", "chunk_0"),
        ("SELECT * FROM trades AS merged_1", "merged_1"),
        ("SELECT * FROM bounds_0", "bounds_0"),
        ("WITH chunk_3 AS (SELECT 1) SELECT 1", "chunk_3"),
        ("SELECT price AS __s0 FROM trades", "__s0"),
        ("SELECT price FROM trades WHERE symbol = $1", "$1"),
        ("SELECT price FROM trades WHERE symbol = ?", "?"),
        ("SELECT price FROM trades WHERE symbol = $name", "$name"),
    ],
)
def test_reserved_names_and_parameters_are_refused(text: str, place: str) -> None:
    with refused(StatementError, place):
        read_query(text, STREAMS)


def test_an_error_is_an_error_of_queries_and_a_value_error() -> None:
    with pytest.raises(ValueError, match="no statement") as caught:
        read_query("", STREAMS)
    assert isinstance(caught.value, QueryError)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELECT symbol, symbol <=> 'a' FROM trades", "symbol <=>"),
        ("SELECT * FROM trades WHERE symbol -> 'x' IS NULL", "symbol ->"),
        ("SELECT row(symbol) < row('a') FROM trades", "FROM"),
        ("SELECT price FROM trades UNION SELECT x'00'", "'00'"),
    ],
)
def test_what_would_be_read_otherwise_than_by_duckdb_cannot_stand(
    text: str, place: str, duck: Duck
) -> None:
    with refused(StatementError, place, r"may read it differently[^$]*sql\(\)"):
        read_query(text, STREAMS, duck)


def test_a_syntax_error_of_duckdb_has_its_place(duck: Duck) -> None:
    with refused(QuerySyntaxError, "2 FROM", 'syntax error at or near "2"'):
        read_query("SELECT price DIV 2 FROM trades", STREAMS, duck)


def names_of(text: str, duck: Duck) -> list[str]:
    names: list[str] = check(read_query(text, STREAMS), STREAMS, duck).outer.names
    return names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT string_agg(symbol) FROM trades", ["string_agg(symbol)"]),
        ("SELECT mode(symbol), AVG(price) FROM trades", ["mode(symbol)", "AVG(price)"]),
        ("SELECT sum( price ),\n  price\n+1 FROM trades GROUP BY 2", ["sum( price )", "price +1"]),
        ("SELECT count(*) FROM trades", ["count(*)"]),
        (
            "SELECT count(*) AS n, max(k) m, (k) FROM days GROUP BY k",
            ["n", "m", "k"],
        ),
        (
            "SELECT symbol, t.price, * FROM ticks, trades t",
            ["symbol", "price", "tick", "sensor", "time", "symbol", "price", "size"],
        ),
        ("SELECT 1, 'a  b', NULL, true FROM trades", ["1", "'a  b'", "NULL", "true"]),
        ("FROM trades SELECT price::INT, -price", ["price::INT", "-price"]),
        ("SELECT DISTINCT upper(symbol) FROM trades", ["upper(symbol)"]),
        ("SELECT DISTINCT ON (price, size) upper(symbol) FROM trades", ["upper(symbol)"]),
        ("SELECT ALL upper(symbol) FROM trades", ["upper(symbol)"]),
        ("SELECT price IS DISTINCT FROM 3 FROM trades", ["price IS DISTINCT FROM 3"]),
        ("SELECT extract(year FROM time) FROM trades", ["extract(year FROM time)"]),
        (
            "SELECT quantile_cont(price, 0.5) FILTER (WHERE size > 1) FROM trades",
            ["quantile_cont(price, 0.5) FILTER (WHERE size > 1)"],
        ),
        (
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM trades",
            ["percentile_cont(0.5) WITHIN GROUP (ORDER BY price)"],
        ),
        ("SELECT max(price) -- the most\n FROM trades", ["max(price)"]),
        ("SELECT max(/* of */ price) FROM trades", ["max( price)"]),
        ("SELECT [price, size], {'a': price} FROM trades", ["[price, size]", "{'a': price}"]),
        ('SELECT upper("symbol") FROM trades', ['upper("symbol")']),
        ("SELECT (SELECT max(k) FROM days), 1+1 FROM trades", ["(SELECT max(k) FROM days)", "1+1"]),
        ("SELECT sum(price) FROM tumble(trades, INTERVAL '1 day')", ["sum(price)"]),
        ("WITH x AS (SELECT 1+1 FROM trades) SELECT 2+2, 1+1 FROM x", ["2+2", "1+1"]),
        ("WITH x AS (SELECT 1 FROM trades) (SELECT 1, 2+2 FROM x)", ["1", "2+2"]),
        ("SELECT price+1 FROM trades UNION ALL SELECT size+1 FROM trades", ["price+1"]),
        (
            "SELECT price+1 FROM trades UNION BY NAME SELECT size+1 FROM trades",
            ["price+1", "size+1"],
        ),
        ("(SELECT price+1 FROM trades) ORDER BY 1", ["price+1"]),
        ("SELECT sum(price) FROM trades ORDER BY sum(price) LIMIT 1", ["sum(price)"]),
        (
            "SELECT size+1, sum(price) FROM trades GROUP BY ALL ORDER BY ALL",
            ["size+1", "sum(price)"],
        ),
        (
            "SELECT size+1, sum(price) FROM trades GROUP BY size+1 ORDER BY 2",
            ["size+1", "sum(price)"],
        ),
        (
            "SELECT row_number() OVER (ORDER BY price) FROM trades",
            ["row_number() OVER (ORDER BY price)"],
        ),
    ],
)
def test_a_column_is_called_what_was_written(text: str, names: list[str], duck: Duck) -> None:
    assert names_of(text, duck) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT COLUMNS('p.*|symbol') FROM trades", ["symbol", "price"]),
        (
            "SELECT max(COLUMNS('price|size')) FROM trades",
            ["price", "size"],
        ),
        ("SELECT unnest({'a': price, 'b': size}) FROM trades", ["a", "b"]),
        ("SELECT s.* FROM (SELECT {'a': price, 'b': size} AS s FROM trades)", ["a", "b"]),
        ("SELECT s.a FROM (SELECT {'a': price} AS s FROM trades)", ["a"]),
        ("SELECT * REPLACE (k || '' AS k) FROM news", ["k", "text"]),
    ],
)
def test_an_item_that_is_several_columns_keeps_their_names(
    text: str, names: list[str], duck: Duck
) -> None:
    assert names_of(text, duck) == names


def test_a_long_query_is_named_in_time() -> None:
    text = " UNION ALL BY NAME ".join(["SELECT 1 + 1, price + 1 FROM trades"] * 150)
    parsed = read_query(text, STREAMS)
    names = {each.alias for each in parsed.query.find_all(exp.Alias)}
    assert names == {"1 + 1", "price + 1"}
