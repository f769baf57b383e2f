"""Which data frames can be written."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from upstream.spark.source.errors import ColumnError
from upstream.spark.source.writable import check_writable


def schema(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


@pytest.mark.parametrize(
    "columns",
    [
        {"key": StringType(), "value": DoubleType()},
        {"key": LongType(), "time": TimestampType(), "price": DoubleType(), "is": BooleanType()},
        {"key": StringType(), "time": TimestampNTZType(), "sizes": ArrayType(IntegerType())},
        {"key": StringType(), "time": LongType(), "at": schema(x=DoubleType())},
    ],
)
def test_updates_in_columns_can_be_written(columns: dict[str, DataType]) -> None:
    check_writable(schema(**columns))


@pytest.mark.parametrize(
    ("changed", "column"),
    [
        ({"key": None}, "key"),
        ({"key": DoubleType()}, "key"),
        ({"time": StringType()}, "time"),
        ({"time": DateType()}, "time"),
        ({"time": DecimalType(10, 2)}, "time"),
        ({"value": None}, "value"),
        ({"value": DecimalType(10, 2)}, "value"),
        ({"value": TimestampType()}, "value"),
        ({"value": BinaryType()}, "value"),
        ({"value": MapType(StringType(), StringType())}, "value"),
        ({"value": ArrayType(DateType())}, "value"),
        ({"value": StructType([])}, "value"),
        ({"deleted": BooleanType()}, "deleted"),
    ],
)
def test_a_column_that_updates_do_not_have_is_named(
    changed: dict[str, DataType | None], column: str
) -> None:
    columns = {"key": StringType(), "time": DoubleType(), "value": DoubleType()} | changed
    given = {name: kind for name, kind in columns.items() if kind is not None}
    with pytest.raises(ColumnError, match=f"column `{column}`") as raised:
        check_writable(schema(**given))
    assert raised.value.column == column
