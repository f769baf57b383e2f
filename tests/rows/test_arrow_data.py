"""Data from outside becomes Arrow tables, or an error that names the accepted kinds."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from upstream import ParameterError, StreamTypeError
from upstream.rows.arrow_data import as_arrow, empty_table, no_rows, rows_to_append
from upstream.rows.stream_definition import StreamDefinition

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
TABLE = pa.Table.from_pylist(ROWS)


@pytest.mark.parametrize(
    "data",
    [
        TABLE,
        TABLE.to_batches()[0],
        TABLE.to_reader(),
        pd.DataFrame(ROWS),
        pl.DataFrame(ROWS),
        {"a": [1, 2], "b": ["x", None]},
        ROWS,
        tuple(ROWS),
    ],
    ids=lambda data: type(data).__module__.partition(".")[0] + "." + type(data).__name__,
)
def test_rows_come_in_many_forms(data: object) -> None:
    assert as_arrow(data).to_pylist() == ROWS


@pytest.mark.parametrize("data", [7, "rows", None, [1, 2], {"a": [1], "b": [1, 2]}, {"a": 1}])
def test_data_that_is_not_a_table_is_refused_with_the_accepted_kinds(data: object) -> None:
    with pytest.raises(ParameterError, match="data"):
        as_arrow(data)


@pytest.mark.parametrize("data", ["trades.csv", Path("trades.csv")])
def test_the_hint_for_a_path_says_how_to_read_it(data: object) -> None:
    with pytest.raises(ParameterError, match=r"read_csv\(\).*create_table\(\)"):
        as_arrow(data)


def test_a_plan_of_polars_is_to_be_collected() -> None:
    with pytest.raises(ParameterError, match=r"collect\(\)"):
        as_arrow(pl.DataFrame(ROWS).lazy())


def test_later_changes_of_the_callers_array_have_no_effect() -> None:
    numbers = np.array([1, 2, 3])
    frame = pd.DataFrame({"a": numbers.copy()})
    tables = [as_arrow({"a": numbers}), as_arrow(frame)]
    numbers[:] = 7
    frame.loc[:, "a"] = 7
    assert [table["a"].to_pylist() for table in tables] == [[1, 2, 3], [1, 2, 3]]


def test_no_rows_have_no_columns() -> None:
    assert (no_rows().num_rows, no_rows().num_columns) == (0, 0)


def test_there_are_empty_tables_of_types_that_arrow_makes_no_array_of() -> None:
    schema = pa.schema([("u", pa.sparse_union([pa.field("a", pa.int64())])), ("x", pa.int64())])
    assert empty_table(schema).schema == schema
    assert empty_table(schema).num_rows == 0


def stream(kind: pa.DataType) -> StreamDefinition:
    return StreamDefinition("s", pa.schema({"a": kind}), (), None)


def appended(data: object, kind: pa.DataType) -> list[object]:
    definition = stream(kind)
    values: list[object] = definition.conform(rows_to_append(data, definition))["a"].to_pylist()
    return values


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        pytest.param([2**64 - 1, None], pa.uint64(), id="unsigned"),
        pytest.param([Decimal(2) ** 70], pa.decimal128(38, 0), id="decimal"),
        pytest.param([[1], [2, None], None], pa.list_(pa.int32()), id="lists"),
        pytest.param([{"x": 1}, {"x": None}], pa.struct({"x": pa.int8()}), id="structs"),
    ],
)
def test_values_are_those_of_the_column(values: list[object], kind: pa.DataType) -> None:
    assert appended({"A": values}, kind) == values
    assert appended([{"a": value} for value in values], kind) == values


NESTED = pa.struct({"x": pa.int32()})


@pytest.mark.parametrize(
    ("good", "bad", "kind"),
    [
        pytest.param(1, 2**63, pa.int64(), id="2**63"),
        pytest.param(1, -(2**63) - 1, pa.int64(), id="-2**63-1"),
        pytest.param(1, 2**64, pa.uint64(), id="2**64"),
        pytest.param(1, -1, pa.uint8(), id="-1"),
        pytest.param(1.0, math.nan, pa.int64(), id="nan"),
        pytest.param(1.0, math.inf, pa.int32(), id="inf"),
        pytest.param(1.0, 10**400, pa.float64(), id="10**400"),
        pytest.param(Decimal(1), Decimal(1000), pa.decimal128(5, 2), id="decimal"),
        pytest.param(Decimal(1), Decimal("NaN"), pa.decimal128(5, 2), id="decimal-nan"),
        pytest.param(Decimal(1), Decimal("1E+90"), pa.decimal128(5, 2), id="decimal-large"),
        pytest.param("a", "\ud800", pa.string(), id="surrogate"),
        pytest.param("a", 1, pa.string(), id="number-for-text"),
        pytest.param(1, "a", pa.int64(), id="text-for-number"),
        pytest.param([1], [1, "x"], pa.list_(pa.int64()), id="list"),
        pytest.param([1], [2**63], pa.list_(pa.int32()), id="list-overflow"),
        pytest.param({"x": 1}, {"x": 2**63}, NESTED, id="struct-overflow"),
        pytest.param({"x": 1}, 5, NESTED, id="number-for-struct"),
        pytest.param(1, object, pa.int64(), id="object"),
        pytest.param(datetime(2026, 1, 2), 5, pa.timestamp("us"), id="number-for-time"),
        pytest.param(datetime(2026, 1, 2), datetime(9999, 1, 1), pa.timestamp("ns"), id="far"),
        pytest.param("2026-01-02", "2026-02-30", pa.timestamp("us"), id="no-day"),
        pytest.param("2026-01-02", "yesterday", pa.date32(), id="no-date"),
    ],
)
def test_a_value_that_does_not_fit_is_shown_with_its_row(
    good: object, bad: object, kind: pa.DataType
) -> None:
    for data in ({"a": [good, None, bad, good]}, [{"a": each} for each in (good, None, bad)]):
        with pytest.raises(StreamTypeError) as caught:
            appended(data, kind)
        assert (caught.value.column, caught.value.row) == ("a", 2)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("2026-01-02 09:30:00", pa.timestamp("us"), "2026-01-02 09:30:00"),
        ("2026-01-02T09:30:00.123456", pa.timestamp("us"), "2026-01-02 09:30:00.123456"),
        ("2026-01-02T09:30:00+02:00", pa.timestamp("us"), "2026-01-02 07:30:00"),
        ("2026-01-02T09:30:00Z", pa.timestamp("ms"), "2026-01-02 09:30:00"),
        ("2026-01-02", pa.timestamp("s"), "2026-01-02 00:00:00"),
        ("2026-01-02T09:30:00+02:00", pa.timestamp("us", "UTC"), "2026-01-02 07:30:00+00:00"),
        ("2026-01-02", pa.date32(), "2026-01-02"),
    ],
    ids=str,
)
def test_times_may_be_texts(text: str, kind: pa.DataType, expected: str) -> None:
    for values in ([text], pa.array([text]), pa.array([text]).dictionary_encode()):
        [value] = appended({"a": values}, kind)
        assert str(value) == expected


def test_a_time_without_a_zone_is_refused_where_a_moment_is_needed() -> None:
    with pytest.raises(StreamTypeError, match=r"is not a TIMESTAMPTZ such as .*\+01:00"):
        appended({"a": ["2026-01-02 09:30:00"]}, pa.timestamp("us", "UTC"))
    with pytest.raises(StreamTypeError, match="some of the texts have a time zone"):
        appended({"a": ["2026-01-02 09:30:00", "2026-01-02 09:30:00Z"]}, pa.timestamp("us"))


def test_no_key_of_a_row_is_overlooked() -> None:
    with pytest.raises(StreamTypeError, match=r"'b'.*is not a column"):
        appended([{"a": 1}, {"a": 2, "b": 3}], pa.int64())
    assert appended([{}, {"a": 2}], pa.int64()) == [None, 2]


def test_what_arrow_knows_is_left_to_it() -> None:
    assert appended(pa.table({"a": [1]}), pa.int8()) == [1]
    assert appended({"a": np.array([1, 2])}, pa.int8()) == [1, 2]
    for data in (3, "rows.csv", [1, 2]):
        with pytest.raises(ParameterError):
            appended(data, pa.int8())
