"""Results as Arrow, and the warning about them that nobody needs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

from upstream.database.arrow_results import as_arrow, run_once, run_query


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def test_a_query_gives_a_table_and_the_types_of_duckdb(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    table, types = run_query(connection, "SELECT 1::HUGEINT AS a, 'x' AS b")
    assert table.schema == pa.schema({"a": pa.decimal128(38, 0), "b": pa.string()})
    assert [str(each) for each in types] == ["HUGEINT", "VARCHAR"]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT 1 AS a", [{"a": 1}]),
        ("CREATE TABLE t (a INT)", []),
        ("INSERT INTO s VALUES (1), (2)", [{"Count": 2}]),
        ("INSERT INTO s VALUES (3) RETURNING a", [{"a": 3}]),
    ],
)
def test_other_statements_give_what_they_have(
    connection: duckdb.DuckDBPyConnection, text: str, rows: list[dict[str, int]]
) -> None:
    connection.execute("CREATE TABLE s (a INT)")
    [statement] = connection.extract_statements(text)
    assert run_once(connection, statement)[0].to_pylist() == rows


@pytest.mark.parametrize("action", ["error", "always", "default"])
def test_no_warning_comes_through_whatever_filters_were_set_since(
    connection: duckdb.DuckDBPyConnection, action: str
) -> None:
    with warnings.catch_warnings(record=True) as told:
        for _ in range(2):
            warnings.resetwarnings()
            warnings.simplefilter(action)  # type: ignore[arg-type]  # a parameter
            connection.execute("SELECT 1 AS a")
            assert as_arrow(connection).num_rows == 1
    assert told == []


def test_others_are_warned_as_before(connection: duckdb.DuckDBPyConnection) -> None:
    with warnings.catch_warnings():
        connection.execute("SELECT 1 AS a")
        as_arrow(connection)
        connection.execute("SELECT 1 AS a")
        with pytest.warns(UserWarning, match="extra copy"):
            connection.to_arrow_table()


def test_the_filters_are_left_alone_once_they_are_right(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    with warnings.catch_warnings():
        connection.execute("SELECT 1 AS a")
        as_arrow(connection)
        before = warnings.filters
        after = [*before]
        connection.execute("SELECT 1 AS a")
        as_arrow(connection)
        assert warnings.filters is before
        assert [*warnings.filters] == after
