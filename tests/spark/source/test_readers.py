"""Queues as streams, and tables of newest values, through Spark."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import Row
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from pyspark.sql.types import StringType, StructField, StructType

from upstream.client import Client
from upstream.spark.source.data_source import UpstreamDataSource
from upstream.spark.source.offsets import Offset

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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


def test_batches_of_bounded_size_have_all_updates_of_the_queue(
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


def test_a_failed_batch_is_repeated_with_the_same_rows(
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


def test_a_running_query_takes_new_updates(
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


def test_a_queue_without_leases_is_reported_by_spark(
    session: SparkSession, client: Client, url: str, name: str, tmp_path: Path
) -> None:
    client.create_queue(name)
    with pytest.raises(StreamingQueryException, match=f"queue '{name}' at {url} has no leases"):
        run_once(stream(session, url, name), Sink(), tmp_path)


def test_a_trigger_without_a_limit_takes_all_waiting_updates(url: str, queue: str) -> None:
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


# Tables


def table(session: SparkSession, url: str, stream: str, schema: str | None = None) -> DataFrame:
    reader = session.read.format("upstream").option("url", url).option("stream", stream)
    return (reader if schema is None else reader.schema(schema)).load()


@pytest.fixture
def prices(client: Client, name: str) -> str:
    """Return a stream of prices, of which one is deleted and one was corrected."""
    client.create_stream(name)
    client.put_many(
        name,
        [
            ("IBM", {"price": 24.0, "size": 7, "venue": {"id": "N"}}, 1.5),
            ("IBM", {"price": 24.25, "size": 8, "venue": None}, 2.5),
            ("MSFT", {"price": 50, "size": 9}, 3),
            ("GONE", {"price": 1}, 3),
        ],
    )
    client.delete(name, "GONE")
    return name


def test_a_table_has_the_newest_value_of_each_key(
    session: SparkSession, url: str, prices: str
) -> None:
    rows = table(session, url, prices).orderBy("key").collect()
    assert rows == [
        Row(key="IBM", time=2.5, price=24.25, size=8, venue=None),
        Row(key="MSFT", time=3.0, price=50.0, size=9, venue=None),
    ]


def test_a_schema_that_is_given_chooses_and_converts(
    session: SparkSession, url: str, prices: str
) -> None:
    schema = "price string, time timestamp, key string, missing array<int>, deleted boolean"
    row = table(session, url, prices, schema).where("key = 'IBM'").collect()[0]
    at = dt.datetime.fromtimestamp(2.5, dt.UTC).replace(tzinfo=None)
    assert (row.price, row.key, row.missing, row.deleted) == ("24.25", "IBM", None, False)
    assert row.time.astimezone(dt.UTC).replace(tzinfo=None) == at


def test_a_value_that_does_not_fit_is_named_by_key_and_column(
    session: SparkSession, url: str, prices: str
) -> None:
    with pytest.raises(PySparkException, match=r"column `price` of key 'IBM': 24.25 does not fit"):
        table(session, url, prices, "key string, price int").collect()
    with pytest.raises(PySparkException, match="column `price` cannot be binary"):
        table(session, url, prices, "price binary").collect()


def test_an_empty_stream_is_an_empty_table(
    session: SparkSession, url: str, client: Client, name: str
) -> None:
    client.create_stream(name)
    frame = table(session, url, name)
    assert frame.columns == ["key", "time", "value"]
    assert frame.collect() == []
