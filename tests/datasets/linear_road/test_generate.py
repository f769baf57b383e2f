"""The tuples as Spark writes them: in order of time, and the same in however many partitions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq
import pytest

from datasets.linear_road.generate import generate
from datasets.linear_road.tuples import NAMES, Columns
from datasets.output.trace import write_trace

from .driven import SMALL, drive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
