"""Data from outside becomes Arrow tables, or an error that says what would."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from upstream import ParameterError
from upstream.rows.arrow_data import as_arrow, empty_table, no_rows

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
def test_what_is_no_table_is_an_error_that_says_what_is(data: object) -> None:
    with pytest.raises(ParameterError, match="data"):
        as_arrow(data)


@pytest.mark.parametrize("data", ["trades.csv", Path("trades.csv")])
def test_of_a_path_it_is_said_how_to_read_it(data: object) -> None:
    with pytest.raises(ParameterError, match=r"read_csv\(\).*create_table\(\)"):
        as_arrow(data)


def test_a_plan_of_polars_is_to_be_collected() -> None:
    with pytest.raises(ParameterError, match=r"collect\(\)"):
        as_arrow(pl.DataFrame(ROWS).lazy())


def test_what_the_caller_does_with_an_array_later_changes_nothing() -> None:
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
