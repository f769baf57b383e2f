"""`conflate` on real Spark: what a query lets through, counts, refuses, and does after a kill."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from upstream import UpdateQueue, make_scheduler
from upstream.errors import ParameterError
from upstream.spark import ConflationMetrics, conflate
from upstream.spark.conflation.conflate import PROVIDER, ROCKSDB, _bucket_ids, _Plan

from . import resumed_query

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 150
"""How long a query may take on a slow machine; it is stopped as soon as it is done."""

NO_DATA_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"

Rows = list[dict[str, Any]]


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with the state store that stateful processors need."""
    before = spark.conf.get(PROVIDER, None)
    spark.conf.set(PROVIDER, ROCKSDB)
    yield spark
    if before is None:
        spark.conf.unset(PROVIDER)
    else:
        spark.conf.set(PROVIDER, before)


@dataclass
class Moments:
    """A clock that tells the moments of triggers, in milliseconds since the first."""

    milliseconds: int = 0

    def now(self) -> float:
        return self.milliseconds / 1000


def made_up_rows(number: int, *, rows: int, keys: int) -> Rows:
    """Return the rows of a file: keys of unequal rates, some rows out of order."""
    random = Random(number)
    shares = [1 / (rank + 1) for rank in range(keys)]
    drawn = random.choices(range(keys), shares, k=rows)
    return [
        {
            "key": f"key{key}",
            "time": number * 10 + row / 1000 - random.choice([0.0, 0.0, 0.0, 5.0, 12.0]),
            "value": number * rows + row,
        }
        for row, key in enumerate(drawn)
    ]


def write_files(folder: Path, files: Sequence[Rows]) -> None:
    """Write a file for each micro-batch, the earlier ones of an earlier date."""
    folder.mkdir()
    for number, rows in enumerate(files):
        path = folder / f"{number:03}.parquet"
        pq.write_table(pa.Table.from_pylist(rows), path)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def stream_of(session: SparkSession, folder: Path) -> DataFrame:
    schema = "key string, time double, value bigint"
    return session.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def run_until(
    query: StreamingQuery, is_done: Callable[[ConflationMetrics], bool]
) -> ConflationMetrics:
    """Wait until the counters say that a query is done, and stop it."""
    deadline = time.monotonic() + SECONDS
    try:
        while time.monotonic() < deadline:
            if not query.isActive:
                raise AssertionError(query.exception())
            progress = query.lastProgress
            metrics = ConflationMetrics.of(progress) if progress is not None else None
            if metrics is not None:
                assert metrics.is_balanced
                if is_done(metrics):
                    return metrics
            time.sleep(0.05)
        raise AssertionError(f"not done in {SECONDS} s: {query.lastProgress}")
    finally:
        query.stop()


@pytest.mark.slow
def test_a_query_serves_the_same_updates_as_a_queue_of_the_library(
    session: SparkSession, tmp_path: Path
) -> None:
    files = [made_up_rows(number, rows=400, keys=60) for number in range(4)]
    write_files(tmp_path / "in", files)
    conflated = conflate(
        stream_of(session, tmp_path / "in"), "key", "time", "index", budget=14, partitions=1
    )
    batches: dict[int, list[Any]] = {}

    def note(frame: DataFrame, batch: int) -> None:
        batches[batch] = frame.collect()

    arrived = sum(map(len, files))
    query = conflated.writeStream.foreachBatch(note)
    query = query.option("checkpointLocation", str(tmp_path / "checkpoint"))
    metrics = run_until(query.start(), lambda m: m.arrived == arrived and m.waiting == 0)

    clock = Moments()
    queue = UpdateQueue(make_scheduler("index"), clock=clock)
    for batch in range(max(batches) + 1):
        served = batches[batch]
        if not served:
            break
        clock.milliseconds = milliseconds_of(served[0]) - milliseconds_of(batches[0][0])
        for row in files[batch] if batch < len(files) else []:
            queue.enqueue(row["key"], row["value"], time=row["time"])
        for row in served:
            update = queue.dequeue()
            assert update is not None
            assert (update.key, update.value, update.time) == (row.key, row.value, row.time)
            queue.deliver(update)
            mean = queue.queue_staleness(row.key)
            assert row.upstream.mean_staleness_seconds == pytest.approx(mean, abs=1e-9)
    statistics = queue.statistics()
    assert statistics.waiting == 0
    for name in ("arrived", "dequeued", "superseded", "late", "keys"):
        assert getattr(metrics, name) == getattr(statistics, name), name
    assert statistics.late > 0
    assert metrics.staleness_seconds_mean > 0


