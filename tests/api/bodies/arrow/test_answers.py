"""Columns have the type of their values if all have one type, and are JSON text otherwise."""

from __future__ import annotations

import msgspec
import pyarrow as pa
import pytest

from api.bodies.arrow.answers import write_arrow
from api.bodies.stored import PackedValue
from upstream import TOMBSTONE, Key, Update


def table_of(
    *values: object, keys: list[Key] | None = None, leases: list[str] | None = None
) -> pa.Table:
    names = keys or [f"k{row}" for row in range(len(values))]
    updates = [
        Update(key, value, float(row))
        for row, (key, value) in enumerate(zip(names, values, strict=True))
    ]
    return pa.ipc.open_stream(write_arrow(updates, leases)).read_all()


def is_json(field: pa.Field) -> bool:
    return (field.metadata or {}).get(b"content_type") == b"application/json"


@pytest.mark.parametrize(
    ("stored", "kind", "expected"),
    [
        ([b"1.10", 2.5], pa.float64(), [1.1, 2.5]),
        ([b"1", PackedValue(b"\x02")], pa.int64(), [1, 2]),
        ([b"1", 2.5, b"null"], pa.float64(), [1.0, 2.5, None]),
        ([b"true", False], pa.bool_(), [True, False]),
        ([b'"x"', "y", None], pa.string(), ["x", "y", None]),
        ([b"1.5", TOMBSTONE], pa.float64(), [1.5, None]),
    ],
    ids=range(6),
)
def test_values_of_one_type_are_a_column_of_it(
    stored: list[object], kind: pa.DataType, expected: list[object]
) -> None:
    table = table_of(*stored)
    assert table.schema.field("value").type == kind
    assert not is_json(table.schema.field("value"))
    assert table.column("value").to_pylist() == expected


@pytest.mark.parametrize(
    "stored",
    [
        [b"1.10", b'"x"'],
        [b"true", b"1"],
        [b'{"bid":1.10}', {"bid": 1.2}],
        [b"[1]"],
        [b"null", None],
        [b"18446744073709551615"],
        [b"9007199254740993", b"1.5"],
    ],
    ids=range(7),
)
def test_other_values_are_json_text(stored: list[object]) -> None:
    table = table_of(*stored)
    field = table.schema.field("value")
    assert field.type == pa.string()
    assert is_json(field)
    texts = table.column("value").to_pylist()
    plain = [msgspec.json.decode(value) if isinstance(value, bytes) else value for value in stored]
    assert [msgspec.json.decode(text) for text in texts] == plain


def test_json_text_keeps_its_spelling_and_deletions_are_null() -> None:
    table = table_of(b"[1.10]", TOMBSTONE)
    assert table.column("value").to_pylist() == ["[1.10]", None]
    assert table.column("deleted").to_pylist() == [False, True]


@pytest.mark.parametrize(
    ("keys", "kind", "expected"),
    [
        (["a", "b"], pa.string(), ["a", "b"]),
        ([1, -(2**63)], pa.int64(), [1, -(2**63)]),
    ],
    ids=["strings", "integers"],
)
def test_keys_of_one_type_are_a_column_of_it(
    keys: list[Key], kind: pa.DataType, expected: list[object]
) -> None:
    table = table_of(1.0, 2.0, keys=keys)
    assert table.schema.field("key").type == kind
    assert not is_json(table.schema.field("key"))
    assert table.column("key").to_pylist() == expected


def test_other_keys_are_json_text() -> None:
    table = table_of(1.0, 2.0, 3.0, keys=["a", 1, ("a", 1)])
    assert is_json(table.schema.field("key"))
    assert table.column("key").to_pylist() == ['"a"', "1", '["a",1]']


def test_deletions_and_leases_have_columns_only_if_there_are_any() -> None:
    assert table_of(b"1.5").column_names == ["key", "time", "value"]
    table = table_of(b"1.5", TOMBSTONE, leases=["x", "y"])
    assert table.column_names == ["key", "time", "value", "deleted", "lease"]
    assert table.column("lease").to_pylist() == ["x", "y"]
    assert table.column("time").to_pylist() == [0.0, 1.0]


def test_without_updates_there_are_columns_all_the_same() -> None:
    assert table_of().column_names == ["key", "time", "value"]
    assert table_of().num_rows == 0
