"""`epochs(…)` is read: what cuts the stream, what is kept, and how chunks are paired."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.errors import (
    QueryError,
    QueryTypeError,
    UnknownColumnError,
    UnknownFunctionError,
    WindowError,
)
from upstream.queries.sql import check, read_query
from upstream.queries.sql.lending import run_once
from upstream.queries.sql.window_clause import Axis, PairingName, Unit, WindowClause
from upstream.rows.stream_definition import StreamDefinition

from .example_streams import STREAMS, only_window, refused, select_of, window

MINUTE = 60_000_000
EVENTS = StreamDefinition(
    "events",
    pa.schema(
        {
            "Arrival": pa.int64(),
            "order": pa.string(),
            "place": pa.struct({"row": pa.int32()}),
            "tags": pa.list_(pa.string()),
        }
    ),
    (),
    None,
)
"""A stream with columns that are hard to name."""


def read(call: str, duck: Duck | None = None) -> WindowClause:
    return only_window(
        read_query(f"SELECT * FROM {call}", STREAMS | {"events": EVENTS}, duck).windows
    )


def ordinal(stream: str, keep: int = 1, **more: Any) -> WindowClause:
    return window("epochs", stream, keep, 1, axis=Axis.ORDINAL, **more)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("epochs(trades, INTERVAL '60 seconds')", window("epochs", "trades", MINUTE, MINUTE)),
        (
            "EPOCHS(Trades, length => INTERVAL '1 minute', by => TIME, keep => 12)",
            window("epochs", "trades", 12 * MINUTE, MINUTE),
        ),
        (
            "epochs(news, INTERVAL '1 minute', by => arrival, offset => INTERVAL '70 s')",
            window("epochs", "news", MINUTE, MINUTE, axis=Axis.ARRIVAL, offset=10 * MINUTE // 60),
        ),
        (
            """epochs(trades, INTERVAL '1 quarter', zone => 'Europe/Berlin', keep => 4,
                offset => INTERVAL '10 seconds')""",
            window(
                "epochs",
                "trades",
                12,
                3,
                unit=Unit.MONTHS,
                zone="Europe/Berlin",
                offset=10 * MINUTE // 60,
            ),
        ),
        ("epochs(ticks, 10, keep := 3)", window("epochs", "ticks", 30, 10)),
        (
            "epochs(ticks, 10, empty => true)",
            window("epochs", "ticks", 10, 10, answers_empty=True),
        ),
        ("epochs(trades, rows => 1000)", ordinal("trades", rows=1000)),
        ("epochs(news, keep => 2 + 1, rows => 5)", ordinal("news", 3, rows=5)),
        ("epochs(trades, by => SYMBOL)", ordinal("trades", per=("symbol",))),
        ("epochs(trades, by => (symbol, size))", ordinal("trades", per=("symbol", "size"))),
        ("epochs(trades, by => time)", ordinal("trades", per=("time",))),
        ("epochs(events, by => arrival)", ordinal("events", per=("Arrival",))),
        (
            "epochs(ticks, 10, pairing => 'newest')",
            window("epochs", "ticks", 10, 10, pairing=PairingName.NEWEST),
        ),
        (
            "epochs(ticks, rows => 3, pairing => 'Newest-Window')",
            ordinal("ticks", rows=3, pairing=PairingName.NEWEST_WINDOW),
        ),
        (
            "epochs(ticks, by => sensor, pairing => 'window')",
            ordinal("ticks", per=("sensor",), pairing=PairingName.WINDOW),
        ),
    ],
)
def test_a_call_is_epochs(call: str, expected: WindowClause, duck: Duck) -> None:
    assert read(call, duck) == expected


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        (
            "epochs(trades, punctuation => price > 3 AND symbol IS NULL OR size = 1)",
            "price > 3 AND symbol IS NULL OR size = 1",
        ),
        ("epochs(trades, punctuation := symbol = 'end')", "symbol = 'end'"),
        ("epochs(trades, punctuation => (NOT price > 3))", "(NOT price > 3)"),
        ("epochs(trades, punctuation => x.price > 3) x", '"price" > 3'),
        ("epochs(trades, punctuation => trades.price > 3) x", '"price" > 3'),
        ("epochs(events, punctuation => \"order\" = 'end')", "\"order\" = 'end'"),
        ("epochs(events, punctuation => events.order = 'end')", "\"order\" = 'end'"),
        ("epochs(events, punctuation => place.row = 3)", "place.row = 3"),
        ("epochs(events, punctuation => x.place.row = 3) x", '"place"."row" = 3'),
        (
            "epochs(events, punctuation => len(list_filter(tags, lambda t: t = 'end')) > 0)",
            "LEN(LIST_FILTER(tags, LAMBDA t : t = 'end')) > 0",
        ),
        (
            "epochs(trades, punctuation => CASE WHEN size::BIGINT IN (1, 2) THEN true END)",
            "CASE WHEN CAST(size AS BIGINT) IN (1, 2) THEN TRUE END",
        ),
    ],
)
def test_a_punctuation_is_a_condition_over_bare_columns(
    call: str, condition: str, duck: Duck
) -> None:
    found = read(call, duck)
    assert found == ordinal(found.stream, condition=condition)


def test_the_condition_means_for_a_row_what_the_user_wrote(duck: Duck) -> None:
    written = "x.tick > 1 AND x.sensor <> 'a' OR NOT ticks.sensor IS NOT NULL"
    condition = read(f"epochs(ticks, punctuation => {written}) x", duck).condition
    rows = pa.table({"tick": [1, 2, 2, 3], "sensor": ["b", "a", "b", None]})
    text = f"SELECT {condition} AS is_end FROM chunk_0 AS any_name"
    assert run_once(duck, select_of(text), {"chunk_0": rows})["is_end"].to_pylist() == [
        *(False, False, True, True)
    ]


@pytest.mark.parametrize(
    ("call", "place", "reason"),
    [
        ("epochs(trades)", "epochs(", "epochs needs a length, rows, by or punctuation"),
        ("epochs(trades, keep => 3)", "epochs(", "needs a length, rows, by or punctuation"),
        (
            "epochs(trades, INTERVAL '1 minute', rows => 3)",
            "3)",
            "cut into epochs in one way: either length or rows",
        ),
        ("epochs(trades, rows => 3, by => symbol)", "symbol)", "either rows or by"),
        (
            "epochs(trades, INTERVAL '1 minute', by => symbol, punctuation => price > 3)",
            "price",
            "either length or punctuation",
        ),
        (
            "epochs(trades, by => symbol, punctuation => price > 3)",
            "price",
            "either by or punctuation",
        ),
        (
            "epochs(trades, INTERVAL '1 minute', by => symbol)",
            "symbol)",
            "^epochs use the stream's time column, or by => arrival[^$]*leave the length out for",
        ),
        (
            "epochs(trades, by => arrival)",
            "arrival)",
            r"by arrival need a length[^$]*epochs\(trades, INTERVAL '60 seconds', by => arrival\)",
        ),
        (
            "epochs(news, INTERVAL '1 minute')",
            "epochs(",
            r"no time column[^$]*epochs\(news, …, by => arrival\) or epochs\(news, rows => 1000\)",
        ),
        ("epochs(trades, 3)", "3)", "is a TIMESTAMP[^$]*write the length as INTERVAL"),
        ("epochs(trades, rows => 3, offset => INTERVAL '1 s')", "INTERVAL", "by time only"),
        ("epochs(trades, by => symbol, zone => 'UTC')", "'UTC'", "zone applies to epochs by time"),
        (
            "epochs(trades, INTERVAL '1 s', zone => 'UTC')",
            "'UTC'",
            "zone applies to epochs of months and",
        ),
        ("epochs(trades, rows => 0)", "0)", "^rows must be a whole number, 1 or more"),
        ("epochs(trades, rows => 1.5)", "1.5)", r"whole number[^$]*epochs\(trades, rows => 1000\)"),
        ("epochs(trades, rows => 'x')", "'x'", "^rows must be a whole number, 1 or more"),
        (
            "epochs(trades, rows => INTERVAL '1 s')",
            "INTERVAL",
            r"rows must be a whole number[^$]*by time epochs\(trades, INTERVAL '60 seconds'\)",
        ),
        ("epochs(trades, rows => price)", "price)", "rows must be a constant"),
        ("epochs(ticks, 10, keep => 0)", "0)", "^keep must be a whole number of chunks, 1 or more"),
        ("epochs(ticks, 10, keep => -2)", "2)", "whole number of chunks, 1 or more"),
        ("epochs(ticks, 10, keep => 1.5)", "1.5)", "keep must be a whole number of chunks"),
        ("epochs(ticks, 10, keep => 'x')", "'x'", "^keep must be a whole number of chunks, 1 or"),
        ("epochs(ticks, 10, keep => 1000001)", "1000001)", "keep is too large"),
        ("epochs(ticks, 1e17, keep => 1000)", "1000)", "keep is too large"),
        ("epochs(trades, '1 month', keep => 119989)", "119989)", "keep is too large"),
        (
            "epochs(ticks, 10, keep => INTERVAL '1 s')",
            "INTERVAL",
            "number of chunks[^$]*keep => 12 for the last 12",
        ),
        ("epochs(ticks, 10, keep => tick)", "tick)", "keep must be a constant"),
        ("epochs(ticks, 10, pairing => newest)", "newest)", "a pairing is named by a string"),
        ("epochs(ticks, 10, pairing => 'newst')", "'newst'", "did you mean newest?"),
        ("epochs(ticks, 10, pairing => 'x')", "'x'", "newest, newest-window, window"),
        ("epochs(ticks, punctuate => tick > 3)", "punctuate", "did you mean punctuation\\?"),
        ("epochs(ticks, 10, chunks => 12)", "chunks", "did you mean keep\\?"),
        ("epochs(ticks, size => 10)", "size", "did you mean length\\?"),
        ("epochs(ticks, per => sensor)", "per", "did you mean by\\?"),
        ("epochs(ticks, 10, kep => 3)", "kep", "no argument kep[^$]*did you mean keep\\?"),
        ("epochs(ticks, 10, keep = 3)", "keep", "named with =>, not with =[^$]*write keep => 3"),
        ("epochs(ticks, 10, empty => 1)", "1)", "empty must be true or false"),
        ("epochs(ticks, by => ())", "by =>", "by must be a column, or several in brackets"),
        ("epochs(ticks, by => tick + 1)", "tick", "by must be a column, or several in brackets"),
        (
            "epochs(ticks, by => 'sensor')",
            "'sensor'",
            r"by must be a column[^$]*write by => sensor$",
        ),
        ("epochs(ticks, by => 3)", "3)", r"by => tick, or by => \(tick, sensor\)$"),
        ("epochs(news, by => 'author')", "'author'", r"by => k, or by => \(k, text\)$"),
        ("epochs(events, by => 'order')", "'order'", 'write by => "order"$'),
        (
            "epochs(trades, '1 month', offset => INTERVAL '30 days')",
            "INTERVAL '30",
            "the offset of epochs of months[^$]*an offset of less than 28 days",
        ),
        (
            "epochs(trades, '1 day', offset => INTERVAL '1 month')",
            "INTERVAL '1 month'",
            "the offset of an epoch cannot be in months",
        ),
        ("epochs(ticks, by => (sensor, tick, SENSOR))", "SENSOR)", "named twice"),
        ("epochs(events, by => tags)", "tags)", "epochs cannot be cut by tags: it has a nested"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_where_they_are(
    call: str, place: str, reason: str
) -> None:
    with refused(WindowError, place, reason) as caught:
        read(call)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("condition", "kind", "place", "reason"),
    [
        ("(SELECT true)", WindowError, "punctuation =>", "cannot have a subquery"),
        ("EXISTS (SELECT 1 FROM news)", WindowError, "1 FROM", "cannot have a subquery"),
        ("symbol IN (SELECT k FROM news)", WindowError, "k FROM", "cannot have a subquery"),
        ("max(price) > 3", WindowError, "max(", "cannot have an aggregate"),
        ("count(*) > 3", WindowError, "count(", "cannot have an aggregate"),
        ("row_number() OVER () > 3", WindowError, "row_number", "cannot have a window function"),
        ("COLUMNS(*) IS NULL", WindowError, "COLUMNS", "cannot have COLUMNS"),
        ("random() > 0.5", WindowError, "random", "random returns another value each time"),
        ("time > now()", WindowError, "now", "now returns another value each time"),
        ("news.text = 'end'", WindowError, "news.text", "its own stream, and news is not trades"),
        (
            "main.trades.price > 3",
            WindowError,
            "main.trades",
            "main.trades is not[^$]*write price alone",
        ),
        ("price", WindowError, "price)", "must be a BOOLEAN, not DOUBLE"),
        ("size", WindowError, "size)", "must be a BOOLEAN, not INTEGER"),
        ("prce > 3", UnknownColumnError, "prce", "no column prce[^$]*did you mean price?"),
        ("trades.prce > 3", UnknownColumnError, "trades.prce", "did you mean price?"),
        ("epoch > 3", WindowError, "epoch >", "cannot read epoch: it decides where epochs end"),
        ("price > 'high'", QueryTypeError, "price", "could not convert string 'high'"),
        ("symbol > 3 + time", QueryTypeError, "3 + time", "no function matches"),
        ("prime(price)", UnknownFunctionError, "prime", "no function named prime"),
    ],
)
def test_a_punctuation_that_cannot_be_evaluated_for_one_row_is_refused_where_it_is(
    condition: str, kind: type[QueryError], place: str, reason: str, duck: Duck
) -> None:
    with refused(kind, place, reason) as caught:
        read(f"epochs(trades, keep => 2, punctuation => {condition})", duck)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("x IN (SELECT 1.0 FROM range(3))", "cannot have a subquery, as this macro may have"),
        ("max(x) > 3", "cannot have an aggregate"),
        ("x > random()", "ends returns another value each time"),
    ],
)
def test_a_macro_in_a_punctuation_is_judged_by_its_body(body: str, reason: str) -> None:
    with closing(Duck()) as duck:
        duck.run_as_written(f"CREATE MACRO ends(x) AS {body}", {})
        with refused(WindowError, "ends(", reason):
            read("epochs(trades, punctuation => ends(price))", duck)
        duck.run_as_written("CREATE OR REPLACE MACRO ends(x) AS x > 3", {})
        found = read("epochs(trades, punctuation => ends(price))", duck)
    assert found.condition == "ENDS(price)"


def test_a_column_is_meant_before_the_stream_of_the_same_name(duck: Duck) -> None:
    struct = pa.struct({"a": pa.int64()})
    stream = StreamDefinition("s", pa.schema({"s": struct, "b": pa.int64()}), (), None)
    for written, expected in [("s.a > 1", "s.a > 1"), ("s.b > 1", '"b" > 1')]:
        text = f"SELECT 1 AS one FROM epochs(s, punctuation => {written})"
        assert only_window(read_query(text, {"s": stream}, duck).windows).condition == expected


def test_a_call_in_place_of_a_value_is_refused() -> None:
    with refused(WindowError, "epochs(", "returns a table, not a value"):
        read_query("SELECT epochs(trades, rows => 3)", STREAMS)


def test_a_misspelt_epochs_is_suggested(duck: Duck) -> None:
    parsed = read_query("SELECT * FROM epoch(ticks, rows => 2)", {})
    with refused(UnknownFunctionError, "epoch(", "did you mean epochs?"):
        check(parsed, {}, duck)
