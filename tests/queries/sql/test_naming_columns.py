"""A column of a result without an alias is called what the user wrote."""

from __future__ import annotations

import pytest
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.queries.sql import check, read_query

from .example_streams import STREAMS


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
def test_what_is_several_columns_keeps_their_names(text: str, names: list[str], duck: Duck) -> None:
    assert names_of(text, duck) == names


def test_a_long_query_is_named_in_time() -> None:
    text = " UNION ALL BY NAME ".join(["SELECT 1 + 1, price + 1 FROM trades"] * 150)
    parsed = read_query(text, STREAMS)
    names = {each.alias for each in parsed.query.find_all(exp.Alias)}
    assert names == {"1 + 1", "price + 1"}
