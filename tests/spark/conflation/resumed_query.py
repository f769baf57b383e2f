"""A query in a process of its own, for a test to kill: conflates files, and prints its counters.

Run as `python -m tests.spark.conflation.resumed_query IN OUT CHECKPOINT ARRIVALS`; ends when so
many rows have arrived and nothing waits.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from datasets.spark.session import spark_session
from upstream.spark import ConflationMetrics, conflate
from upstream.spark.conflation.conflate import PROVIDER, ROCKSDB

SCHEMA = "key string, time double, value bigint"
SETTINGS = {PROVIDER: ROCKSDB, "spark.sql.shuffle.partitions": "2"}


def main(folder: str, out: str, checkpoint: str, arrivals: int) -> None:
    """Run the query until it is done."""
    with spark_session(cores=2, settings=SETTINGS) as session:
        files = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        conflated = conflate(files.parquet(folder), "key", "time", "in-place", budget=60)
        writer = conflated.writeStream.format("parquet").option("path", out)
        query = writer.option("checkpointLocation", checkpoint).start()
        told = -1
        while not query.awaitTermination(1):
            progress = query.lastProgress
            if progress is None or progress.batchId == told:
                continue
            told = progress.batchId
            metrics = ConflationMetrics.of(progress)
            if metrics is None:
                continue
            sys.stdout.write(json.dumps({"batch": told, **asdict(metrics)}) + "\n")
            sys.stdout.flush()
            if metrics.arrived == arrivals and metrics.waiting == 0:
                break
        query.stop()


if __name__ == "__main__":
    folder, out, checkpoint, arrivals = sys.argv[1:]
    main(str(Path(folder)), out, checkpoint, int(arrivals))
