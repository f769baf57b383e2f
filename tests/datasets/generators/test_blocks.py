"""How a stream is cut: in order, and never into more partitions than files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from datasets.generators.blocks import Cut

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCKS = pa.table({"start": [float(block) for block in range(10)]})


@pytest.mark.parametrize(("partitions", "made"), [(None, 4), (1, 1), (3, 3), (7, 4)])
def test_partitions_are_whole_files_in_order(
    spark: SparkSession, partitions: int | None, made: int
) -> None:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    frame = Cut(blocks_per_file=3, partitions=partitions).frame(spark, BLOCKS)
    rows = frame.select("block", "start", F.spark_partition_id().alias("part")).collect()
    assert [(row["block"], row["start"]) for row in rows] == [(n, float(n)) for n in range(10)]
    parts = [row["part"] for row in rows]
    assert parts == sorted(parts)
    assert len(set(parts)) == made
    assert all(parts[block] == parts[block - 1] for block in range(10) if block % 3)


def test_a_file_has_as_many_updates_as_the_writer_allows() -> None:
    from datasets.output.trace import ROWS_PER_FILE

    assert Cut().updates_per_file == ROWS_PER_FILE