def milliseconds_of(row: Any) -> int:
    moment: datetime = row.upstream.served
    return round(moment.timestamp() * 1000)


@pytest.mark.slow
def test_rows_of_any_types_are_served_unchanged(session: SparkSession, tmp_path: Path) -> None:
    expressions = [
        "CAST(id % 2 AS INT) AS half",
        "concat('key', id) AS name",
        "timestamp_micros(1700000000123456 + 1000000 * id) AS moment",
        "TIMESTAMP_NTZ'2026-10-25 02:30:00' AS local",
        "DATE'2026-11-19' AS day",
        "CAST(1.25 AS DECIMAL(20, 5)) AS amount",
        "CAST('bytes' AS BINARY) AS raw",
        "named_struct('a', id, 'b', array(id, NULL)) AS nested",
        "map('x', id) AS pairs",
        "named_struct('timestamp', id) AS stamped",
        "date_from_unix_date(5000000) AS never",  # in the year 15,659, which Python has not
        "CAST(NULL AS STRING) AS nothing",
        "id = 3 AS gone",
        "CAST('NaN' AS FLOAT) AS `no number`",
    ]
    given = session.range(8).selectExpr(*expressions)
    given.coalesce(1).write.parquet(str(tmp_path / "in"))
    stream = session.readStream.schema(given.schema).parquet(str(tmp_path / "in"))
    conflated = conflate(stream, ["half", "name"], "moment", deleted="gone", partitions=2)
    writer = conflated.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    session.conf.set(NO_DATA_BATCHES, "false")
    query = writer.trigger(availableNow=True).start()
    assert query.awaitTermination(SECONDS)
    session.conf.unset(NO_DATA_BATCHES)
    progress = query.lastProgress
    assert progress is not None
    metrics = ConflationMetrics.of(progress)
    assert metrics is not None
    assert (metrics.dequeued, metrics.keys, metrics.forgotten) == (8, 7, 1)
    found = session.read.parquet(str(tmp_path / "out")).orderBy("name").drop("upstream")
    assert found.schema.simpleString() == given.schema.simpleString()
    assert {row.days for row in found.selectExpr("unix_date(never) AS days").collect()} == {5000000}
    found, given = found.drop("never"), given.drop("never")
    assert str(found.collect()) == str(given.orderBy("name").collect())  # NaN is not equal to NaN


@pytest.mark.parametrize(
    ("expression", "first"),
    [
        ("TIMESTAMP_NTZ'2026-03-08 00:00:00.5' + make_dt_interval(0, 0, id * 10)", 1772928000.5),
        ("TIMESTAMP'2026-03-08 00:00:00.5Z' + make_dt_interval(0, 0, id * 10)", 1772928000.5),
        ("date_add(DATE'2026-03-08', CAST(id AS INT))", 1772928000.0),
        ("id * 1.5D", 0.0),
    ],
)
def test_times_keep_their_order_in_any_time_zone(
    spark: SparkSession, expression: str, first: float
) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")  # where that day has 23 hours
    frame = spark.range(48).select(sql_expression(expression).alias("moment"))
    seconds = _Plan(frame, (), "moment", None)._seconds()
    found = [row.seconds for row in frame.select(seconds.alias("seconds")).collect()]
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert found[0] == first
    steps = {round(after - before, 6) for before, after in itertools.pairwise(found)}
    assert len(steps) == 1


