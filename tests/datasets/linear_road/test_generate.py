"""The tuples as Spark writes them: in order of time, and the same in however many partitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from datasets.linear_road.generate import generate, toll_history, write_history
from datasets.linear_road.tuples import NAMES, Columns
from datasets.output.trace import write_trace

from .driven import SMALL, drive


@pytest.fixture(scope="module")
def folders(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The same run in 1, 2 and 7 partitions."""
    place = tmp_path_factory.mktemp("linear_road")
    for partitions in (1, 2, 7):
        folder = place / str(partitions)
        folder.mkdir()
        write_trace(generate(spark, SMALL, partitions=partitions), folder)
    return {partitions: place / str(partitions) for partitions in (1, 2, 7)}


def read(folder: Path) -> Columns:
    """Return what the files hold, one after the other by their names."""
    tables = [pq.read_table(path) for path in sorted(folder.glob("*.parquet"))]
    return {
        name: np.concatenate([table[name].to_numpy().astype(np.int64) for table in tables])
        for name in NAMES
    }


def test_the_rows_and_their_order_are_the_same_in_1_2_and_7_partitions(
    folders: dict[int, Path],
) -> None:
    one = read(folders[1])
    for partitions in (2, 7):
        assert len(list(folders[partitions].glob("*.parquet"))) == partitions
        other = read(folders[partitions])
        assert all((one[name] == other[name]).all() for name in NAMES)


def test_the_rows_are_those_that_were_driven_in_order_of_time(folders: dict[int, Path]) -> None:
    written, driven = read(folders[7]), drive(SMALL)
    order = np.lexsort((driven["key"], driven["type"], driven["time"]))
    assert all((written[name] == driven[name][order]).all() for name in NAMES)
    assert (np.diff(written["time"]) >= 0).all()


def test_the_partitions_have_about_as_many_rows_each(folders: dict[int, Path]) -> None:
    rows = [pq.read_metadata(path).num_rows for path in folders[7].glob("*.parquet")]
    assert max(rows) < 1.6 * sum(rows) / 7


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
