"""Traces on disk: files in order of time by their names, and what is measured of them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from datasets.errors import BadFileError
from datasets.output import trace
from datasets.output.card import Column
from datasets.output.trace import measure_trace, write_trace


def in_order(spark: SparkSession, rows: int, partitions: int) -> DataFrame:
    """Return rows whose times count them; every tenth has the key 9."""
    return spark.range(0, rows, 1, partitions).selectExpr(
        "id / 4 AS time", "id % 10 AS key", "id AS value"
    )


def test_files_are_in_order_by_their_names_and_none_is_too_large(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "ROWS_PER_FILE", 100)
    write_trace(in_order(spark, 1_100, 2), tmp_path)  # 550 rows are 6 files
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"part-{number:05d}.snappy.parquet" for number in range(12)]
    tables = [pq.read_table(tmp_path / name) for name in names]
    assert max(len(table) for table in tables) == 100
    assert pa.concat_tables(tables)["value"].to_pylist() == list(range(1_100))
    assert tables[0].column_names == ["time", "key", "value"]


def test_a_frame_of_other_columns_is_a_mistake(spark: SparkSession, tmp_path: Path) -> None:
    frame = in_order(spark, 10, 1)
    for wrong in (frame.select("key", "time", "value"), frame.select("time", "key")):
        with pytest.raises(AssertionError):
            write_trace(wrong, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_trace_is_measured_after_it_was_written(spark: SparkSession, tmp_path: Path) -> None:
    frame = in_order(spark, 1_000, 2).selectExpr(
        "time + 5 AS time",
        "CASE WHEN key < 4 THEN 'busy' ELSE concat('k', key) END AS key",
        "value",
    )
    more = spark.range(0, 13, 1, 1).selectExpr("300D AS time", "concat('slow', id) AS key", "id")
    write_trace(frame.coalesce(1).union(more.coalesce(1)), tmp_path)
    measured = measure_trace(spark, tmp_path, {"time": "seconds"})
    assert (measured.updates, measured.keys) == (1_013, 20)
    assert (measured.first_time, measured.last_time) == (5.0, 300.0)
    assert measured.columns == (
        Column("time", "double", "seconds"),
        Column("key", "string"),
        Column("value", "bigint"),
    )
    skew = measured.skew
    assert (skew.busiest_key, skew.busiest_updates, skew.slowest_updates) == ("busy", 400, 1)
    assert skew.share_of_busiest_1_percent == 400 / 1_013  # of 20 keys, at least one
    assert skew.share_of_busiest_10_percent == 500 / 1_013


def test_an_empty_trace_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    write_trace(in_order(spark, 0, 1), tmp_path)
    with pytest.raises(BadFileError, match="there are no updates in it"):
        measure_trace(spark, tmp_path)
