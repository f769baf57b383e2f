"""A standing query needs the key of its stream, few rows, and unchanged tables and settings."""

from __future__ import annotations

import pytest
from sqlglot import exp

from tests.queries.parsed import query_of
from upstream import Engine, ManualClock, StatementError, UnboundedQueryError
from upstream.database.duck import Duck
from upstream.errors import QueryKeyError
from upstream.queries.sql import InsertInto, OtherStatement, check_key, parse, read_query
from upstream.queries.sql.standing_needs import (
    cause_and_cure,
    changed_tables,
    tables_read,
    tables_with_other_rows,
)

from .example_streams import STREAMS, shown


def key_of(text: str, duck: Duck, semantics: str = "update") -> tuple[str, ...]:
    return check_key(read_query(text, STREAMS), STREAMS, semantics, duck)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM trades", ("symbol",)),
        ("SELECT symbol AS s, price FROM trades WHERE price > 3", ("s",)),
        ("SELECT SYMBOL FROM trades", ("SYMBOL",)),
        ("SELECT t.symbol FROM trades t", ("symbol",)),
        ("SELECT t.* FROM trades t, companies", ("symbol",)),
        ("SELECT (symbol) FROM trades", ("symbol",)),
        ("SELECT upper(symbol) AS u, symbol AS k FROM trades", ("k",)),
        ("WITH x AS (SELECT symbol AS y FROM trades) SELECT x.* FROM x", ("y",)),
        ("WITH x AS (FROM trades), y AS (FROM x) SELECT symbol FROM y", ("symbol",)),
        ("SELECT z FROM (SELECT * FROM trades) AS t(t, z)", ("z",)),
        ("SELECT s FROM trades AS t(t, s)", ("s",)),
        ("SELECT * EXCLUDE (price) FROM trades", ("symbol",)),
        ("SELECT * REPLACE (price + 1 AS price) FROM trades", ("symbol",)),
        ("SELECT * RENAME (symbol AS s) FROM trades", ("s",)),
        ("SELECT symbol, company FROM trades JOIN companies USING (symbol)", ("symbol",)),
        ("SELECT symbol FROM (trades JOIN companies USING (symbol))", ("symbol",)),
        ("SELECT symbol FROM trades UNION ALL SELECT k FROM news", ("symbol",)),
        ("SELECT symbol, sensor FROM trades, ticks", ("symbol", "sensor")),
        ("SELECT t.symbol FROM trades t JOIN trades u USING (symbol)", ("symbol",)),
        ("SELECT t.symbol AS a FROM trades t JOIN news n ON t.symbol = n.k", ("a",)),
        ("SELECT k FROM trades t JOIN news n ON price > 3 AND (k = symbol)", ("k",)),
        ("SELECT k FROM trades t, news n WHERE symbol = k AND price > 3", ("k",)),
        (
            "SELECT d FROM trades JOIN news ON symbol = k JOIN (SELECT k AS d FROM news) ON d = k",
            ("d",),
        ),
        ("SELECT symbol FROM trades t ASOF JOIN trades u USING (symbol, time)", ("symbol",)),
        ("SELECT k, x FROM trades, LATERAL (SELECT symbol AS k, 1 AS x) l, news", None),
    ],
)
def test_the_key_is_in_the_result(text: str, expected: tuple[str, ...] | None, duck: Duck) -> None:
    if expected is None:
        with pytest.raises(QueryKeyError):
            key_of(text, duck)
    else:
        assert key_of(text, duck) == expected


@pytest.mark.parametrize(
    "text",
    [
        "SELECT price FROM trades",
        "SELECT upper(symbol) AS symbol FROM trades",
        "SELECT * EXCLUDE (symbol) FROM trades",
        "SELECT * REPLACE (upper(symbol) AS symbol) FROM trades",
        "SELECT symbol FROM (SELECT price AS symbol FROM trades)",
        "SELECT companies.symbol FROM trades, companies",
        "SELECT symbol FROM trades UNION ALL SELECT text FROM news",
        "SELECT symbol FROM trades UNION ALL SELECT 'x'",
        "SELECT symbol FROM trades, ticks",
        "SELECT t.symbol FROM trades t LEFT JOIN news n ON t.symbol = n.k",
        "SELECT t.symbol FROM trades t LEFT JOIN trades u USING (symbol)",
        "SELECT t.symbol FROM trades t JOIN news n ON t.symbol > n.k",
        "SELECT t.symbol FROM trades t JOIN news n ON t.symbol = n.k OR price > 3",
        "SELECT t.symbol FROM trades t JOIN news n ON t.symbol = upper(n.k)",
        "SELECT t.symbol FROM trades t JOIN news n ON NOT t.symbol = n.k",
    ],
)
def test_a_query_that_drops_the_key_is_refused(text: str, duck: Duck) -> None:
    with pytest.raises(QueryKeyError, match=r"select .* too") as caught:
        key_of(text, duck)
    assert caught.value.line == 1
    assert "result lacks" in caught.value.reason


