"""Fitting one value at a time."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from upstream.spark.source.fitting import MisfitError, fit, fit_text

POINT = pa.struct([("x", pa.int32()), ("tags", pa.list_(pa.string()))])


@pytest.mark.parametrize(
    ("value", "kind", "fitted"),
    [
        (None, pa.int64(), None),
        (7, pa.float64(), 7.0),
        (7.0, pa.int8(), 7),
        (True, pa.string(), "true"),
        ([1, "a"], pa.string(), '[1,"a"]'),
        (1.25, pa.decimal128(5, 2), Decimal("1.25")),
        ("2020-01-02", pa.date32(), dt.date(2020, 1, 2)),
        (
            "2020-01-02T03:04:05",
            pa.timestamp("us"),
            dt.datetime.fromisoformat("2020-01-02T03:04:05"),
        ),
        (
            "2020-01-02T03:04:05+01:00",
            pa.timestamp("us", tz="UTC"),
            dt.datetime(2020, 1, 2, 2, 4, 5, tzinfo=dt.UTC),
        ),
        ({"x": 1, "y": 2, "tags": [1, None]}, POINT, {"x": 1, "tags": ["1", None]}),
        ({"a": 1}, pa.map_(pa.string(), pa.float64()), [("a", 1.0)]),
    ],
)
def test_a_value_is_converted_to_the_type_of_its_column(
    value: object, kind: pa.DataType, fitted: object
) -> None:
    assert fit(value, kind) == fitted
    pa.array([fit(value, kind)], kind)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1.5, pa.int64()),
        (True, pa.int64()),
        (200, pa.int8()),
        (2**63, pa.int64()),
        ("7", pa.float64()),
        (1, pa.bool_()),
        ("soon", pa.timestamp("us")),
        (7, pa.date32()),
        (123456, pa.decimal128(5, 2)),
        ("x", pa.decimal128(5, 2)),
        ([], POINT),
        ({}, pa.list_(pa.int64())),
        ({"x": "one"}, POINT),
    ],
)
def test_a_value_that_does_not_fit_is_an_error(value: object, kind: pa.DataType) -> None:
    with pytest.raises(MisfitError):
        fit(value, kind)


def test_numbers_stay_as_written_in_strings() -> None:
    texts = [fit_text(text, pa.string()) for text in (b"1.10", b'"a\\n"', b"null", b"[1 ]")]
    assert texts == ["1.10", "a\n", None, "[1 ]"]
