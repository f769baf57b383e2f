"""Tables are not changed under the queries that read them."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from upstream import Engine, ManualClock, StatementError
from upstream.queries.tables_in_use import changed_table, tables_read


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
    ("text", "table"),
    [
        ("DROP TABLE names", "names"),
        ("DROP TABLE IF EXISTS Names", "names"),
        ("ALTER TABLE names ADD COLUMN a INT", "names"),
        ("CREATE OR REPLACE TABLE names (a INT)", "names"),
        ("CREATE OR REPLACE TABLE names AS SELECT 1 AS a", "names"),
        ("CREATE TABLE names (a INT)", None),
        ("DELETE FROM names", None),
        ("SELECT * FROM names", None),
    ],
)
def test_some_statements_change_more_than_rows(text: str, table: str | None) -> None:
    assert changed_table(sqlglot.parse_one(text, dialect="duckdb")) == table


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
