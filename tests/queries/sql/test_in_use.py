"""Tables are not changed under the queries that read them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlglot
from sqlglot import exp

from upstream import Engine, ManualClock, StatementError
from upstream.database.duck import Duck
from upstream.queries.sql import OtherStatement, parse
from upstream.queries.sql.in_use import changed_tables, tables_read


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("SELECT * FROM chunk_0 JOIN Names USING (symbol)", {"names"}),
        ("WITH names AS (SELECT 1 AS n) SELECT * FROM names, chunk_0", set()),
        ("SELECT (SELECT max(a) FROM one), b FROM chunk_1 WHERE c IN (FROM two)", {"one", "two"}),
    ],
)
def test_a_query_reads_the_tables_that_it_names(text: str, tables: set[str]) -> None:
    query = sqlglot.parse_one(text, dialect="duckdb")
    assert isinstance(query, exp.Query)
    assert tables_read(query) == tables


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
