"""Updates as columns: parsed by Arrow, or one by one with the same result."""

from __future__ import annotations

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.client import Key
from upstream.spark.source import columns
from upstream.spark.source.columns import ROWS_AT_ONCE, record_batches
from upstream.spark.source.errors import ValueMisfitError
from upstream.spark.source.layout import readable_layout
from upstream.spark.source.raw_updates import RawUpdate, leases_of, raw_updates


def an_update(value: object, key: Key = "IBM", *, is_deleted: bool = False) -> RawUpdate:
    return RawUpdate(key, 1.5, msgspec.Raw(msgspec.json.encode(value)), is_deleted)


def read(updates: list[RawUpdate], *fields: tuple[str, pa.DataType]) -> list[dict[str, object]]:
    layout = readable_layout(pa.schema(list(fields)))
    return [row for batch in record_batches(updates, layout) for row in batch.to_pylist()]


def test_members_become_columns_and_others_are_left_out() -> None:
    updates = [an_update({"price": 1, "size": 2}), an_update({"size": None}), an_update(None)]
    assert read(updates, ("price", pa.float64())) == [
        {"price": price} for price in (1.0, None, None)
    ]


def test_an_update_has_its_key_time_and_deletion() -> None:
    updates = [an_update(24.5), an_update(None, ("NYSE", 7), is_deleted=True)]
    rows = read(
        updates,
        ("deleted", pa.bool_()),
        ("value", pa.float64()),
        ("key", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
    )
    assert [list(row) for row in rows] == [["deleted", "value", "key", "time"]] * 2
    assert [(row["key"], row["value"], row["deleted"]) for row in rows] == [
        ("IBM", 24.5, False),
        ('["NYSE",7]', None, True),
    ]
    assert [row["time"].timestamp() for row in rows] == [1.5, 1.5]  # type: ignore[attr-defined]


def test_a_column_of_strings_takes_any_value_as_it_was_written() -> None:
    updates = [RawUpdate("a", 0.0, msgspec.Raw(text)) for text in (b"1.10", b'"x"', b'{"a": 1}')]
    assert read(updates, ("value", pa.string())) == [
        {"value": text} for text in ("1.10", "x", '{"a": 1}')
    ]
    members = [RawUpdate("a", 0.0, msgspec.Raw(b'{"p":%b}' % update.value)) for update in updates]
    assert read(members, ("p", pa.string()), ("q", pa.int64())) == [
        {"p": text, "q": None} for text in ("1.10", "x", '{"a": 1}')
    ]


@pytest.mark.parametrize(
    ("value", "field", "said"),
    [
        ({"price": "high"}, ("price", pa.float64()), "column `price` of key 'MSFT': 'high'"),
        ({"price": 1.5}, ("price", pa.int32()), "column `price` of key 'MSFT': 1.5"),
        ({"p": {"q": True}}, ("p", pa.struct([("q", pa.int64())])), "`p` of key 'MSFT': True"),
        (24.5, ("price", pa.float64()), "column `value` of key 'MSFT': 24.5 does not fit columns"),
        ("x", ("value", pa.float64()), "column `value` of key 'MSFT': 'x' does not fit double"),
        (24.5, ("key", pa.int64()), "column `key` of key 'MSFT'"),
    ],
)
def test_a_value_that_does_not_fit_is_reported_by_key_and_column(
    value: object, field: tuple[str, pa.DataType], said: str
) -> None:
    good = 1 if field[0] in {"key", "value"} else {"price": 1, "p": {"q": 1}}
    updates = [an_update(good, 7 if field[0] == "key" else "IBM"), an_update(value, "MSFT")]
    with pytest.raises(ValueMisfitError, match=f"^.*{said}"):
        read(updates, field)


def test_a_missing_value_in_a_required_column_is_refused() -> None:
    layout = readable_layout(pa.schema([pa.field("price", pa.float64(), nullable=False)]))
    with pytest.raises(ValueMisfitError, match=r"`price` of key 'MSFT': None .* NOT NULL"):
        list(record_batches([an_update({"price": 1}), an_update({}, "MSFT")], layout))


def test_a_time_beyond_timestamps_is_named_by_its_key() -> None:
    update = RawUpdate("IBM", 1e15)
    with pytest.raises(ValueMisfitError, match="column `time` of key 'IBM'"):
        read([update], ("time", pa.timestamp("us", tz="UTC")))


def test_many_updates_come_in_several_batches() -> None:
    layout = readable_layout(pa.schema([("value", pa.int64())]))
    updates = [an_update(number) for number in range(ROWS_AT_ONCE + 1)]
    batches = list(record_batches(updates, layout))
    assert [batch.num_rows for batch in batches] == [ROWS_AT_ONCE, 1]
    assert batches[1].to_pylist() == [{"value": ROWS_AT_ONCE}]
    assert list(record_batches([], layout)) == []


MEMBERS = [
    ("i", pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    ("f", pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    ("b", pa.bool_(), st.booleans()),
    ("s", pa.string(), st.text(st.characters(exclude_categories=["Cs"]))),
    ("l", pa.list_(pa.int64()), st.lists(st.integers(-9, 9))),
    ("o", pa.struct([("x", pa.float64())]), st.fixed_dictionaries({"x": st.floats(-1, 1)})),
]


@given(
    st.lists(
        st.fixed_dictionaries(
            {}, optional={name: st.none() | values for name, _, values in MEMBERS}
        ),
        min_size=1,
        max_size=6,
    )
)
def test_arrow_parses_the_same_values_as_the_conversion_one_by_one(
    values: list[dict[str, object]],
) -> None:
    updates = [an_update(value) for value in values]
    layout = readable_layout(pa.schema([(name, kind) for name, kind, _ in MEMBERS]))
    (batch,) = record_batches(updates, layout)
    expected = columns._fitted_columns(updates, layout)
    for name, kind, _ in MEMBERS:
        assert batch.column(name).type == kind
        assert batch.column(name).to_pylist() == expected[name].to_pylist()
        assert batch.column(name).to_pylist() == [value.get(name) for value in values]


# Updates whose values are not parsed

BODY = (
    b'{"updates":[{"key":"IBM","time":3,"value":{"price": 24.10},"lease":"a-1"},'
    b'{"key":["NYSE",7],"time":4.5,"value":null,"lease":"a-2","deleted":true},'
    b'{"key":7,"time":5,"value":"x","new_member":1}]}'
)


def test_values_are_not_parsed() -> None:
    updates = raw_updates(BODY)
    assert [update.text for update in updates] == ['{"price": 24.10}', "null", '"x"']
    assert [update.key for update in updates] == ["IBM", ("NYSE", 7), 7]
    assert [update.time for update in updates] == [3.0, 4.5, 5.0]
    assert [update.is_deleted for update in updates] == [False, True, False]


def test_there_is_a_lease_for_each_update_or_none() -> None:
    assert leases_of(BODY) == ["a-1", "a-2", None]
