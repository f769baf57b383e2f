"""What cars paid before: a toll of each car for each day, in order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from datasets.linear_road.history import toll_history, write_history

from .driven import SMALL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_every_car_has_a_toll_for_each_of_69_days(spark: SparkSession, tmp_path: Path) -> None:
    cars = spark.range(0, 300, 3).withColumnRenamed("id", "key")
    (tmp_path / "tolls").mkdir()
    write_history(toll_history(cars.repartition(2), SMALL), tmp_path / "tolls")
    assert {path.suffix for path in (tmp_path / "tolls").iterdir()} == {".parquet"}
    table = pq.read_table(tmp_path / "tolls")
    assert table.column_names == ["car", "day", "expressway", "toll"]
    car, day, expressway, toll = (column.to_numpy() for column in table.columns)
    assert list(zip(car.tolist(), day.tolist(), strict=True)) == [
        (car, day) for car in range(0, 300, 3) for day in range(1, 70)
    ]
    assert set(expressway.tolist()) == {0, 1}
    counts = np.bincount(toll, minlength=100)
    assert len(counts) == 100
    # Chi-square with 99 degrees of freedom: above 150 once in a thousand; the seed is fixed.
    assert ((counts - 69) ** 2 / 69).sum() < 150