def test_the_place_is_that_of_what_is_selected(duck: Duck) -> None:
    with pytest.raises(QueryKeyError) as caught:
        key_of("SELECT\n  price, time FROM trades", duck)
    assert shown(caught) == "price, time FROM trades"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT price FROM tumble(trades, INTERVAL '1 day')",
        "SELECT price FROM latest(trades)",
        "SELECT avg(price) FROM trades",
        "SELECT price FROM trades GROUP BY price",
        "SELECT DISTINCT price FROM trades",
        "SELECT price, row_number() OVER () FROM trades",
    ],
)
def test_windows_and_aggregates_need_no_key(text: str, duck: Duck) -> None:
    assert key_of(text, duck) == ()


def test_append_queries_need_no_key(duck: Duck) -> None:
    assert key_of("SELECT price FROM trades", duck, "append") == ()


def test_common_tables_that_read_one_another_many_times_are_planned_soon(duck: Duck) -> None:
    names = ", ".join(
        f"a{i} AS (SELECT a{i - 1}.* FROM a{i - 1}, a{i - 1} AS b)" for i in range(1, 40)
    )
    text = f"WITH a0 AS (SELECT * FROM trades), {names} SELECT symbol FROM a39"
    assert key_of(text, duck) == ("symbol",)


def test_a_key_that_several_streams_have_is_asked_for_with_its_stream(duck: Duck) -> None:
    text = "SELECT t.symbol, q.n FROM trades t JOIN trades q ON t.price = q.price"
    with pytest.raises(QueryKeyError, match=r"select q\.symbol too"):
        key_of(text.replace("q.n", "q.price"), duck)


@pytest.mark.parametrize(
    ("text", "cause", "cure"),
    [
        ("SELECT price FROM trades ORDER BY price", "ORDER BY", "hop(stream"),
        ("SELECT symbol, sum(price) FROM trades GROUP BY symbol", "GROUP BY", "landmark(stream)"),
        ("SELECT DISTINCT symbol FROM trades", "DISTINCT", "semantics='update'"),
        ("FROM trades LIMIT 3", "LIMIT", "hop(stream"),
        ("SELECT sum(price) FROM trades", "", "hop(stream"),
        ("FROM trades t JOIN ticks k ON t.price = k.value", "a join of streams", "latest(ticks)"),
    ],
)
def test_the_part_that_needs_all_rows_is_named(text: str, cause: str, cure: str) -> None:
    found = cause_and_cure(read_query(text, STREAMS))
    assert found[0] == cause
    assert cure in found[1]


