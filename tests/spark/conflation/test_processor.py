"""The processor's turns, on PySpark's own tester: timers, checkpoints, and clocks that go back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from upstream.spark.conflation.metrics import ConflationMetrics
from upstream.spark.conflation.partition_conflation import COUNTED
from upstream.spark.conflation.processor import (
    BUCKET,
    COUNTS,
    HASH,
    SERVED,
    BucketProcessor,
    BucketSettings,
    CheckpointMismatchError,
    counted_schema,
    turn_schema,
)

BUCKETS = {3: 2, 5: 1}


def in_memory(**changed: Any) -> TwsTester:
    given: dict[str, Any] = {
        "policy": "in-place",
        "columns": ("key string", "value bigint"),
        "names": ("key", "value"),
        "keys": (0,),
        "time": "value",
        "shares": BUCKETS,
        **changed,
    }
    return TwsTester(BucketProcessor(BucketSettings(**given)), timeMode="ProcessingTime")


def continued(**changed: Any) -> TwsTester:
    """Return a processor with other settings and the checkpoint of one that ran before."""
    before, after = in_memory(), in_memory(**changed)
    before.test(3, [row("a", 1)])
    state = before.peekValueState("summary", 3)
    assert state is not None
    after.updateValueState("summary", 3, state)
    after.updateMapState("blocks", 3, before.peekMapState("blocks", 3))
    return after


def row(key: str, value: int, *, position: int = 0, bucket: int = 3) -> Row:
    numbers = np.array([float(value)]).tobytes(), np.array([position]).tobytes()
    make = Row(BUCKET, HASH, *COUNTED, "key", "value")
    return make(bucket, len(key) * 77, 0, 0, 0, *numbers, False, key, value)


def served(rows: list[Any]) -> list[tuple[str, int]]:
    return [(each.key, each.value) for each in rows if each[COUNTS] is None]


def counted(rows: list[Row]) -> ConflationMetrics:
    (counts,) = (each[COUNTS] for each in rows if each[COUNTS] is not None)
    return ConflationMetrics(*counts)


def test_a_turn_serves_the_share_of_its_bucket_and_counts_in_its_last_row() -> None:
    processor = in_memory()
    processor.setProcessingTime(1_000)
    rows = [row(name, place, position=place) for place, name in enumerate(("x", "yy", "zzz"))]
    found = processor.test(3, rows)
    assert served(found) == [("x", 0), ("yy", 1)]
    assert found[-1][SERVED] is None
    assert counted(found).waiting == 1


def test_a_bucket_without_new_rows_is_served_too() -> None:
    processor = in_memory()
    processor.setProcessingTime(1_000)
    processor.test(3, [row(name, place, position=place) for place, name in enumerate("abc")])
    found: list[Any] = list(processor.setProcessingTime(4_000))
    assert all(isinstance(each, Row) for each in found)
    assert served(found) == [("c", 2)]
    (since, now, staleness, superseded, mean) = found[0][SERVED]
    assert (since, now, staleness, superseded, mean) == (1_000, 4_000, 3.0, 0, 1.5)


def test_a_bucket_runs_once_in_a_trigger() -> None:
    processor = in_memory()
    processor.setProcessingTime(1_000)
    processor.test(3, [row("a", 1)])
    processor._currentProcessingTimeMs = 2_000  # as in Spark, where rows come before timers
    found = processor.test(3, [row("b", 1)])
    assert counted(found).arrived == 2
    assert processor._handleExpiredTimers() == []


def test_time_does_not_go_back_with_the_clock_of_the_machine() -> None:
    processor = in_memory()
    processor.setProcessingTime(10_000)
    processor.test(3, [row(name, place, position=place) for place, name in enumerate("abc")])
    processor._currentProcessingTimeMs = 4_000
    found = processor.test(3, [])
    assert found[0][SERVED][:3] == (10_000, 10_000, 0.0)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"policy": "fifo"}, "policy in-place, and this one has fifo"),
        ({"shares": {3: 5}}, "number of partitions 2, and this one has 1"),
        ({"columns": ("key string", "value string")}, "columns"),
        ({"keys": (1,)}, "key"),
        ({"time": None}, "time value, and this one has None"),
    ],
)
def test_a_checkpoint_of_a_query_with_another_definition_is_refused(
    changed: dict[str, Any], what: str
) -> None:
    after = continued(**changed)
    with pytest.raises(CheckpointMismatchError, match=what):
        after.test(3, [row("a", 2)])


def test_the_budget_may_change_between_runs() -> None:
    after = continued(shares={3: 7, 5: 7})
    assert counted(after.test(3, [row("a", 2)])).arrived == 2


def test_the_schemas_have_the_columns_of_the_rows() -> None:
    kept = StructType([StructField("key", StringType()), StructField("value", LongType())])
    assert counted_schema(kept).names == ["key", "value", *COUNTED]
    turn = turn_schema(kept)
    assert turn.names == ["key", "value", SERVED, COUNTS]
    counts = turn[COUNTS].dataType
    assert isinstance(counts, StructType)
    assert counts.names == ConflationMetrics.names()
    assert counts["arrived"].dataType == LongType()
    assert counts["staleness_integral"].dataType == DoubleType()
