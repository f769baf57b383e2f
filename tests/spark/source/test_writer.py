"""Data frames written to streams, through Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from upstream.client import Client, Counts, Rejection
from upstream.spark.source.errors import ColumnError, RowsRejectedError, StreamMissingError
from upstream.spark.source.options import Address, WriteOptions
from upstream.spark.source.sending import Sent
from upstream.spark.source.writer import SentMessage, TableWriter, check_writable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PATIENCE_SECONDS = 100


@pytest.fixture
def target(client: Client, name: str) -> str:
    """Return a stream to write to."""
    client.create_stream(name)
    return name


def write(frame: DataFrame, url: str, stream: str, **options: str) -> None:
    writer = frame.write.format("upstream").mode("append").option("url", url)
    writer.option("stream", stream).options(**options).save()


def some_rows(session: SparkSession, rows: int, *, partitions: int = 2) -> DataFrame:
    """Return rows of half as many keys, the later of which are newer."""
    frame = session.range(0, rows, 1, partitions)
    return frame.selectExpr(
        f"concat('k', id % {rows // 2}) AS key", "timestamp_seconds(id) AS time", "id / 2 AS price"
    )


def test_rows_arrive_and_the_newest_of_each_key_stays(
    session: SparkSession, client: Client, url: str, target: str
) -> None:
    write(some_rows(session, 1_000), url, target, batch_rows="150")
    found = client.stream(target)
    assert (found.arrived, found.keys, found.rejected) == (1_000, 500, 0)
    update = client.get(target, "k7")
    assert (update.value, update.time) == ({"price": 253.5}, 507.0)


def test_one_column_value_is_the_value(
    session: SparkSession, client: Client, url: str, target: str
) -> None:
    write(session.range(3).selectExpr("id AS key", "array(id, 9) AS value"), url, target)
    assert client.get(target, 2).value == [2, 9]


def test_rejected_rows_are_counted_and_raise_an_error(
    session: SparkSession, client: Client, url: str, target: str
) -> None:
    frame = session.range(10).selectExpr(
        "if(id < 2, null, string(id)) AS key", "if(id = 9, double('NaN'), 1.5) AS value"
    )
    with pytest.raises(PySparkException, match=rf"stream '{target}' rejected 3 of 10 rows \(.*key"):
        write(frame, url, target)
    assert (client.stream(target).arrived, client.stream(target).keys) == (7, 7)
    write(frame, url, target, on_rejected="warn")


@pytest.mark.parametrize(("does_fail", "raised"), [(True, RowsRejectedError), (False, None)])
def test_rejected_rows_raise_an_error_or_a_warning(
    session: SparkSession,
    url: str,
    target: str,
    *,
    does_fail: bool,
    raised: type[Exception] | None,
) -> None:
    schema = a_schema(session)
    options = WriteOptions(Address(url), target, does_fail=does_fail)
    writer = TableWriter(options, schema, overwrite=False)
    refused = Counts(waiting=1, rejected=1, rejections=[Rejection(1, "key")])
    messages = [SentMessage(Sent(2, refused)), None, SentMessage(Sent(3, Counts(waiting=3)))]
    writer.commit(messages[2:])
    if raised is None:
        with pytest.warns(RuntimeWarning, match=r"rejected 1 of 5 rows \(key\)"):
            writer.commit(messages)
    else:
        with pytest.raises(raised, match=r"rejected 1 of 5 rows \(key\)"):
            writer.commit(messages)


def a_schema(session: SparkSession) -> StructType:
    return session.createDataFrame([], "key string, value double").schema


def test_an_invalid_write_is_refused_before_any_row_is_sent(
    session: SparkSession, client: Client, url: str, target: str, name: str
) -> None:
    frame = session.range(3).selectExpr("string(id) AS key", "current_date() AS value")
    with pytest.raises(AnalysisException, match="column `value` is date"):
        write(frame, url, target)
    good = frame.selectExpr("key", "1 AS value")
    with pytest.raises(AnalysisException, match="`mode` cannot be overwrite"):
        good.write.format("upstream").mode("overwrite").options(url=url, stream=target).save()
    with pytest.raises(StreamMissingError, match="no stream 'missing' at"):
        TableWriter(WriteOptions(Address(url), "missing"), good.schema, overwrite=False)
    assert client.stream(target).arrived == 0


@pytest.mark.parametrize("is_for_each_batch", [False, True])
def test_a_query_writes_each_batch_once_even_if_it_is_repeated(
    session: SparkSession,
    client: Client,
    url: str,
    target: str,
    tmp_path: Path,
    *,
    is_for_each_batch: bool,
) -> None:
    source, checkpoint = tmp_path / "source", tmp_path / "checkpoint"
    some_rows(session, 100, partitions=1).write.parquet(str(source))
    frame = session.readStream.schema("key string, time timestamp, price double")
    query = frame.parquet(str(source)).writeStream.trigger(availableNow=True)
    query = query.option("checkpointLocation", str(checkpoint))
    if is_for_each_batch:
        query = query.foreachBatch(lambda batch, _: write(batch, url, target))
    else:
        query = query.format("upstream").options(url=url, stream=target)
    assert query.start().awaitTermination(PATIENCE_SECONDS)
    assert client.stream(target).arrived == 100
    # As if it had been killed after the rows were sent, and before Spark noted that.
    for note in (checkpoint / "commits").iterdir():
        note.unlink()
    assert query.start().awaitTermination(PATIENCE_SECONDS)
    assert client.stream(target).arrived == 100
    assert client.stream(target).keys == 50


def test_complete_mode_writes_the_whole_aggregate_each_time(
    session: SparkSession, client: Client, url: str, target: str, tmp_path: Path
) -> None:
    some_rows(session, 20, partitions=1).write.parquet(str(tmp_path / "source"))
    frame = session.readStream.schema("key string, time timestamp, price double")
    sums = frame.parquet(str(tmp_path / "source")).groupBy("key").sum("price")
    sums = sums.withColumnRenamed("sum(price)", "value")
    query = sums.writeStream.format("upstream").outputMode("complete").trigger(availableNow=True)
    query = query.option("checkpointLocation", str(tmp_path / "complete"))
    assert query.options(url=url, stream=target).start().awaitTermination(PATIENCE_SECONDS)
    assert client.get(target, "k3").value == 1.5 + 6.5
    assert client.stream(target).arrived == 10


def test_a_service_that_is_down_fails_the_query_with_its_address(
    session: SparkSession, tmp_path: Path
) -> None:
    frame = session.readStream.format("rate").load().selectExpr("value AS key", "value")
    query = frame.writeStream.format("upstream").option("checkpointLocation", str(tmp_path))
    query = query.options(url="http://127.0.0.1:9", stream="prices", retries="0")
    with pytest.raises(StreamingQueryException, match=r"http://127.0.0.1:9 could not be reached"):
        query.start().awaitTermination(PATIENCE_SECONDS)


# Checks of the columns


def schema(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


@pytest.mark.parametrize(
    "columns",
    [
        {"key": StringType(), "value": DoubleType()},
        {"key": LongType(), "time": TimestampType(), "price": DoubleType(), "is": BooleanType()},
        {"key": StringType(), "time": TimestampNTZType(), "sizes": ArrayType(IntegerType())},
        {"key": StringType(), "time": LongType(), "at": schema(x=DoubleType())},
    ],
)
def test_columns_of_updates_can_be_written(columns: dict[str, DataType]) -> None:
    check_writable(schema(**columns))


@pytest.mark.parametrize(
    ("changed", "column"),
    [
        ({"key": None}, "key"),
        ({"key": DoubleType()}, "key"),
        ({"time": StringType()}, "time"),
        ({"time": DateType()}, "time"),
        ({"time": DecimalType(10, 2)}, "time"),
        ({"value": None}, "value"),
        ({"value": DecimalType(10, 2)}, "value"),
        ({"value": TimestampType()}, "value"),
        ({"value": BinaryType()}, "value"),
        ({"value": MapType(StringType(), StringType())}, "value"),
        ({"value": ArrayType(DateType())}, "value"),
        ({"value": StructType([])}, "value"),
        ({"deleted": BooleanType()}, "deleted"),
    ],
)
def test_an_invalid_column_is_named(changed: dict[str, DataType | None], column: str) -> None:
    columns = {"key": StringType(), "time": DoubleType(), "value": DoubleType()} | changed
    given = {name: kind for name, kind in columns.items() if kind is not None}
    with pytest.raises(ColumnError, match=f"column `{column}`") as raised:
        check_writable(schema(**given))
    assert raised.value.column == column
