"""Times of every kind that streams have become the same seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from datasets.errors import BadOptionError
from datasets.profile.source import Source
from datasets.profile.times import TimeColumn

MOMENT = datetime(2026, 1, 2, 9, 30, 0, 250_000, tzinfo=UTC)
SECONDS = MOMENT.timestamp()
NAIVE = MOMENT.replace(tzinfo=None)


def read(spark: SparkSession, path: Path, unit: str = "s") -> list[float]:
    source = Source.find(path, time=TimeColumn("time", unit), key="key")
    with source.read(spark) as rows:
        return [row["time"] for row in rows.frame.collect()]


@pytest.mark.parametrize(
    ("values", "unit", "seconds"),
    [
        (pa.array([1, 2], pa.int64()), "s", [1.0, 2.0]),
        (pa.array([1_500, -2], pa.int32()), "ms", [1.5, -0.002]),
        (pa.array([0.5, 2.5], pa.float32()), "s", [0.5, 2.5]),
        (pa.array([Decimal("1.25")], pa.decimal128(10, 2)), "s", [1.25]),
        (pa.array([NAIVE], pa.timestamp("us")), "s", [SECONDS]),
        (pa.array([NAIVE], pa.timestamp("ns")), "s", [SECONDS]),
        (pa.array([MOMENT], pa.timestamp("ms", "America/New_York")), "s", [SECONDS]),
        (pa.array(["1e3", " 2 "]), "us", [0.001, 0.000002]),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_parquet_times(
    spark: SparkSession, tmp_path: Path, values: pa.Array, unit: str, seconds: list[float]
) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"time": values, "key": ["a"] * len(values)}), path)
    assert read(spark, path, unit) == pytest.approx(seconds, abs=1e-9)


@pytest.mark.parametrize(
    ("texts", "seconds"),
    [
        (["2026-01-02T09:30:00.25Z", "2026-01-02 09:30:01"], [SECONDS, SECONDS + 0.75]),
        (["9:30:00.5", "16:00:00"], [34_200.5, 57_600.0]),
        (["-1.5", "3"], [-1.5, 3.0]),
    ],
)
def test_csv_times(
    spark: SparkSession, tmp_path: Path, texts: list[str], seconds: list[float]
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("key,time\n" + "".join(f"a,{text}\n" for text in texts))
    assert read(spark, path) == pytest.approx(seconds, abs=1e-6)


def test_a_unit_is_for_numbers_only(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("time,key\n9:30,a\n")
    with pytest.raises(BadOptionError, match="--time-unit ms: expected no --time-unit"):
        read(spark, path, "ms")
    with pytest.raises(BadOptionError, match="--time-unit h: expected s or ms or us or ns"):
        TimeColumn("time", "h")


def test_times_of_another_type_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"time": [True], "key": ["a"]}), path)
    with pytest.raises(BadOptionError, match="--time time: expected numbers or timestamps, not b"):
        read(spark, path)
