"""A worked example: a million keys, and a consumer that can use a part of their updates.

Spark generates `--rate` updates in each trigger: keys with unequal rates, each update with a price.
`conflate` keeps the newest update of each key and serves `--budget` keys per trigger. The served
updates are written to `--out` as Parquet if that is given. After each trigger, its counters and its
staleness are printed.

On this machine, two partitions:

    python -m upstream.spark.example --keys 1000000 --partitions 2 --triggers 20

On a cluster, with the wheel for the executors; the file is the one in the wheel:

    spark-submit --master spark://HOST:7077 \
        --py-files upstream_update_queues-0.1.0-py3-none-any.whl \
        example.py --keys 1000000 --partitions 64 --checkpoint hdfs://HOST/checkpoints/example

Executors need NumPy, pyarrow and protobuf; `--archives` with a packed environment carries them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from upstream.spark import ConflationMetrics, conflate
from upstream.spark.conflation.bucket_queue import POLICIES
from upstream.spark.conflation.conflate import PROVIDER, ROCKSDB

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery

STATE_STORE: Final = {
    PROVIDER: ROCKSDB,
    # Store only the changes of a trigger.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
HEADINGS: Final = (
    *("trigger", "updates", "served so far", "waiting", "keys", "staleness now", "mean so far"),
    *("seconds", "updates/s"),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the example as the command line says."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.budget < given.partitions:
        parser.error("--budget must be at least --partitions: every partition has a share")
    session = _session(given.partitions)
    session.sparkContext.setLogLevel("ERROR")
    try:
        run(session, given)
    finally:
        session.stop()


def run(session: SparkSession, given: argparse.Namespace) -> None:
    """Run the query, and print a line for each trigger."""
    with ExitStack() as stack:
        checkpoint = given.checkpoint or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="upstream-example-", ignore_cleanup_errors=True)
        )
        stream = made_up_prices(session, keys=given.keys, rate=given.rate)
        conflated = conflate(
            stream, "key", "time", given.policy, given.budget, partitions=given.partitions
        )
        writer = conflated.writeStream.format("parquet" if given.out else "noop")
        if given.out:
            writer = writer.option("path", given.out)
        writer = writer.option("checkpointLocation", checkpoint)
        query = writer.trigger(processingTime=f"{given.interval} seconds").start()
        stack.callback(query.stop)
        _report(query, triggers=given.triggers)
        session.sparkContext.setLogLevel("OFF")  # stopping during a trigger is not an error here


def made_up_prices(session: SparkSession, *, keys: int, rate: int) -> DataFrame:
    """Return a stream of `rate` updates in each trigger, `time`, `key` and `price`.

    The share of the key with rank r is about proportional to 1 / r.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the usual name

    numbers = session.readStream.format("rate-micro-batch").option("rowsPerBatch", rate)
    numbers = numbers.option("numPartitions", session.sparkContext.defaultParallelism)
    drawn = F.pmod(F.xxhash64("value"), F.lit(1 << 40)) / (1 << 40)
    return numbers.load().select(
        F.col("value").cast("double").alias("time"),
        F.floor(F.pow(F.lit(keys), drawn)).cast("bigint").alias("key"),
        (F.pmod(F.hash("value"), F.lit(10_000)) / 100).alias("price"),
    )


def _session(partitions: int) -> SparkSession:
    from pyspark.sql import SparkSession

    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # not started by spark-submit
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
            sys.exit("Spark needs Java 17 or newer; install it, or set JAVA_HOME to its folder")
    builder = SparkSession.builder.appName("upstream conflate")
    for name, value in STATE_STORE.items():
        builder = builder.config(name, value)
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    return builder.config("spark.sql.shuffle.partitions", partitions).getOrCreate()


def _report(query: StreamingQuery, *, triggers: int | None) -> None:
    """Print a line for each trigger, up to `triggers` lines."""
    print_line = sys.stdout.write
    print_line("  ".join(f"{heading:>13}" for heading in HEADINGS) + "\n")
    reported = -1
    printed = 0
    while not query.awaitTermination(1):
        for progress in query.recentProgress:
            metrics = ConflationMetrics.of(progress)
            if progress.batchId <= reported or metrics is None:
                continue
            reported = progress.batchId
            print_line(_line(progress, metrics) + "\n")
            sys.stdout.flush()
            printed += 1
            if printed == triggers:
                return
    error = query.exception()
    if error is not None:
        raise error


def _line(progress: StreamingQueryProgress, metrics: ConflationMetrics) -> str:
    seconds = progress.durationMs["triggerExecution"] / 1000
    updates = progress.numInputRows
    numbers = (
        *(progress.batchId, updates, metrics.dequeued, metrics.waiting, metrics.keys),
        *(round(metrics.staleness_seconds_now, 3), round(metrics.staleness_seconds_mean, 3)),
        *(seconds, round(updates / seconds)),
    )
    return "  ".join(f"{number:>13,}" for number in numbers)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m upstream.spark.example",
        description="Conflate generated prices on Spark, and print counters and staleness.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--keys", type=_positive, default=1_000_000, help="number of keys")
    add("--rate", type=_positive, default=200_000, help="updates per trigger")
    add("--budget", type=_positive, default=10_000, help="keys served per trigger")
    add("--policy", choices=POLICIES, default="index", help="which keys are served first")
    add(
        "--partitions",
        type=_positive,
        default=2,
        help="partitions of the state; a checkpoint fixes them",
    )
    add("--interval", type=float, default=1.0, help="seconds between triggers")
    add("--triggers", type=_positive, help="stop after this many triggers; by default never")
    add("--checkpoint", help="checkpoint folder; by default a temporary one")
    add("--out", help="folder for the served updates, as Parquet")
    return parser


def _positive(text: str) -> int:
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return int(text)


if __name__ == "__main__":
    main()
