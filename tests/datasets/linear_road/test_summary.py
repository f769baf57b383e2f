"""What is counted in the traffic, against what was driven."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from datasets.linear_road.summary import Summary, summarize

from .driven import SMALL, drive


def test_the_summary_counts_the_traffic(spark: SparkSession) -> None:
    driven = drive(SMALL)
    table = pa.table(driven)
    seen = summarize(spark.createDataFrame(table.to_pandas()))
    counts = np.bincount(driven["type"])
    assert list(seen.rows_by_type.values()) == [counts[0], counts[2], counts[3], counts[4]]
    still = driven["speed"] == 0
    names = ("expressway", "direction", "position")
    places = {tuple(int(driven[name][row]) for name in names) for row in np.flatnonzero(still)}
    assert seen.accidents == len(places) > 0
    assert seen.toll_minutes <= seen.segment_minutes
    assert f"{counts[0]:,} position reports" in seen.notes()[0]


def test_a_run_without_cars_that_hinder_one_another_has_no_tolls() -> None:
    notes = Summary({"position reports": 10}, 0, 5, 0).notes()
    assert "0 accidents, and 0.0% of the minutes" in notes[-1]
