"""Statements on what an engine has: each takes effect completely or not at all."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream import Engine, ManualClock
from upstream.errors import NameTakenError, StatementError


@pytest.fixture
def engine() -> Engine:
    return Engine(clock=ManualClock())


def test_an_insert_returns_the_number_of_rows(engine: Engine) -> None:
    engine.sql("CREATE STREAM beats (n BIGINT)")
    assert engine.sql("INSERT INTO beats VALUES (1), (2)").to_pydict() == {"Count": [2]}


def test_a_statement_without_a_result_returns_no_rows(engine: Engine) -> None:
    assert engine.sql("CREATE STREAM beats (n BIGINT)").equals(pa.table({}))


def test_a_stream_cannot_have_the_name_of_a_table(engine: Engine) -> None:
    engine.sql("CREATE TABLE beats AS SELECT 1 AS n")
    with pytest.raises(NameTakenError, match="beats"):
        engine.sql("CREATE STREAM beats (n BIGINT)")


def test_a_stream_that_a_query_reads_stays_as_it_was(engine: Engine) -> None:
    engine.sql("CREATE STREAM beats (n BIGINT)")
    query = engine.continuous_query("SELECT n FROM beats", name="all beats")
    for text in ("DROP STREAM beats", "CREATE OR REPLACE STREAM beats (n TEXT)"):
        with pytest.raises(StatementError, match="all beats"):
            engine.sql(text)
    engine.append("beats", {"n": [1]})
    assert [result.table.to_pydict() for result in query] == [{"n": [1]}]


def test_a_table_that_a_query_reads_cannot_be_dropped(engine: Engine) -> None:
    engine.sql("CREATE STREAM beats (n BIGINT)")
    engine.sql("CREATE TABLE names AS SELECT 1 AS n, 'one' AS name")
    engine.continuous_query("SELECT name FROM beats JOIN names USING (n)", name="named")
    with pytest.raises(StatementError, match="named"):
        engine.sql("DROP TABLE names")
    assert engine.sql("SELECT name FROM names").to_pydict() == {"name": ["one"]}
