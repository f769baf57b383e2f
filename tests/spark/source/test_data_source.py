"""The format as users see it: schemas, options and error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, PySparkException

from upstream.client import Client
from upstream.spark import register
from upstream.spark.source.data_source import UpstreamDataSource
from upstream.spark.source.errors import OptionError, StreamMissingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def schema_of(**options: str) -> str:
    return UpstreamDataSource(dict(options)).schema().simpleString()


def test_a_schema_is_inferred_from_the_values_of_a_stream(
    client: Client, url: str, name: str
) -> None:
    client.create_queue(name, lease_seconds=60)
    assert schema_of(url=url, stream=name) == "struct<key:string,time:double,value:string>"
    client.put_many(name, [(1, {"price": 24, "venue": "N"}), (2, {"price": 24.5, "open": True})])
    members = "key:bigint,time:double,price:double,venue:string,open:boolean"
    assert schema_of(url=url, stream=name) == f"struct<{members}>"
    assert schema_of(url=url, queue=name) == f"struct<{members},deleted:boolean>"


def test_reading_writing_and_streaming_have_options_of_their_own(
    client: Client, url: str, name: str
) -> None:
    client.create_stream(name)
    source = UpstreamDataSource({"url": url, "stream": name, "max_updates": "5"})
    schema = UpstreamDataSource({"url": url, "stream": name}).schema()
    for use in (
        lambda: source.reader(schema),
        lambda: source.writer(schema, False),
        lambda: source.streamWriter(schema, False),
    ):
        with pytest.raises(OptionError, match="`max_updates` is unknown"):
            use()
    with pytest.raises(OptionError, match="`queue` is missing"):
        source.streamReader(schema)


def test_an_unknown_stream_is_reported_by_name(url: str, name: str) -> None:
    with pytest.raises(StreamMissingError, match=f"no stream '{name}' at {url}"):
        schema_of(url=url, stream=name)


def test_spark_shows_the_message_of_the_data_source(session: SparkSession, url: str) -> None:
    reader = session.read.format("upstream").option("url", url)
    with pytest.raises(AnalysisException, match="option `strem` is unknown; did you mean"):
        reader.option("strem", "prices").load()


def test_spark_reports_an_unreachable_service_with_its_address(session: SparkSession) -> None:
    nowhere = session.read.format("upstream").option("url", "http://127.0.0.1:9")
    nowhere = nowhere.option("retries", "0").option("stream", "prices")
    with pytest.raises(PySparkException, match=r"http://127.0.0.1:9 could not be reached"):
        nowhere.load()
    with pytest.raises(PySparkException, match=r"http://127.0.0.1:9 could not be reached"):
        nowhere.schema("key string, price double").load().collect()


def test_a_session_knows_the_format_however_often_it_was_registered(spark: SparkSession) -> None:
    for _ in range(2):
        register(spark)
    with pytest.raises(AnalysisException, match="option `stream` is missing"):
        spark.read.format("upstream").option("url", "http://127.0.0.1:9").load()
