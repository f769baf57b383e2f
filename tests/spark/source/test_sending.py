"""Rows on their way to a real service."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.client import Client, Counts, Rejection
from upstream.spark.source.sending import Sent, send_all


def batches_of(table: pa.Table, rows: int) -> list[pa.RecordBatch]:
    return list(table.to_batches(max_chunksize=rows))


@pytest.fixture
def stream(client: Client, name: str) -> str:
    client.create_stream(name)
    return name


def test_rows_are_sent_in_bounded_bodies_and_counted(client: Client, stream: str) -> None:
    table = pa.table({"key": [f"k{row}" for row in range(1_000)], "price": [0.5] * 1_000})
    sent = send_all(client, stream, batches_of(table, 300), rows=400, identity=stream)
    assert (sent.rows, sent.counts) == (1_000, Counts(waiting=1_000))
    assert client.stream(stream).keys == 1_000


def test_the_same_rows_of_the_same_writer_count_once(client: Client, stream: str) -> None:
    table = pa.table({"key": ["a", "b", "a"], "value": [1, 2, 3]})
    for _ in range(2):
        send_all(client, stream, batches_of(table, 2), rows=2, identity=stream)
    assert client.stream(stream).arrived == 3
    send_all(client, stream, batches_of(table, 2), rows=2, identity=f"{stream}-other")
    assert client.stream(stream).arrived == 6


def test_other_rows_under_the_same_identity_are_applied(client: Client, stream: str) -> None:
    for values in ([1, 2], [3, 4]):
        table = pa.table({"key": ["a", "b"], "value": values})
        send_all(client, stream, batches_of(table, 2), rows=2, identity=stream)
    assert client.get(stream, "b").value == 4


def test_large_values_are_sent_in_several_bodies(client: Client, stream: str) -> None:
    table = pa.table({"key": [f"k{row}" for row in range(30)], "value": ["x" * 900_000] * 30})
    sent = send_all(client, stream, batches_of(table, 30), rows=30, identity=stream)
    assert sent.counts.waiting == 30
    client.drop_stream(stream)


def test_no_rows_are_no_request(client: Client) -> None:
    assert send_all(client, "not there", [], rows=10, identity="x") == Sent(0, Counts())


def test_reasons_are_named_once_each() -> None:
    refused = Counts(rejected=2, rejections=[Rejection(0, "key"), Rejection(1, "key")])
    sent = Sent(2, refused).plus(Sent(1, Counts(rejected=1, rejections=[Rejection(0, "time")])))
    assert (sent.rows, sent.counts.rejected, sent.reasons()) == (3, 3, ["key", "time"])
