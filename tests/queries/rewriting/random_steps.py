"""Random rows in steps: NULLs, duplicates, ties, NaN, and steps without any row."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

SCHEMA = pa.schema(
    [
        pa.field("t", pa.timestamp("us")),
        pa.field("g", pa.string()),
        pa.field("k", pa.int64()),
        pa.field("x", pa.int32()),
        pa.field("y", pa.float64()),
        pa.field("z", pa.float32()),
        pa.field("d", pa.decimal128(10, 2)),
        pa.field("b", pa.bool_()),
        pa.field("day", pa.date32()),
        pa.field("l", pa.list_(pa.int64())),
        pa.field("Odd name", pa.int16()),
    ]
)
SCHEMAS = {"chunk_0": SCHEMA, "chunk_1": SCHEMA}
TABLES = (
    "CREATE TABLE names (id BIGINT, name VARCHAR, weight DOUBLE, since TIMESTAMP)",
    """
    INSERT INTO names VALUES (0, 'zero', 0.5, TIMESTAMP '1970-01-01'),
        (1, 'one', 1.5, TIMESTAMP '1970-01-01 00:00:02'), (1, 'uno', NULL, NULL),
        (7, 'seven', 7.0, TIMESTAMP '1970-01-01 00:00:01'), (NULL, 'none', 1.0, NULL)
    """,
    "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
)

_EPOCH = dt.datetime(1970, 1, 1)
_DAY = dt.date(2024, 1, 1)


def _or_null(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.one_of(values, values, values, st.none())


_ROWS = st.fixed_dictionaries(
    {
        "g": _or_null(st.sampled_from(["a", "b", "c", ""])),
        "k": _or_null(st.integers(0, 3)),
        "x": _or_null(st.integers(-4, 4) | st.sampled_from([2**31 - 1, -(2**31)])),
        "y": _or_null(st.sampled_from([0.1, 0.25, -3.5, 1e6 + 0.1, 1e6 + 0.2, 0.0])),
        "z": _or_null(st.sampled_from([1.5, -2.0, 0.0, -0.0, float("nan"), float("inf")])),
        "d": _or_null(st.integers(-999, 999).map(lambda i: Decimal(i) / 100)),
        "b": _or_null(st.booleans()),
        "day": _or_null(st.integers(0, 3).map(lambda i: _DAY + dt.timedelta(i))),
        "l": _or_null(st.lists(st.integers(0, 2), max_size=2)),
        "Odd name": _or_null(st.integers(-1, 1)),
    }
)
_STEPS = st.lists(st.lists(_ROWS, max_size=6), min_size=1, max_size=4)


def _tables(steps: list[list[dict[str, object]]]) -> list[pa.Table]:
    """Make tables of rows; times ascend, with a tie now and then."""
    tables = []
    number = 0
    for rows in steps:
        for row in rows:
            row["t"] = _EPOCH + dt.timedelta(seconds=number // 2)
            number += 1
        tables.append(pa.Table.from_pylist(rows, schema=SCHEMA))
    return tables


STEPS: st.SearchStrategy[dict[str, list[pa.Table]]] = st.fixed_dictionaries(
    {"chunk_0": _STEPS.map(_tables), "chunk_1": _STEPS.map(_tables)}
)
