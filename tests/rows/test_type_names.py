"""Messages use the types of SQL."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.sql.defining import types_of
from upstream.rows.type_names import type_name

TYPES = [
    *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64()),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()),
    *(pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns")),
    *(pa.date32(), pa.time64("us"), pa.duration("us"), pa.decimal128(5, 2)),
    *(pa.list_(pa.int32()), pa.large_list(pa.string()), pa.list_(pa.int8(), 3)),
    pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))]),
    pa.map_(pa.int32(), pa.string()),
    pa.month_day_nano_interval(),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_a_type_is_called_what_duckdb_calls_it(kind: pa.DataType) -> None:
    duck = Duck()
    try:
        [expected] = types_of(pa.schema([("a", kind)]), duck)
    finally:
        duck.close()
    assert type_name(kind).replace(" ", "") == expected.replace(" ", "").replace('"', "")


def test_what_duckdb_spells_out_is_short() -> None:
    assert type_name(pa.timestamp("us", tz="UTC")) == "TIMESTAMPTZ"
    assert type_name(pa.dictionary(pa.int8(), pa.string())) == "VARCHAR"
    assert type_name(pa.null()) == "NULL"
    assert type_name(pa.float16()) == "halffloat"
