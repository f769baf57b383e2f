"""A stream is columns, a key and a time, and takes rows that have them."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction

import pyarrow as pa
import pytest

from upstream.errors import StreamTypeError
from upstream.rows.stream_definition import StreamDefinition

TRADES = StreamDefinition(
    "trades",
    pa.schema({"time": pa.timestamp("us"), "symbol": pa.string(), "price": pa.float64()}),
    ("symbol",),
    "time",
)
NEWS = StreamDefinition("news", pa.schema({"k": pa.string(), "t": pa.string()}), ("k",), None)


def test_rows_are_conformed_and_have_times() -> None:
    rows = TRADES.conform(
        pa.table(
            {"PRICE": [1, 2], "symbol": ["A", "B"], "time": pa.array([7, 5], pa.timestamp("us"))}
        )
    )
    assert rows.schema == TRADES.schema
    assert rows["price"].to_pylist() == [1.0, 2.0]
    assert TRADES.times(rows).tolist() == [7, 5]


def test_a_time_that_no_window_can_be_around_is_refused_at_once() -> None:
    far = pa.array([1, 2**63 - 1], pa.timestamp("us"))
    with pytest.raises(StreamTypeError) as caught:
        TRADES.conform(pa.table({"time": far, "symbol": ["A", "B"]}))
    assert caught.value.row == 1


def test_each_row_has_its_key_and_its_time() -> None:
    assert TRADES.required == ("symbol", "time")
    assert NEWS.required == ("k",)
    by_time = StreamDefinition("s", pa.schema({"t": pa.int64()}), ("t",), "t")
    assert by_time.required == ("t",)
    with pytest.raises(StreamTypeError):
        TRADES.conform(pa.table({"symbol": ["A"]}))


def test_a_stream_without_a_time_takes_rows_all_the_same() -> None:
    assert NEWS.conform(pa.table({"k": ["a"]})).to_pylist() == [{"k": "a", "t": None}]


def test_bounds_of_windows_have_the_type_of_the_time() -> None:
    assert TRADES.time_type == pa.timestamp("us")
    assert TRADES.time_value(1_000_000) == datetime(1970, 1, 1, 0, 0, 1)


def test_a_unit_has_a_length() -> None:
    assert TRADES.units_per_second == Fraction(1_000_000)
    assert TRADES.seconds_per_unit == 1e-6
    ticks = StreamDefinition("ticks", pa.schema({"t": pa.int64()}), ("t",), "t")
    assert ticks.units_per_second is None
    assert ticks.seconds_per_unit == 1.0


def test_columns_are_named_in_any_case() -> None:
    assert TRADES.column_named("SYMBOL") == "symbol"
    assert TRADES.column_named("symbols") is None


def test_a_definition_is_a_value() -> None:
    again = StreamDefinition("trades", pa.schema(list(TRADES.schema)), ("symbol",), "time")
    assert again == TRADES
    assert again != StreamDefinition("trades", TRADES.schema, ("symbol",), None)
