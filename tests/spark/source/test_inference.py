"""Schemas inferred from values."""

from __future__ import annotations

import msgspec
import pyarrow as pa
import pytest

from upstream.client import Key
from upstream.spark.source.columns import record_batches
from upstream.spark.source.inference import inferred_schema
from upstream.spark.source.layout import readable_layout
from upstream.spark.source.raw_updates import RawUpdate

LONG, F, S, B = pa.int64(), pa.float64(), pa.string(), pa.bool_()


def updates_of(values: list[object], keys: list[Key] | None = None) -> list[RawUpdate]:
    given = keys or ["k"] * len(values)
    return [
        RawUpdate(key, 0.0, msgspec.Raw(msgspec.json.encode(value)))
        for key, value in zip(given, values, strict=True)
    ]


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ([], [("value", S)]),
        ([None], [("value", S)]),
        ([1, 2], [("value", LONG)]),
        ([1, 2.5, None], [("value", F)]),
        ([2**63], [("value", F)]),
        ([True], [("value", B)]),
        ([1, "a"], [("value", S)]),
        ([1, {"a": 1}], [("value", S)]),
        ([[1], [2.5], []], [("value", pa.list_(F))]),
        ([{"a": 1}, {"a": 1.5, "b": "x"}], [("a", F), ("b", S)]),
        ([{"a": 1}, {"a": True}], [("a", S)]),
        ([{"a": None}], [("a", S)]),
        ([{"a": {"b": None, "c": 1}}], [("a", pa.struct([("b", S), ("c", LONG)]))]),
        ([{"a": {}}], [("a", S)]),
        ([{"key": 1, "time": 2, "a": 3}], [("a", LONG)]),
        ([{"value": 1}], [("value", pa.struct([("value", LONG)]))]),
    ],
)
def test_a_schema_takes_all_values_that_it_was_inferred_from(
    values: list[object], fields: list[tuple[str, pa.DataType]]
) -> None:
    updates = updates_of(values)
    schema = inferred_schema(updates, may_be_deleted=False)
    assert schema == pa.schema([("key", S), ("time", F), *fields])
    read = list(record_batches(updates, readable_layout(schema)))
    assert sum(batch.num_rows for batch in read) == len(values)


@pytest.mark.parametrize(
    ("keys", "kind"),
    [([1, 2], LONG), ([1, "a"], S), ([("NYSE", 1)], S), (["1"], S), ([2**63 - 1], LONG)],
)
def test_keys_are_integers_if_all_of_them_are(keys: list[Key], kind: pa.DataType) -> None:
    schema = inferred_schema(updates_of([1] * len(keys), keys), may_be_deleted=False)
    assert schema.field("key").type == kind


def test_a_schema_has_a_column_for_deletions_if_they_are_possible() -> None:
    assert inferred_schema([], may_be_deleted=True).names == ["key", "time", "value", "deleted"]