def sql_expression(text: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - the usual name

    return F.expr(text)


def test_each_bucket_has_a_partition_of_its_own(spark: SparkSession) -> None:
    buckets = _bucket_ids(spark, 7)
    frame = spark.createDataFrame([(bucket,) for bucket in buckets], "bucket bigint")
    places = frame.repartition(7, "bucket").selectExpr("spark_partition_id() AS place").collect()
    assert sorted(row.place for row in places) == list(range(7))


@pytest.mark.slow
def test_a_killed_query_continues_without_losing_updates(
    session: SparkSession, tmp_path: Path
) -> None:
    files = [made_up_rows(number, rows=300, keys=150) for number in range(4)]
    write_files(tmp_path / "in", files)
    arrived = sum(map(len, files))
    places = str(tmp_path / "in"), str(tmp_path / "out"), str(tmp_path / "checkpoint")

    command = [sys.executable, "-m", "tests.spark.conflation.resumed_query", *places]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as first:
        assert first.stdout is not None
        before = json.loads(first.stdout.readline())
        os.killpg(first.pid, signal.SIGKILL)  # it and its Java, amid another batch
    assert before["arrived"] < arrived
    assert before["waiting"] > 0

    query = resumed_query.start(session, *places)
    after = run_until(query, lambda m: m.arrived == arrived and m.waiting == 0)
    assert query.recentProgress[0].batchId > before["batch"]

    rows = [row.asDict() for row in session.read.parquet(places[1]).collect()]
    assert len(rows) == after.dequeued
    assert newest_of(rows) == newest_of(row for file in files for row in file)


def newest_of(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return the newest value of each key; the later of equal times."""
    newest: dict[str, tuple[float, int]] = {}
    for row in rows:
        found = row["time"], row["value"]
        newest[row["key"]] = max(newest.get(row["key"], found), found)
    return {key: value for key, (_, value) in newest.items()}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"key": "symbol"}, "key must be one of the columns key, time, price, not 'symbol'"),
        ({"time": ""}, "time must be one of the columns key, time, price, not ''"),
        ({"time": "key"}, "time='key' must be one of .*double.*; cast it, not 'string'"),
        ({"key": ["key", "price"]}, "key='price' must be one of .*string.*, not 'double'"),
        ({"policy": "append"}, "index or in-place or fifo, not 'append'"),
        ({"budget": 1, "partitions": 2}, "budget.*2"),
        ({"budget": 0.5}, "budget"),
        ({"partitions": 0}, "partitions"),
        ({"deleted": "time"}, "deleted='time' must be one of the types boolean"),
    ],
)
def test_invalid_parameters_are_refused_before_the_query_starts(
    session: SparkSession, changed: dict[str, Any], said: str
) -> None:
    rates = session.readStream.format("rate").load()
    stream = rates.selectExpr(
        "CAST(value AS STRING) AS key", "CAST(value AS DOUBLE) AS time", "1.5D AS price"
    )
    given: dict[str, Any] = {"key": "key", "time": "time", **changed}
    with pytest.raises(ParameterError, match=said):
        conflate(stream, **given)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            ["'IBM' AS key", "1 AS upstream"],
            "one whose name is not reserved; rename it",
        ),
        (["'IBM' AS key", "1 AS __upstream_x"], "not '__upstream_x'"),
        (["'IBM' AS key", "2 AS KEY"], "must be distinct, .*, not 'key'"),
        (
            ["'IBM' AS key", "array(timestamp) AS times"],
            "column 'times' must be a type that contains no timestamps",
        ),
    ],
)
def test_columns_that_cannot_be_kept_are_refused(
    session: SparkSession, columns: list[str], said: str
) -> None:
    stream = session.readStream.format("rate").load().selectExpr(*columns)
    with pytest.raises(ParameterError, match=said):
        conflate(stream, "key")


def test_a_table_is_refused(session: SparkSession) -> None:
    with pytest.raises(ParameterError, match="streaming DataFrame"):
        conflate(session.range(3), "id")


def test_a_session_with_another_state_store_than_is_needed_is_refused(
    session: SparkSession,
) -> None:
    session.conf.set(PROVIDER, ROCKSDB.replace("RocksDB", "HDFSBacked"))
    with pytest.raises(ParameterError, match="RocksDB"):
        conflate(session.readStream.format("rate").load(), "value")
