"""Tables of newest values, through Spark."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row

from upstream.client import Client

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
