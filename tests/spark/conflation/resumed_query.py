"""A query that conflates files, here or in a process of its own, for a test to kill.

Run as `python -m tests.spark.conflation.resumed_query IN OUT CHECKPOINT`, it prints its counters
after each trigger, and does not end.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from datasets.spark.session import spark_session
from upstream.spark import ConflationMetrics, conflate
from upstream.spark.conflation.conflate import PROVIDER, ROCKSDB

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SCHEMA = "key string, time double, value bigint"
BUDGET = 60


def start(session: SparkSession, folder: str, out: str, checkpoint: str) -> StreamingQuery:
    """Start the query, or continue it."""
    files = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(folder)
    conflated = conflate(files, "key", "time", "in-place", BUDGET, partitions=2)
    writer = conflated.writeStream.format("parquet").option("path", out)
    return writer.option("checkpointLocation", checkpoint).start()


def main(folder: str, out: str, checkpoint: str) -> None:
    """Print the counters of each trigger."""
    settings = {PROVIDER: ROCKSDB, "spark.sql.shuffle.partitions": "2"}
    with spark_session(cores=2, settings=settings) as session:
        query = start(session, folder, out, checkpoint)
        told = -1
        while query.isActive:
            for progress in query.recentProgress:
                metrics = ConflationMetrics.of(progress)
                if progress.batchId > told and metrics is not None:
                    told = progress.batchId
                    sys.stdout.write(json.dumps({"batch": told, **asdict(metrics)}) + "\n")
                    sys.stdout.flush()
            time.sleep(0.05)
        query.awaitTermination()  # it raises the error that ended the query


if __name__ == "__main__":
    main(*sys.argv[1:])
