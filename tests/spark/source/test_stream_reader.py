"""Queues as streams, through Spark: what was taken, in which batches, and after a failure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from pyspark.sql.types import StringType, StructField, StructType

from upstream.client import Client
from upstream.spark.source.data_source import UpstreamDataSource
from upstream.spark.source.offsets import Offset

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

SCHEMA = "key string, time double, price double, deleted boolean"
PATIENCE_SECONDS = 100


class Sink:
    """What comes in batches; may fail at one of them, once."""

    def __init__(self, *, fails_at: int | None = None) -> None:
        self.batches: list[tuple[int, list[Row]]] = []
        self.fails_at = fails_at

    def __call__(self, frame: DataFrame, batch: int) -> None:
        rows = frame.collect()
        if rows:
            self.batches.append((batch, sorted(rows)))
        if batch == self.fails_at:
            self.fails_at = None
            raise ValueError("the sink fails")

    def rows(self) -> list[Row]:
        return [row for _, rows in self.batches for row in rows]


def stream(
    session: SparkSession, url: str, queue: str, schema: str | None = SCHEMA, **options: str
) -> DataFrame:
    reader = session.readStream.format("upstream").option("url", url).option("queue", queue)
    reader = reader.options(**options)
    return (reader if schema is None else reader.schema(schema)).load()


def run_once(frame: DataFrame, sink: Sink, checkpoint: Path) -> None:
    """Let a query take what waits."""
    query = (
        frame.writeStream.foreachBatch(sink)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    try:
        assert query.awaitTermination(PATIENCE_SECONDS), "the query did not end"
    finally:
        query.stop()


@pytest.fixture
def queue(client: Client, name: str) -> str:
    """Return a queue with leases in which the newest of twelve keys wait."""
    client.create_queue(name, lease_seconds=60)
    for price in (1.0, 2.0):
        updates = [(f"k{number:02}", {"price": price}, price) for number in range(12)]
        client.put_many(name, updates)
    return name


def assert_delivered(client: Client, queue: str, *, dequeued: int) -> None:
    counts = client.statistics(queue)
    assert (counts.dequeued, counts.delivered) == (dequeued, dequeued)
    assert (counts.waiting, counts.in_process, counts.returned) == (0, 0, 0)


def test_batches_of_bounded_size_have_what_the_queue_had(
    session: SparkSession, client: Client, url: str, queue: str, tmp_path: Path
) -> None:
    client.delete(queue, "k11")
    sink = Sink()
    frame = stream(session, url, queue, schema=None, max_updates="5", partitions="2")
    assert frame.columns == ["key", "time", "price", "deleted"]
    run_once(frame, sink, tmp_path)
    assert [len(rows) for _, rows in sink.batches] == [4, 4, 4]
    expected = [(f"k{number:02}", 2.0, 2.0, False) for number in range(11)]
    assert sorted(map(tuple, sink.rows())) == [*expected, ("k11", 2.0, None, True)]
    assert_delivered(client, queue, dequeued=12)
    run_once(frame, sink, tmp_path)
    assert len(sink.batches) == 3, "nothing waited, and no batch was made of that"


def test_a_batch_that_failed_comes_again_with_the_same_rows(
    session: SparkSession, client: Client, url: str, queue: str, tmp_path: Path
) -> None:
    sink = Sink(fails_at=1)
    frame = stream(session, url, queue, max_updates="5")
    with pytest.raises(StreamingQueryException, match="the sink fails"):
        run_once(frame, sink, tmp_path)
    client.put(queue, "k00", {"price": 3.0}, 3.0)
    run_once(frame, sink, tmp_path)
    numbers = [number for number, _ in sink.batches]
    assert numbers == [0, 1, 1, 2, 3][: len(numbers)]
    assert sink.batches[1] == sink.batches[2]
    rows = [row for batch in (sink.batches[:1] + sink.batches[2:]) for row in batch[1]]
    assert len(rows) == 13, "twelve keys, and the one that was updated meanwhile"
    assert {row.key: row.price for row in rows}["k00"] == 3.0
    assert_delivered(client, queue, dequeued=13)


def test_a_query_that_runs_on_takes_what_comes(
    session: SparkSession, client: Client, url: str, queue: str
) -> None:
    frame = stream(session, url, queue)
    view = f"view_{queue.replace('-', '_')}"
    query = frame.writeStream.format("memory").queryName(view).start()
    try:
        query.processAllAvailable()
        client.put_many(queue, [("late", {"price": 9.0})])
        query.processAllAvailable()
        rows = session.table(view).collect()
    finally:
        query.stop()
    assert {row.key: row.price for row in rows} == {
        **{f"k{number:02}": 2.0 for number in range(12)},
        "late": 9.0,
    }
    assert len(rows) == 13
    assert_delivered(client, queue, dequeued=13)


def test_a_queue_that_cannot_be_read_is_named(
    session: SparkSession, client: Client, url: str, name: str, tmp_path: Path
) -> None:
    client.create_queue(name)
    with pytest.raises(StreamingQueryException, match=f"queue '{name}' at {url} has no leases"):
        run_once(stream(session, url, name), Sink(), tmp_path)


def test_all_that_waits_is_taken_at_once_if_the_trigger_asks_for_all(url: str, queue: str) -> None:
    options = {"url": url, "queue": queue, "max_updates": "5"}
    reader = UpstreamDataSource(options).streamReader(
        StructType([StructField("key", StringType())])
    )
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMaxRows(5)
    start = reader.initialOffset()
    end = reader.latestOffset(start, ReadAllAvailable())
    assert sum(Offset.of(end).leases.values()) == 12
    parts = reader.partitions(start, end)
    rows = [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
    assert sorted(row["key"] for row in rows) == [f"k{number:02}" for number in range(12)]
    assert reader.partitions(end, end) == []
    assert repr(parts[0]).startswith("AnswerPartition(")
    reader.stop()
