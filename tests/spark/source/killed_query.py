"""A query in a process of its own, so that a test can kill it: `python -m … URL QUEUE FOLDER`.

It writes each batch as a file of its number, slowly, and lives until all that waits is taken, or it
is killed. It registers the format as users do.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from datasets.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def run(spark: SparkSession, url: str, queue: str, folder: Path, *, seconds: float = 0.0) -> None:
    """Take what waits, in batches of ten, each of which takes so many seconds."""

    def write(frame: DataFrame, batch: int) -> None:
        rows = [row.asDict() for row in frame.collect()]
        time.sleep(seconds / 2)  # when a kill finds rows read, and not written
        part = folder / f"{batch}.part"
        part.write_text(json.dumps(rows), encoding="utf-8")
        part.rename(folder / f"{batch}.json")
        time.sleep(seconds / 2)  # and here written, with the batch not done

    reader = spark.readStream.format("upstream").schema("key string, price double")
    frame = reader.options(url=url, queue=queue, max_updates="10").load()
    query = frame.writeStream.foreachBatch(write).trigger(availableNow=True)
    query.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()


def main(url: str, queue: str, folder: Path) -> None:
    with spark_session(cores=1) as spark:
        import upstream.spark.registered  # noqa: F401 - which registers the format

        run(spark, url, queue, folder, seconds=1.0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
