"""Which columns are what, and which types they may have."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.spark.source.errors import ColumnError
from upstream.spark.source.layout import readable_layout


def layout_values(*fields: tuple[str, pa.DataType]) -> tuple[tuple[str, ...], bool]:
    layout = readable_layout(pa.schema(list(fields)))
    return layout.values, layout.is_one_value


def test_a_single_column_value_is_the_whole_value() -> None:
    assert layout_values(("key", pa.string()), ("value", pa.float64())) == (("value",), True)


def test_other_columns_are_members_of_the_values() -> None:
    fields = [("price", pa.float64()), ("deleted", pa.bool_()), ("value", pa.int64())]
    assert layout_values(*fields) == (("price", "value"), False)
    assert layout_values(("time", pa.float64())) == ((), False)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("key", pa.float64()),
        ("time", pa.string()),
        ("time", pa.int64()),
        ("deleted", pa.int32()),
        ("price", pa.binary()),
        ("price", pa.list_(pa.binary())),
        ("price", pa.map_(pa.int32(), pa.string())),
    ],
)
def test_a_column_of_an_unsupported_type_is_refused(column: str, kind: pa.DataType) -> None:
    with pytest.raises(ColumnError, match=f"column `{column}` cannot be"):
        readable_layout(pa.schema([(column, kind)]))


@pytest.mark.parametrize(
    "kind",
    [
        pa.struct([("bid", pa.float64()), ("sizes", pa.list_(pa.int32()))]),
        pa.map_(pa.string(), pa.decimal128(10, 2)),
        pa.timestamp("us", tz="UTC"),
        pa.date32(),
    ],
)
def test_nested_values_and_moments_can_be_read(kind: pa.DataType) -> None:
    assert layout_values(("price", kind)) == (("price",), False)
