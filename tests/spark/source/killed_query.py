"""A query in a process of its own, so that a test can kill it: `python -m … URL QUEUE FOLDER`.

It writes each batch slowly to a file with the number of the batch. It ends when no update waits, or
when it is killed. It registers the format as users do.
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
    """Take the waiting updates in batches of ten, each of which takes this many seconds."""

    def write(frame: DataFrame, batch: int) -> None:
        rows = [row.asDict() for row in frame.collect()]
        time.sleep(seconds / 2)  # a kill now finds rows that are read and not written
        part = folder / f"{batch}.part"
        part.write_text(json.dumps(rows), encoding="utf-8")
        part.rename(folder / f"{batch}.json")
        time.sleep(
            seconds / 2
        )  # a kill now finds rows that are written in a batch that is not done

    reader = spark.readStream.format("upstream").schema("key string, price double")
    frame = reader.options(url=url, queue=queue, max_updates="10").load()
    query = frame.writeStream.foreachBatch(write).trigger(availableNow=True)
    query.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()


def main(url: str, queue: str, folder: Path) -> None:
    with spark_session(cores=1) as spark:
        import upstream.spark.registered  # noqa: F401 - it registers the format

        run(spark, url, queue, folder, seconds=1.0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
