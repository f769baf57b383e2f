"""Results as Arrow, also where they come as Python values, and a warning that is hidden."""

from __future__ import annotations

import warnings
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest
import sqlglot

from upstream.database.arrow_results import (
    SHORT_ROWS,
    as_arrow,
    has_plain_types,
    run_once,
    run_query,
    table_of,
)
from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.database.prepared import Prepared
from upstream.queries.sql.lending import prepare

NAN, INF = float("nan"), float("inf")
VALUES: list[tuple[pa.DataType, list[object]]] = [
    (pa.int8(), [-128, 127, None]),
    (pa.int64(), [-(1 << 63), (1 << 63) - 1, None]),
    (pa.uint64(), [0, (1 << 64) - 1, None]),
    (pa.bool_(), [True, False, None]),
    (pa.float64(), [0.1, -0.0, NAN, INF, -INF, 5e-324, None]),
    (pa.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(-(10**38) + 1), None]),
    (pa.decimal128(12, 2), [Decimal("-1.05"), None]),
    (pa.string(), ["", "\0", "ß€𝄞", None]),
]


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


# Short results


def prepared(duck: Duck, text: str, schema: pa.Schema) -> Prepared:
    return prepare(duck, sqlglot.parse_one(text, dialect="duckdb"), {"t": schema})


@pytest.mark.parametrize(("kind", "values"), VALUES, ids=[str(kind) for kind, _ in VALUES])
def test_values_are_the_same_either_way(
    duck: Duck, kind: pa.DataType, values: list[object]
) -> None:
    rows = pa.table({"v": pa.array(values, kind)})
    assert has_plain_types(rows.schema)
    statement = prepared(duck, "SELECT v FROM t", rows.schema)
    by_arrow, short, again = (statement.run(t=rows) for _ in range(3))
    assert short.schema == by_arrow.schema == rows.schema
    assert repr(short.to_pylist()) == repr(again.to_pylist()) == repr(by_arrow.to_pylist())


@pytest.mark.parametrize(
    "kind",
    [pa.timestamp("us"), pa.date32(), pa.float32(), pa.list_(pa.int64()), pa.binary()],
    ids=str,
)
def test_types_without_python_values_are_converted_by_arrow(kind: pa.DataType) -> None:
    assert not has_plain_types(pa.schema([("a", pa.int64()), ("b", kind)]))


def test_times_beyond_those_of_python_come_through(duck: Duck) -> None:
    schema = pa.schema([("v", pa.int64())])
    statement = prepared(duck, "SELECT make_timestamp(v) AS v FROM t", schema)
    beyond = pa.table({"v": [9_000_000_000_000_000_00]})
    values = [statement.run(t=beyond)["v"].cast(pa.int64()).to_pylist() for _ in range(3)]
    assert values == [[9_000_000_000_000_000_00]] * 3


@pytest.mark.parametrize("rows", [0, 1, SHORT_ROWS - 1, SHORT_ROWS, SHORT_ROWS + 1, 5_000])
def test_a_result_may_grow_and_shrink(duck: Duck, rows: int) -> None:
    schema = pa.schema([("v", pa.int64())])
    statement = prepared(duck, "SELECT v, v * 2 AS twice FROM t", schema)
    for count in (3, 3, rows, rows, 2, 2, rows):
        table = statement.run(t=pa.table({"v": range(count)}, schema=schema))
        assert table["v"].to_pylist() == list(range(count))
        assert table["twice"].to_pylist() == list(range(0, 2 * count, 2))


def test_a_value_that_does_not_fit_is_what_duckdb_makes_of_it(duck: Duck) -> None:
    schema = pa.schema([("v", pa.float64())])
    statement = prepared(duck, "SELECT v::HUGEINT AS v FROM t", schema)
    statement.run(t=pa.table({"v": [1.0]}))
    large = pa.table({"v": [1.6e38]})  # of 39 digits, where Arrow has 38
    values = [statement.run(t=large)["v"].cast(pa.string()).to_pylist() for _ in range(2)]
    assert values[0] == values[1]


def test_an_error_leaves_the_statement_as_good_as_it_was(duck: Duck) -> None:
    schema = pa.schema([("v", pa.string())])
    statement = prepared(duck, "SELECT v::INTEGER AS v FROM t", schema)
    for _ in range(3):
        assert statement.run(t=pa.table({"v": ["7"]}))["v"].to_pylist() == [7]
        with pytest.raises(DatabaseError):
            statement.run(t=pa.table({"v": ["x"]}))


def test_a_table_of_no_rows_has_the_schema() -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
    assert table_of([], schema).equals(schema.empty_table())
    assert not has_plain_types(pa.schema([]))


def test_a_type_that_differs_in_python_is_converted_by_arrow(duck: Duck) -> None:
    schema = pa.schema([("v", pa.string())])
    statement = prepared(duck, "SELECT v::UUID AS v FROM t", schema)
    text = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
    for _ in range(4):
        assert statement.run(t=pa.table({"v": [text]}))["v"].to_pylist() == [text]
