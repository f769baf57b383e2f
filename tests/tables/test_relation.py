"""A stream as a `Relation`: the newest row of each key."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import RLock

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from upstream import ManualClock
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables.engine_stream import EngineStream
from upstream.tables.relation import Condition, Relation, TimeRange

SCHEMA = pa.schema({"time": pa.timestamp("us"), "k": pa.string(), "n": pa.int64()})
DEFINITION = StreamDefinition("s", SCHEMA, ("k",), "time")
EPOCH = datetime(1970, 1, 1)
ROWS = pa.Table.from_pylist(
    [{"time": EPOCH + timedelta(seconds=i), "k": f"k{i}", "n": i % 3} for i in range(20)], SCHEMA
)
"""Each key comes once, so that the newest rows and all rows are the same."""


def relation_of(rows: pa.Table) -> Relation:
    """Return a relation that was given the rows, a few at a time."""
    stream = EngineStream(DEFINITION, ManualClock(), RLock())
    for start in range(0, rows.num_rows, 7):
        stream.append(rows.slice(start, 7))
    return stream


def test_a_scan_returns_all_rows_in_the_order_of_arrival() -> None:
    relation = relation_of(ROWS)
    assert relation.definition == DEFINITION
    assert relation.scan().equals(ROWS)


def test_only_the_columns_that_are_asked_for_are_returned() -> None:
    scanned = relation_of(ROWS).scan(["n", "k"])
    assert scanned.schema.names == ["n", "k"]
    assert scanned.equals(ROWS.select(["n", "k"]))


@pytest.mark.parametrize("operator", ["=", "<", "<=", ">", ">="])
def test_rows_that_meet_the_conditions_are_never_left_out(operator: str) -> None:
    compare = {"=": "equal", "<": "less", "<=": "less_equal"} | {
        ">": "greater",
        ">=": "greater_equal",
    }
    condition = Condition("n", operator, 1)  # type: ignore[arg-type]  # one of the literals
    scanned = relation_of(ROWS).scan(["n", "k"], [condition])

    def filtered(rows: pa.Table) -> pa.Table:
        return rows.filter(pc.call_function(compare[operator], [rows["n"], pa.scalar(1)]))

    assert filtered(scanned).equals(filtered(ROWS.select(["n", "k"])))


@pytest.mark.parametrize("start", [None, 5_000_000])
@pytest.mark.parametrize("end", [None, 9_000_000])
def test_rows_in_the_time_range_are_never_left_out(start: int | None, end: int | None) -> None:
    scanned = relation_of(ROWS).scan(between=TimeRange(start, end))

    def filtered(rows: pa.Table) -> list[dict[str, object]]:
        seconds = [row["time"] - EPOCH for row in rows.to_pylist()]
        microseconds = [round(each / timedelta(microseconds=1)) for each in seconds]
        return [
            row
            for row, time in zip(rows.to_pylist(), microseconds, strict=True)
            if (start is None or time >= start) and (end is None or time < end)
        ]

    assert filtered(scanned) == filtered(ROWS)


def test_a_relation_without_rows_has_its_columns() -> None:
    relation = relation_of(ROWS.slice(0, 0))
    assert relation.scan().schema == SCHEMA
    assert relation.scan(["k"]).num_rows == 0


def test_a_scanned_table_does_not_change() -> None:
    relation = relation_of(ROWS)
    scanned = relation.scan()
    before = scanned.to_pylist()
    relation.scan(["k"], [Condition("n", "=", 2)])
    assert scanned.to_pylist() == before
