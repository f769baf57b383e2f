"""How updates come: each number against a plain computation, and against theory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from datasets.profile.arrivals import (
    BUCKETS,
    ArrivalProfile,
    _falls,
    default_interval,
    profile_arrivals,
)
from datasets.profile.source import Source, StreamRows, count_rows
from datasets.profile.times import TimeColumn


@pytest.fixture(scope="module")
def found(rows: StreamRows) -> ArrivalProfile:
    profile = profile_arrivals(rows, interval=2.0)
    assert profile is not None
    return profile


def test_counts_and_ends_are_those_of_the_stream(
    found: ArrivalProfile, stream: pd.DataFrame
) -> None:
    assert found.updates == len(stream)
    assert (found.first_time, found.last_time) == (stream["time"].min(), stream["time"].max())
    assert found.mean_rate == pytest.approx(len(stream) / found.seconds)


def test_dispersion_and_peak_count_empty_intervals_too(
    found: ArrivalProfile, stream: pd.DataFrame
) -> None:
    parts = np.floor((stream["time"] - stream["time"].min()) / 2.0).astype(int)
    counts = np.bincount(parts)[:-1]
    assert counts.min() == 0
    assert found.dispersion == pytest.approx(counts.var() / counts.mean())
    assert found.peak_rate == counts.max() / 2
    assert found.peak_over_mean == pytest.approx(counts.max() / 2 / (6_000 / found.seconds))


def test_the_variation_of_gaps_is_exact(found: ArrivalProfile, stream: pd.DataFrame) -> None:
    gaps = np.diff(np.sort(stream["time"].to_numpy()))
    assert found.gap_variation == pytest.approx(gaps.std() / gaps.mean(), rel=1e-9)
    assert gaps.std() > 2 * gaps.mean()


def test_the_buckets_are_of_equal_length_and_have_all_updates(found: ArrivalProfile) -> None:
    starts = [start for start, _ in found.buckets]
    assert len(starts) == BUCKETS
    assert starts[0] == found.first_time
    assert np.allclose(np.diff(starts), found.seconds / BUCKETS)
    assert sum(count for _, count in found.buckets) == found.updates


def test_updates_before_the_row_above_are_counted_within_each_file(
    found: ArrivalProfile, stream: pd.DataFrame
) -> None:
    parts = np.array_split(stream["time"].to_numpy(), 3)
    assert found.out_of_order == sum(int((np.diff(part) < 0).sum()) for part in parts) > 150


def test_a_fall_between_two_blocks_of_a_file_is_seen(spark: SparkSession, tmp_path: Path) -> None:
    times = [5.0, 6.0, 1.0, 2.0, 9.0, 3.0] * 2_000
    path = tmp_path / "x.csv"
    path.write_text("time,key\n" + "".join(f"{time},a\n" for time in times))
    before = str(spark.conf.get("spark.sql.files.maxPartitionBytes"))
    spark.conf.set("spark.sql.files.maxPartitionBytes", "10000")
    try:
        with Source.find(path, time=TimeColumn(), key="key").read(spark) as rows:
            assert rows.frame.rdd.getNumPartitions() > 3
            found = profile_arrivals(rows)
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)
    assert found is not None
    assert found.out_of_order == int((np.diff(times) < 0).sum())


def test_a_fall_between_two_runs_of_rows_is_seen(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.profile.arrivals._RUN_BITS", 1)
    times = {(1, 0): [3.0, 2.0, 1.0], (1, 7): [0.5, 5.0], (2, 0): [4.0, 4.0, 3.0, 9.0, 8.0]}
    data = [(time, *place) for place, of_place in times.items() for time in of_place]
    rows = spark.createDataFrame(data, "time double, file long, block long").coalesce(1)
    assert [row["falls"] for row in _falls(rows).collect()] == [3 + 2]


def test_an_instant_has_no_rate_and_nothing_no_profile(rows: StreamRows) -> None:
    instant = rows.frame.limit(3).withColumn("time", F.lit(5.0))
    found = profile_arrivals(StreamRows.counted(instant, count_rows(instant)))
    assert found is not None
    assert (found.mean_rate, found.dispersion, found.gap_variation) == (None, None, None)
    assert (found.updates, found.seconds, found.buckets) == (3, 0, ())
    nothing = rows.frame.where("false")
    assert profile_arrivals(StreamRows.counted(nothing, count_rows(nothing))) is None


def test_the_interval_is_a_second_or_a_hundredth_of_what_is_short() -> None:
    assert [default_interval(seconds) for seconds in (1e6, 100.0, 5.0)] == [1.0, 1.0, 0.05]
