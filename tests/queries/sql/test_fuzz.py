"""Every text is soon a statement, or an error with a place."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.database.duck import Duck
from upstream.errors import QueryError
from upstream.queries.sql import check_key, parse, read_query

from .example_streams import STREAMS

STATEMENTS = """
SELECT symbol, avg(price) FROM hop(trades, INTERVAL '10 minutes', INTERVAL '1 minute')
GROUP BY symbol HAVING count(*) > 3 ORDER BY 2 DESC LIMIT 5;
WITH x AS (SELECT * EXCLUDE (size) FROM latest(trades, rows => 3, per => (symbol, size)))
SELECT x.*, c.company FROM x LEFT JOIN companies AS c USING (symbol) WHERE price > 2.5e3;
SELECT sum(price) OVER (PARTITION BY symbol ORDER BY time ROWS BETWEEN 3 PRECEDING AND
CURRENT ROW) FROM rows(trades, 100, 10) t(time, symbol, price);
SELECT a.tick, CASE WHEN b.sensor LIKE '%x' THEN 1 ELSE NULL END FROM tumble(ticks, 10) a
JOIN LATERAL (SELECT * FROM landmark(ticks)) b ON a.sensor = b.sensor UNION ALL SELECT 1, 2;
SELECT window_start AS s, t.window_end, count(*) FROM TABLE(SESSION(DATA => TABLE trades
PARTITION BY symbol, TIMECOL => DESCRIPTOR(time), GAP => INTERVAL '5' MINUTES)) AS t
GROUP BY 1, ALL;
SELECT hop(interval '1 minute', interval '1 hour') AS window, window.start, symbol FROM trades
LEFT JOIN (SELECT *, window_end FROM tumble(ticks, 10, offset => 3, empty => true)) x ON
x.window_start = trades.window_start GROUP BY window, ROLLUP (symbol) ORDER BY window.end;
CREATE OR REPLACE STREAM trades (time TIMESTAMP, symbol TEXT, p DECIMAL(8, 2), l INT[])
KEY (symbol) TIME (time);
DROP STREAM IF EXISTS trades;
INSERT INTO trades (time, symbol) VALUES ('2026-01-01', 'IBM'), (now(), upper('x'));
CREATE TABLE t AS SELECT [1, 2, {'a': 3}] AS l, x -> x + 1, '1 day'::INTERVAL, $$a$$
""".strip().split(";")

WORDS = sorted({word for text in STATEMENTS for word in text.split()} | {"(", ")", ",", ";", "'"})
SIGNS = [*"()[]{},;:.'\"$?*/-+=<>|&!@#%^~`\\ \n\t", "--", "/*", "*/", "::", "=>", ":=", "e'", "0x"]
STRANGE = ["\x00", "\ud800", "\udfff", "\u202e", "🙂", "ß", "\x1b", "\ufeff", "\u2028", "٣", "ﬀ"]

FEW = settings().max_examples


def assert_statement_or_error(text: str, duck: Duck) -> None:
    for read in (parse, lambda text, duck: read_query(text, STREAMS, duck)):
        try:
            read(text, duck)
        except QueryError as error:
            assert error.text == text  # noqa: PT017 - either will do
            # a place may be known or not
            assert error.line is None or 1 <= error.line <= text.count("\n") + 1  # noqa: PT017
            assert str(error)  # noqa: PT017 - either will do


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Draw a statement in which some things are left out, doubled, swapped or put in."""
    text = draw(st.sampled_from(STATEMENTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        new = draw(st.sampled_from([*SIGNS, *WORDS, *STRANGE, text[start:end] * 2, ""]))
        text = text[:start] + new + text[end:]
    return text


@given(mutated())
@settings(max_examples=min(500, 15 * FEW), deadline=2_000)
def test_a_damaged_statement_is_a_statement_or_an_error(duck: Duck, text: str) -> None:
    assert_statement_or_error(text, duck)


@given(st.lists(st.sampled_from([*WORDS, *SIGNS, *STRANGE]), max_size=40))
@settings(max_examples=min(300, 10 * FEW), deadline=2_000)
def test_a_soup_of_tokens_is_a_statement_or_an_error(duck: Duck, tokens: list[str]) -> None:
    assert_statement_or_error(" ".join(tokens), duck)
    assert_statement_or_error("SELECT " + "".join(tokens), duck)


@given(st.text(max_size=60))
@settings(max_examples=min(200, 8 * FEW), deadline=2_000)
def test_any_text_is_a_statement_or_an_error(duck: Duck, text: str) -> None:
    assert_statement_or_error(text, duck)


@given(mutated())
@settings(max_examples=min(200, 8 * FEW), deadline=2_000)
def test_the_key_of_a_damaged_query_is_found_or_not(duck: Duck, text: str) -> None:
    try:
        check_key(read_query(text, STREAMS), STREAMS, "update", duck)
    except QueryError as error:
        assert error.reason  # noqa: PT017 - either will do


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 30_000,
        "SELECT " + "(" * 300 + "1" + ")" * 300,
        "SELECT " + "(SELECT " * 20_000 + "1",
        "SELECT " + "[" * 9_000 + "]" * 9_000,
        "SELECT 1" + " + 1" * 5_000,
        "SELECT " + "- " * 5_000 + "1",
        "SELECT " + "NOT " * 20_000 + "true",
        "SELECT 1 FROM trades WHERE " + "a = 1 AND " * 2_000 + "true",
        "SELECT 1" + " UNION ALL SELECT 1" * 2_000,
        "SELECT " + "CASE WHEN 1 THEN " * 3_000,
        "SELECT * FROM " + "tumble(" * 9_000,
        "SELECT * FROM " + "TABLE(TUMBLE(TABLE trades " * 9_000,
        "SELECT " + "tumble(interval '1 day') AS window, " * 3_000,
        "SELECT * FROM tumble(trades, " + "offset => 3, " * 5_000,
        "SELECT " + "window_start, " * 2_000 + "1 FROM tumble(ticks, 10) GROUP BY ALL",
        "SELECT 1 FROM " + "(SELECT * FROM " * 40 + "tumble(ticks, 10)" + ") x" * 40,
        "SELECT window_end FROM " + "(SELECT * FROM " * 40 + "tumble(ticks, 10)" + ") x" * 40,
        "SELECT window_end FROM " + "(SELECT *, * FROM " * 40 + "tumble(ticks, 10)" + ") x" * 40,
        "SELECT * FROM tumble(trades, " + "2 * " * 5_000 + "INTERVAL '1 day')",
        "SELECT " + "f(" * 9_000 + ")" * 9_000,
        "CREATE STREAM s (a " + "STRUCT(a " * 3_000,
        "SELECT '" + "'" * 99_999,
        "SELECT " + '"' * 99_999,
        "/*" * 50_000,
        "WITH " + ", ".join(f"a{i} AS (SELECT 1)" for i in range(1_000)) + " SELECT 1",
        "a" * 200_000,
        "9" * 200_000,
        "x" * 1_000_000,
        "SELECT '" + "x" * 1_000_000 + "'",
    ],
    ids=lambda text: text[:30],
)
def test_a_long_or_deep_text_is_soon_a_statement_or_an_error(text: str, duck: Duck) -> None:
    start = time.perf_counter()
    assert_statement_or_error(text, duck)
    assert time.perf_counter() - start < 10
