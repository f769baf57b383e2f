"""The tables of the bounds of windows: their names, their types, their one row."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

from upstream.queries.sql import read_query
from upstream.queries.sql.window_bounds import (
    bound_query,
    bounds_in,
    bounds_schema,
    bounds_table,
    hidden_schema,
    is_bound,
    with_one_of_alike,
    with_plain_bounds,
)
from upstream.rows.stream_definition import StreamDefinition

from .example_streams import STREAMS, window_of

DAY = 86_400_000_000


def stream(kind: pa.DataType) -> StreamDefinition:
    return StreamDefinition("s", pa.schema([("t", kind)]), (), "t")


@pytest.mark.parametrize(
    ("kind", "call", "bounds", "expected"),
    [
        (pa.timestamp("us"), "tumble(s, INTERVAL '1 day')", DAY, datetime(1970, 1, 2)),
        (
            pa.timestamp("s", tz="UTC"),
            "tumble(s, INTERVAL '1 day')",
            86_400,
            datetime(1970, 1, 2, tzinfo=UTC),
        ),
        (pa.date32(), "tumble(s, INTERVAL '1 day')", 1, date(1970, 1, 2)),
        (pa.float64(), "tumble(s, 3)", 1_500_000, 1.5),
        (pa.float32(), "tumble(s, 3)", 1_700_000_001_000_000, 1_700_000_001.0),
        (pa.int8(), "tumble(s, 300)", 300, 300),
        (pa.uint64(), "hop(s, 300, 10)", -290, -290),
        (pa.int64(), "rows(s, 300, 10)", 290, 290),
        (pa.int64(), "tumble(s, INTERVAL '1 day', by => arrival)", DAY, datetime(1970, 1, 2)),
    ],
    ids=["TIMESTAMP", "TIMESTAMPTZ", "DATE", "DOUBLE", "FLOAT", "TINYINT", "UBIGINT", "rows", "by"],
)
def test_a_bound_has_the_type_of_the_axis_of_its_window(
    kind: pa.DataType, call: str, bounds: int, expected: object
) -> None:
    definition = stream(kind)
    [window] = read_query(f"SELECT * FROM {call}", {"s": definition}).windows
    schema = bounds_schema(window, definition)
    table = bounds_table(schema, bounds, bounds)
    assert table.to_pylist() == [{"window_start": expected, "window_end": expected}]
    assert table.schema == schema


@pytest.mark.parametrize(
    ("kind", "call", "bound"),
    [
        (pa.timestamp("ms"), "epochs(s, INTERVAL '1 day')", pa.timestamp("ms")),
        (pa.int16(), "epochs(s, 300, keep => 2)", pa.int64()),
        (pa.int16(), "epochs(s, INTERVAL '1 day', by => arrival)", pa.timestamp("us")),
        (pa.timestamp("s", tz="UTC"), "epochs(s, rows => 3)", pa.timestamp("s", tz="UTC")),
        (pa.float32(), "epochs(s, by => t)", pa.float64()),
        (pa.date32(), "epochs(s, punctuation => true)", pa.date32()),
    ],
    ids=["TIMESTAMP", "SMALLINT", "by arrival", "count", "object", "punctuation"],
)
def test_hidden_columns_have_the_type_of_the_time(
    kind: pa.DataType, call: str, bound: pa.DataType
) -> None:
    definition = stream(kind)
    [window] = read_query(f"SELECT * FROM {call}", {"s": definition}).windows
    names = ("__epoch", "__window_start", "__window_end")
    assert hidden_schema(window, definition, names) == pa.schema(
        zip(names, (pa.int64(), bound, bound), strict=True)
    )
    assert hidden_schema(window, definition, names[1:2]).names == ["__window_start"]
    assert bounds_schema(window, definition).types == [bound, bound]


def test_chunks_of_a_stream_without_a_time_have_bounds_on_arrival() -> None:
    window = window_of("epochs(news, rows => 3)")
    schema = hidden_schema(window, STREAMS["news"], ["__window_end"])
    assert schema.types == [pa.timestamp("us")]


def test_hidden_columns_are_displayed_by_the_names_that_users_know() -> None:
    text = "SELECT *, EPOCH AS e FROM epochs(ticks, 10) x WHERE window_end > 3"
    shown = with_plain_bounds(read_query(text, STREAMS).query).sql("duckdb")
    assert shown == "SELECT *, x.epoch AS e FROM chunk_0 AS x WHERE x.window_end > 3"
    kept = parse_one("SELECT * EXCLUDE (a, __epoch) FROM t", dialect="duckdb")
    assert with_plain_bounds(kept).sql("duckdb") == "SELECT * EXCLUDE (a) FROM t"


def test_days_that_arrow_does_not_have_are_the_last_that_it_has() -> None:
    schema = pa.schema([("window_start", pa.date32()), ("window_end", pa.date32())])
    table = bounds_table(schema, -(1 << 40), 1 << 40)
    numbers = [column.cast(pa.int32()).to_pylist()[0] for column in table.columns]
    assert numbers == [1 - (1 << 31), (1 << 31) - 1]


def test_before_a_window_has_ended_its_bounds_are_unknown() -> None:
    schema = bounds_schema(window_of("rows(news, 3)"), STREAMS["news"])
    assert bounds_table(schema, None, None).to_pylist() == [
        {"window_start": None, "window_end": None}
    ]


def test_a_bound_is_a_query_over_the_table_of_its_window() -> None:
    name = exp.to_identifier("Window_End", quoted=True)
    bound = bound_query(name, 12)
    assert bound.sql() == "(SELECT window_end FROM bounds_12)"
    assert is_bound(bound)
    assert bounds_in(exp.select(bound, bound_query(name, 3))) == {3, 12}
    assert with_plain_bounds(exp.select(bound)).sql() == "SELECT window_end"


@pytest.mark.parametrize(
    "text", ["(SELECT window_end FROM main.bounds_1)", "(SELECT a FROM bounds_x)", "(SELECT 1)"]
)
def test_other_queries_are_not_bounds(text: str) -> None:
    tree = parse_one(text)
    assert not is_bound(tree)
    assert bounds_in(tree) == frozenset()
    assert with_plain_bounds(tree) == tree


@pytest.mark.parametrize(
    ("one", "other", "are_alike"),
    [
        ("hop(ticks, 10, 5)", "hop(ticks, 10, 5)", True),
        ("hop(ticks, 10, 10, offset => 13)", "tumble(ticks, 10, offset => 3)", True),
        ("rows(ticks, 10)", "rows(news, 10)", True),
        (
            "tumble(news, INTERVAL '1 day', by => arrival)",
            "tumble(trades, '1 day', by => arrival)",
            True,
        ),
        ("tumble(ticks, 10, empty => true)", "tumble(ticks, 10)", True),
        ("tumble(ticks, 10)", "tumble(ticks, 20)", False),
        ("hop(ticks, 10, 5)", "hop(ticks, 10, 2)", False),
        ("tumble(ticks, 10)", "tumble(ticks, 10, offset => 1)", False),
        ("tumble(ticks, 10)", "rows(ticks, 10)", False),
        ("tumble(waves, 1)", "tumble(ticks, 1000000)", False),
        ("tumble(trades, '1 day')", "tumble(trades, '1 day', by => arrival)", False),
        ("tumble(trades, INTERVAL '1 month')", "tumble(trades, INTERVAL '1 microsecond')", False),
        (
            "tumble(trades, INTERVAL '1 month')",
            "tumble(trades, INTERVAL '1 month', zone => 'Europe/Berlin')",
            False,
        ),
        ("session(ticks, 10)", "session(ticks, 10)", False),
    ],
)
def test_windows_that_begin_and_end_together_share_their_bounds(
    one: str, other: str, are_alike: bool
) -> None:
    windows = [window_of(one), window_of(other), window_of(one)]
    found = with_one_of_alike(windows, [STREAMS[window.stream] for window in windows])
    is_alone = one.startswith("session")
    assert found == [0, 0 if are_alike else 1, 2 if is_alone else 0]
