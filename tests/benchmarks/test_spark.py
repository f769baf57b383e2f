"""Conflation on Spark: updates per second and core, state per key, and how both grow.

Each case is a stream of files, one for each trigger, of which the first brings every key. The first
triggers, in which Java and Python warm up, do not count. Beside it runs what keeps the newest per
key with Spark's own means, `groupBy(key).agg(max_by(...))`, which has no budget, chooses no keys,
counts nothing and tells no staleness. What is printed stands in `notebooks/spark_measurements.md`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.spark.session import spark_session
from tests.benchmarks.measure import Table
from upstream.spark import ConflationMetrics, conflate
from upstream.spark.example import STATE_STORE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryProgress

pytestmark = pytest.mark.benchmark

CORES = 2
WARM_UP = 3
COUNTED = 5
SCHEMA = "key bigint, time double, price double"
MOST_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Case:
    """A stream, and how it is conflated."""

    keys: int
    updates: int
    """In each trigger after the first."""
    changed: int
    """Of how many keys, about."""
    budget: int = 5_000
    partitions: int = 2


@dataclass(frozen=True, slots=True)
class Measured:
    """What a case took."""

    seconds: float
    """For one trigger, the median."""
    blocks: int
    """Of state, in all."""
    bytes_of_state: int


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with spark_session(cores=CORES, memory="6g", settings=STATE_STORE) as session:
        yield session


def write_files(folder: Path, case: Case) -> None:
    """Write a file for each trigger; the first has every key once."""
    folder.mkdir()
    random = np.random.default_rng(1)
    for number in range(WARM_UP + COUNTED):
        drawn = random.choice(case.keys, min(case.keys, case.changed), replace=False)
        keys = np.arange(case.keys) if number == 0 else random.choice(drawn, case.updates)
        times = number * 1e9 + np.arange(len(keys))
        table = pa.table({"key": keys, "time": times, "price": times % 977.0})
        path = folder / f"{number}.parquet"
        # Several row groups, so that both cores read.
        pq.write_table(table, path, row_group_size=-(-len(keys) // CORES))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def stream_of(session: SparkSession, folder: Path) -> DataFrame:
    reader = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder)).repartition(CORES)


def run(frame: DataFrame, checkpoint: Path, mode: str) -> list[StreamingQueryProgress]:
    """Run a query until all files were counted; return the progress of these triggers."""
    writer = frame.writeStream.format("noop").outputMode(mode)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    seen: dict[int, StreamingQueryProgress] = {}
    try:
        for _ in range(MOST_SECONDS):
            assert not query.awaitTermination(1), query.exception()
            seen |= {progress.batchId: progress for progress in query.recentProgress}
            if WARM_UP + COUNTED - 1 in seen:
                return [seen[batch] for batch in range(WARM_UP, WARM_UP + COUNTED)]
    finally:
        query.stop()
    raise AssertionError(f"not done in {MOST_SECONDS} s")


def measured(triggers: list[StreamingQueryProgress], checkpoint: Path) -> Measured:
    state = triggers[-1].stateOperators[0]
    files = (path for path in (checkpoint / "state").rglob("*") if path.is_file())
    return Measured(
        median(trigger.durationMs["triggerExecution"] / 1000 for trigger in triggers),
        state.numRowsTotal,
        sum(path.stat().st_size for path in files),
    )


def conflated(session: SparkSession, case: Case, folder: Path) -> Measured:
    """Measure a case, and assert that the work was done."""
    files = folder / f"in-{case}"
    write_files(files, case)
    session.conf.set("spark.sql.shuffle.partitions", case.partitions)
    frame = conflate(stream_of(session, files), "key", "time", "index", case.budget)
    checkpoint = folder / f"checkpoint-{case}"
    triggers = run(frame, checkpoint, "append")
    metrics = ConflationMetrics.of(triggers[-1])
    assert metrics is not None
    assert metrics.is_balanced
    assert metrics.keys == case.keys
    assert metrics.arrived == case.keys + case.updates * (WARM_UP + COUNTED - 1)
    assert metrics.dequeued == min(case.budget, case.keys) * (WARM_UP + COUNTED)
    return measured(triggers, checkpoint)


def by_spark_alone(session: SparkSession, case: Case, folder: Path) -> Measured:
    """Measure Spark's own aggregation on the files of a case that was measured."""
    from pyspark.sql import functions as F  # noqa: N812 - the usual name

    session.conf.set("spark.sql.shuffle.partitions", case.partitions)
    stream = stream_of(session, folder / f"in-{case}")
    newest = F.max_by(F.struct("time", "price"), "time").alias("newest")
    checkpoint = folder / f"alone-{case}"
    triggers = run(stream.groupBy("key").agg(newest), checkpoint, "update")
    return measured(triggers, checkpoint)


def show(case: Case, found: Measured) -> None:
    per_core = case.updates / found.seconds / CORES
    print(
        f"{case.keys:>9,} keys, {case.partitions} partitions, {case.updates:>9,} updates of "
        f"{case.changed:>7,} keys: {found.seconds:6.2f} s, {per_core:>9,.0f} updates/s per core, "
        f"{found.blocks:>7,} blocks, {found.bytes_of_state / case.keys:>6,.0f} bytes a key"
    )
    sys.stdout.flush()


def test_updates_per_second_and_core(spark: SparkSession, tmp_path: Path) -> None:
    table = Table("Conflation on Spark, beside Spark's own newest per key")
    for updates in (100_000, 1_000_000):
        case = Case(keys=100_000, updates=updates, changed=20_000)
        ours = conflated(spark, case, tmp_path)
        show(case, ours)
        alone = by_spark_alone(spark, case, tmp_path)
        table.row(f"{updates:,} updates of 20,000 keys", ours.seconds / alone.seconds, None)


def test_a_trigger_costs_the_same_with_a_hundred_times_the_keys(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = Table("The same updates, of more and more known keys")
    found = {}
    for keys in (10_000, 100_000, 1_000_000):
        case = Case(keys=keys, updates=10_000, changed=1_000, budget=1_000)
        found[keys] = conflated(spark, case, tmp_path)
        show(case, found[keys])
    table.row("1,000,000 by 10,000 keys", found[1_000_000].seconds / found[10_000].seconds, 3.0)
    table.assert_met()


def test_more_partitions_share_the_work(spark: SparkSession, tmp_path: Path) -> None:
    print("\nPartitions, on two cores")
    for partitions in (1, 2, 4):
        case = Case(keys=100_000, updates=100_000, changed=20_000, partitions=partitions)
        show(case, conflated(spark, case, tmp_path))
