"""Conflation by vector operations does what reading row by row does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.spark.conflation import partition_conflation
from upstream.spark.conflation.partition_conflation import (
    COUNTED,
    DELETED,
    TIME,
    PartitionConflation,
)

PARTITION, LATE, REJECTED, TIMES, POSITIONS, _ = COUNTED

Row = tuple[str | None, int, float | None, int]
"""Two columns of a key, a time, and a value."""


def batches_of(rows: list[Row], sizes: int) -> Iterator[pa.RecordBatch]:
    schema = pa.schema(
        {"a": pa.string(), "b": pa.int64(), "value": pa.int64(), TIME: pa.float64()}
        | {DELETED: pa.bool_()}
    )
    for start in range(0, len(rows), sizes):
        part = rows[start : start + sizes]
        columns = {
            "a": [row[0] for row in part],
            "b": [row[1] for row in part],
            "value": [row[3] for row in part],
            TIME: [row[2] for row in part],
            DELETED: [row[3] % 2 == 1 for row in part],
        }
        yield pa.RecordBatch.from_pydict(columns, schema=schema)


def conflated(rows: list[Row], keys: tuple[str, ...], sizes: int = 7) -> list[dict[str, Any]]:
    conflation = PartitionConflation(("a", "b", "value"), keys)
    found = conflation.conflate(batches_of(rows, sizes), partition=3)
    return [row for batch in found for row in batch.to_pylist()]


def read_row_by_row(rows: list[Row], keys: tuple[str, ...]) -> tuple[dict[Any, Any], int]:
    """Return by key the newest value, whether odd, the times, positions, late; and the rejected."""
    found: dict[Any, Any] = {}
    rejected = 0
    for position, row in enumerate(rows):
        key = tuple({"a": row[0], "b": row[1]}[name] for name in keys)
        time = row[2]
        if None in key or time is None or not math.isfinite(time):
            rejected += 1
            continue
        value, times, positions, late = found.get(key, (None, [], [], 0))
        if times and time < times[-1]:
            found[key] = (value, times, positions, late + 1)
        else:
            found[key] = (row[3], [*times, time], [*positions, position], late)
    return found, rejected


some_rows = st.lists(
    st.tuples(
        st.sampled_from(["IBM", "SAP", "é", None]),
        st.integers(0, 2),
        st.one_of(
            st.integers(-3, 6).map(float),
            st.sampled_from([None, math.nan, math.inf]),
        ),
        st.integers(0, 1_000),
    ),
    max_size=60,
)


@pytest.mark.parametrize("keys", [("a",), ("a", "b"), ("b",), ()])
@given(rows=some_rows)
def test_the_result_is_that_of_reading_row_by_row(keys: tuple[str, ...], rows: list[Row]) -> None:
    expected, rejected = read_row_by_row(rows, keys)
    found = conflated(rows, keys)
    assert sum(row[REJECTED] for row in found) == rejected
    good = [row for row in found if not row[REJECTED]]
    seen = {
        tuple(row[name] for name in keys): (
            row["value"],
            np.frombuffer(row[TIMES]).tolist(),
            np.frombuffer(row[POSITIONS], dtype=np.int64).tolist(),
            row[LATE],
        )
        for row in good
    }
    assert len(seen) == len(good), "two rows of one key"
    assert seen == expected
    assert all(row[DELETED] == (row["value"] % 2 == 1) for row in good)
    assert {row[PARTITION] for row in found} <= {3}


ONE_KEY: list[Row] = [("IBM", 0, float(number), number) for number in range(50)]


@pytest.mark.parametrize("sizes", [10, 50], ids=["several batches", "one batch"])
def test_a_long_partition_is_conflated_one_part_at_a_time(
    monkeypatch: pytest.MonkeyPatch, sizes: int
) -> None:
    monkeypatch.setattr(partition_conflation, "ROWS_AT_ONCE", 20)
    found = conflated(ONE_KEY, ("a",), sizes)
    assert [row["value"] for row in found] == [19, 39, 49]
    positions = [np.frombuffer(row[POSITIONS], dtype=np.int64).tolist() for row in found]
    assert [each for part in positions for each in part] == list(range(50))


def test_fewer_wide_rows_are_conflated_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_conflation, "BYTES_AT_ONCE", 200)
    found = conflated(ONE_KEY, ("a",), sizes=10)
    assert len(found) > 1
    assert found[-1]["value"] == 49


def test_keys_of_many_columns_and_values_stay_distinct(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partition_conflation, "MOST_CODES", 2)
    rows: list[Row] = [(name, number, 1.0, 0) for name in ("x", "y", "z") for number in range(4)]
    assert len(conflated(rows, ("a", "b"))) == 12


def test_no_rows_give_no_output() -> None:
    assert conflated([], ("a",)) == []
