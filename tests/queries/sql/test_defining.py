"""The types of a stream are DuckDB's, and those that Arrow keeps as they are."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.errors import QueryTypeError, StatementError
from upstream.queries.sql import CreateStream, definition_of, parse
from upstream.queries.sql.defining import types_of
from upstream.rows.stream_definition import StreamDefinition

from .example_streams import refused


def defined(text: str, duck: Duck) -> StreamDefinition:
    statement = parse(text, duck)
    assert isinstance(statement, CreateStream)
    return definition_of(statement, duck)


def test_a_statement_becomes_a_definition(duck: Duck) -> None:
    text = "CREATE STREAM trades (time TIMESTAMP, symbol TEXT, price DOUBLE) KEY (symbol)"
    assert defined(text, duck) == StreamDefinition(
        "trades",
        pa.schema({"time": pa.timestamp("us"), "symbol": pa.string(), "price": pa.float64()}),
        ("symbol",),
        "time",
    )


@pytest.mark.parametrize(
    ("columns", "time"),
    [
        ("k INT, at TIMESTAMP", "at"),
        ("k INT, at TIMESTAMPTZ", "at"),
        ("k INT, at TIMESTAMP_NS", "at"),
        ("k INT, at TIMESTAMP, TIME TIMESTAMP", "TIME"),
        ("k INT, time BIGINT", None),
        ("k INT, time DATE", None),
    ],
)
def test_the_time_is_the_only_timestamp_or_the_one_named_so(
    columns: str, time: str | None, duck: Duck
) -> None:
    assert defined(f"CREATE STREAM s ({columns}) KEY (k)", duck).time == time


def test_with_several_timestamps_the_time_must_be_declared(duck: Duck) -> None:
    text = "CREATE STREAM s (a TIMESTAMP, b TIMESTAMPTZ)"
    with refused(StatementError, "s (", r"a and b could be[^$]*write TIME \(a\)"):
        defined(text, duck)
    assert defined(f"{text} TIME (b)", duck).time == "b"


@pytest.mark.parametrize(
    "kind",
    [
        *("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "DATE"),
        *("BIGINT", "INTEGER", "UTINYINT", "UBIGINT", "DOUBLE", "FLOAT"),
    ],
)
def test_a_time_has_a_type_with_a_unit(kind: str, duck: Duck) -> None:
    assert defined(f"CREATE STREAM s (k INT, t {kind}) KEY (k) TIME (t)", duck).time == "t"


@pytest.mark.parametrize("kind", ["TEXT", "TIME", "BOOLEAN", "DECIMAL(5, 2)", "INTERVAL", "INT[]"])
def test_other_types_cannot_be_the_time(kind: str, duck: Duck) -> None:
    with refused(QueryTypeError, "t ", "cannot be the time"):
        defined(f"CREATE STREAM s (k INT, t {kind}) KEY (k) TIME (t)", duck)


@pytest.mark.parametrize(
    "kind",
    [
        *("DECIMAL(5, 2)", "INT[]", "STRUCT(a INT, b TEXT)", "MAP(INT, TEXT)", "BLOB", "INT[3]"),
        *("INTERVAL", "TIME", "BOOLEAN", "FLOAT", "STRUCT(a INT[])[]"),
    ],
)
def test_types_that_arrow_keeps_are_taken(kind: str, duck: Duck) -> None:
    schema = defined(f"CREATE STREAM s (k INT, v {kind}) KEY (k)", duck).schema
    [(declared,)] = duck.rows(f"SELECT typeof(CAST(NULL AS {kind}))")
    assert types_of(schema, duck) == ["INTEGER", declared]


@pytest.mark.parametrize(
    ("kind", "instead"),
    [
        ("HUGEINT", "DECIMAL(38,0)"),
        ("UUID", "VARCHAR"),
        ("TIMETZ", "TIME"),
        ("BIT", "BLOB"),
        ("JSON", "VARCHAR"),
        ("mood", "VARCHAR"),
    ],
)
def test_types_that_would_become_others_are_refused(kind: str, instead: str, duck: Duck) -> None:
    duck.rows("CREATE TYPE IF NOT EXISTS mood AS ENUM ('good', 'bad')")
    with refused(QueryTypeError, "v ") as caught:
        defined(f"CREATE STREAM s (k INT, v {kind}) KEY (k)", duck)
    assert caught.value.hint == f"declare it as {instead}"


def test_a_type_that_does_not_exist_is_refused(duck: Duck) -> None:
    with refused(QueryTypeError, "v ", "NUMBRE"):
        defined("CREATE STREAM s (k INT, v NUMBRE) KEY (k)", duck)


def test_a_key_has_a_plain_type(duck: Duck) -> None:
    with pytest.raises(QueryTypeError, match="nested type"):
        defined("CREATE STREAM s (k INT[]) KEY (k)", duck)