def test_a_query_that_cannot_stand_is_refused_with_the_reason() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM a (k INT, v INT) KEY (k)")
        engine.sql("CREATE STREAM b (k INT, w INT) KEY (k)")
        with pytest.raises(UnboundedQueryError, match=r"all rows of the stream: ORDER BY"):
            engine.continuous_query("SELECT v FROM a ORDER BY v")
        with pytest.raises(UnboundedQueryError, match=r"a join of streams[^$]*latest\(b\)"):
            engine.continuous_query("SELECT v, w FROM a JOIN b USING (k)")
        engine.continuous_query("SELECT v, w FROM a JOIN latest(b) USING (k)")


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("SELECT * FROM chunk_0 JOIN Names USING (symbol)", {"names"}),
        ("WITH names AS (SELECT 1 AS n) SELECT * FROM names, chunk_0", set()),
        ("SELECT (SELECT max(a) FROM one), b FROM chunk_1 WHERE c IN (FROM two)", {"one", "two"}),
    ],
)
def test_a_query_reads_the_tables_that_it_names(text: str, tables: set[str]) -> None:
    assert tables_read(query_of(text)) == tables


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("DROP TABLE names", {"names"}),
        ("DROP TABLE IF EXISTS Names", {"names"}),
        ("ALTER TABLE names ADD COLUMN a INT", {"names"}),
        ("CREATE OR REPLACE TABLE names (a INT)", {"names"}),
        ("CREATE OR REPLACE TABLE names AS SELECT 1 AS a", {"names"}),
        ("CREATE TABLE names (a INT)", set()),
        ("DELETE FROM names", set()),
        ("SELECT * FROM names", set()),
        ("EXPLAIN SELECT * FROM names", set()),
    ],
)
def test_some_statements_change_more_than_rows(text: str, tables: set[str], duck: Duck) -> None:
    statement = parse(text, duck)
    assert isinstance(statement, OtherStatement)
    assert changed_tables(statement, duck) == tables


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE names ALTER a SET DATA TYPE VARCHAR USING a::VARCHAR || x'41'",
        "CREATE OR REPLACE TABLE names AS UNPIVOT others ON a INTO NAME n VALUE v ORDER BY n",
    ],
)
def test_what_only_duckdb_can_read_may_change_all_that_it_names(text: str, duck: Duck) -> None:
    statement = parse(text, duck)
    assert isinstance(statement, OtherStatement)
    assert statement.tree is None or isinstance(statement.tree, exp.Command)
    assert "names" in changed_tables(statement, duck)


def test_a_table_stays_for_as_long_as_a_query_reads_it() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM trades (symbol TEXT)")
        engine.create_table("names", {"symbol": ["IBM"], "name": ["Business Machines"]})
        query = engine.continuous_query("SELECT name FROM trades JOIN names USING (symbol)")
        for text in ("DROP TABLE names", "CREATE OR REPLACE TABLE Names (a INT)"):
            with pytest.raises(StatementError, match="query-1"):
                engine.sql(text)
        engine.append("trades", {"symbol": ["IBM"]})
        assert query.results()[0].table.to_pylist() == [{"name": "Business Machines"}]
        query.close()
        engine.sql("DROP TABLE names")


CHANGES = [
    "SET integer_division = true",
    "SET GLOBAL default_order = 'DESC'",
    "SET TimeZone = 'America/New_York'",
    "SET TIME ZONE 'America/New_York'",
    "RESET TimeZone",
    "PRAGMA default_null_order = 'nulls_first'",
    "SET default_collation = 'nocase'",
]


@pytest.mark.parametrize("text", CHANGES)
def test_a_setting_that_changes_results_is_refused_while_a_query_stands(text: str) -> None:
    with Engine() as engine:
        engine.sql("CREATE STREAM s (time BIGINT, x BIGINT) TIME (time)")
        query = engine.continuous_query("SELECT sum(x) FROM tumble(s, 2)")
        with pytest.raises(StatementError, match="standing"):
            engine.sql(text)
        query.close()
        engine.sql(text)


def test_other_settings_change_at_any_time() -> None:
    with Engine() as engine:
        engine.sql("CREATE STREAM s (time BIGINT, x BIGINT) TIME (time)")
        engine.continuous_query("SELECT sum(x) FROM tumble(s, 2)")
        engine.sql("SET memory_limit = '1GB'")
        engine.sql("SELECT 'SET integer_division'")


@pytest.mark.parametrize(
    ("text", "is_changed"),
    [
        ("EXPLAIN ANALYZE INSERT INTO names VALUES (1)", True),
        ("EXPLAIN (ANALYZE) DELETE FROM names", True),
        ("EXPLAIN INSERT INTO names VALUES (1)", False),
        ("EXPLAIN ANALYZE SELECT * FROM names", False),
        ("INSERT INTO others SELECT * FROM names", False),
        ("INSERT INTO Names SELECT * FROM others", True),
        ("COPY names TO 'names.csv'", False),
        ("COPY names FROM 'names.csv'", True),
        ("CREATE TABLE others AS FROM names", False),
        ("DESCRIBE names", False),
    ],
)
def test_a_statement_changes_the_rows_of_its_target(
    text: str, is_changed: bool, duck: Duck
) -> None:
    statement = parse(text, duck)
    assert isinstance(statement, OtherStatement | InsertInto)
    assert ("names" in tables_with_other_rows(statement, duck)) is is_changed
