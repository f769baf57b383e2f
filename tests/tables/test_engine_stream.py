"""A stream of an engine: stored once, read by queries, one-time queries and plans."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream import ManualClock, StreamTypeError
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables.engine_stream import EngineStream

SCHEMA = pa.schema([("time", pa.timestamp("us")), ("k", pa.string()), ("n", pa.int64())])


def stream(key: tuple[str, ...] = ("k",)) -> EngineStream:
    return EngineStream(StreamDefinition("s", SCHEMA, key, "time"), ManualClock(5.0))


def rows(*of: tuple[int, str, int]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(SCHEMA.names, row, strict=True)) for row in of], schema=SCHEMA
    )


def test_rows_are_stored_once_with_their_arrival() -> None:
    entry = stream()
    one, other = entry.log.reader(), entry.log.reader()
    assert entry.append(rows((1, "a", 1), (2, "b", 2))) == 2
    [batch] = one.peek()
    [same] = other.peek()
    assert batch is same
    assert batch.arrival == 5.0


def test_rows_that_do_not_fit_are_not_stored() -> None:
    entry = stream()
    with pytest.raises(StreamTypeError):
        entry.append(rows((1, "a", 1)).drop_columns(["k"]))
    assert entry.log.rows == 0


def test_the_newest_rows_are_those_by_time() -> None:
    entry = stream()
    entry.append(rows((3, "a", 3), (2, "b", 2)))
    entry.append(rows((1, "a", 1), (4, "b", 4)))
    assert sorted(entry.newest_rows()["n"].to_pylist()) == [3, 4]


def test_what_is_read_is_not_kept() -> None:
    entry = stream()
    for number in range(10_000):
        entry.append(rows((number, "a", number)))
    assert entry.log.stored_batches <= 4_097
    assert entry.newest_rows()["n"].to_pylist() == [9_999]
    assert entry.log.stored_rows == 0


def test_plans_read_rows_as_updates_in_seconds() -> None:
    entry = stream()
    entry.append(rows((1_500_000, "a", 1)))
    updates = entry.for_plans()
    assert entry.for_plans() is updates
    entry.append(rows((2_500_000, "b", 2)))
    assert {(each.key, each.time) for each in updates.snapshot()} == {("a", 1.5), ("b", 2.5)}
    newest = updates.read("b")
    assert newest is not None
    assert isinstance(newest.value, dict)
    assert newest.value["n"] == 2


def test_a_key_of_several_columns_is_a_tuple() -> None:
    entry = stream(("k", "n"))
    entry.append(rows((1, "a", 1)))
    assert [update.key for update in entry.for_plans().snapshot()] == [("a", 1)]


def test_a_closed_stream_lets_go_what_it_had() -> None:
    entry = stream()
    entry.append(rows((1, "a", 1)))
    entry.close()
    assert entry.log.stored_rows == 0
