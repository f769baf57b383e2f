"""Window functions become windows in the stream's own unit, or errors with a hint."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.errors import QueryError, UnknownColumnError, UnknownStreamError, WindowError
from upstream.queries.sql import read_query
from upstream.queries.sql.window_clause import Axis, Unit, WindowClause
from upstream.rows.stream_definition import StreamDefinition

from .example_streams import STREAMS, only_window, refused, window, window_of

MINUTE = 60_000_000


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("tumble(trades, INTERVAL '1 minute')", window("tumble", "trades", MINUTE, MINUTE)),
        (
            "hop(trades, INTERVAL '10 minutes', INTERVAL '1 minute')",
            window("hop", "trades", 10 * MINUTE, MINUTE),
        ),
        (
            "HOP(Trades, INTERVAL '10 minutes', INTERVAL '1 minute', by => arrival)",
            window("hop", "trades", 10 * MINUTE, MINUTE, axis=Axis.ARRIVAL),
        ),
        (
            "tumble(trades, INTERVAL '1 minute', by => TIME)",
            window("tumble", "trades", MINUTE, MINUTE),
        ),
        (
            "tumble(news, INTERVAL '1 minute', by => arrival)",
            window("tumble", "news", MINUTE, MINUTE, axis=Axis.ARRIVAL),
        ),
        ("tumble(ticks, 10)", window("tumble", "ticks", 10, 10)),
        ("hop(ticks, 10, 5)", window("hop", "ticks", 10, 5)),
        ("hop(days, INTERVAL '1 week', INTERVAL '1 day')", window("hop", "days", 7, 1)),
        ("tumble(waves, INTERVAL '0.1 seconds')", window("tumble", "waves", 100_000, 100_000)),
        ("tumble(waves, 0.5)", window("tumble", "waves", 500_000, 500_000)),
        (
            "hop(trades, size => INTERVAL '10 minutes', slide => INTERVAL '1 minute')",
            window("hop", "trades", 10 * MINUTE, MINUTE),
        ),
        ("hop(ticks, slide => 5, by => tick, size => 10)", window("hop", "ticks", 10, 5)),
        ("hop(ticks, 10, slide => 5)", window("hop", "ticks", 10, 5)),
        ("tumble(ticks, SIZE => 7)", window("tumble", "ticks", 7, 7)),
        ("rows(ticks, slide => 5, size => 10)", window("rows", "ticks", 10, 5, axis=Axis.ROWS)),
        ("landmark(ticks, slide => 5)", window("landmark", "ticks", 0, 5)),
        ("hop(ticks, 10, 20)", window("hop", "ticks", 10, 20)),
        ("hop(ticks, 10, 6, offset => 33)", window("hop", "ticks", 10, 6, offset=3)),
        (
            "tumble(trades, INTERVAL '1 hour', Offset := -INTERVAL '1 minute', empty => true)",
            window(
                "tumble", "trades", 60 * MINUTE, 60 * MINUTE, offset=59 * MINUTE, answers_empty=True
            ),
        ),
        (
            "tumble(news, INTERVAL '1 hour', offset => INTERVAL '1 minute', by => arrival)",
            window("tumble", "news", 60 * MINUTE, 60 * MINUTE, offset=MINUTE, axis=Axis.ARRIVAL),
        ),
        (
            "hop(days, INTERVAL '1 week', INTERVAL '7 days', offset => INTERVAL '-3 days')",
            window("hop", "days", 7, 7, offset=4),
        ),
        (
            "tumble(trades, INTERVAL '1 month', empty => false)",
            window("tumble", "trades", 1, 1, unit=Unit.MONTHS, zone="UTC"),
        ),
        (
            """hop(news, INTERVAL '1 year', INTERVAL '1 quarter', by => arrival,
                offset => INTERVAL '6 hours', zone => 'Europe/Berlin')""",
            window(
                "hop",
                "news",
                12,
                3,
                offset=360 * MINUTE,
                unit=Unit.MONTHS,
                zone="Europe/Berlin",
                axis=Axis.ARRIVAL,
            ),
        ),
        (
            "tumble(days, 2 * INTERVAL '1 month' + INTERVAL '1 decade')",
            window("tumble", "days", 122, 122, unit=Unit.MONTHS, zone="UTC"),
        ),
        (
            "session(trades, INTERVAL '5 minutes')",
            window("session", "trades", 5 * MINUTE, per=("symbol",)),
        ),
        (
            "SESSION(news, gap => INTERVAL '5 minutes', by => arrival, per => (text, k))",
            window("session", "news", 5 * MINUTE, per=("text", "k"), axis=Axis.ARRIVAL),
        ),
        ("session(ticks, 3, per => tick)", window("session", "ticks", 3, per=("tick",))),
        ("rows(trades, 100, 10)", window("rows", "trades", 100, 10, axis=Axis.ROWS)),
        ("ROWS(news, 100)", window("rows", "news", 100, 100, axis=Axis.ROWS)),
        ("landmark(trades)", window("landmark", "trades")),
        ("landmark(news)", window("landmark", "news", axis=Axis.ROWS)),
        ("landmark(news, by => arrival)", window("landmark", "news", axis=Axis.ARRIVAL)),
        ("landmark(trades, INTERVAL '1 hour')", window("landmark", "trades", 0, 60 * MINUTE)),
        ("latest(trades)", window("latest", "trades", rows=1, per=("symbol",))),
        (
            "latest(trades, rows => 3, per => SIZE)",
            window("latest", "trades", rows=3, per=("size",)),
        ),
        (
            "latest(trades, rows => 3, per => key)",
            window("latest", "trades", rows=3, per=("symbol",)),
        ),
        (
            "latest(trades, expire_after => INTERVAL '90 seconds', rows => 2)",
            window("latest", "trades", rows=2, per=("symbol",), expire_after=90.0),
        ),
        (
            "latest(news, expire_after := INTERVAL '1.5 milliseconds')",
            window("latest", "news", rows=1, per=("k",), axis=Axis.ROWS, expire_after=0.0015),
        ),
        (
            "latest(ticks, expire_after => INTERVAL 1 DAY)",
            window("latest", "ticks", rows=1, per=("sensor",), expire_after=86_400.0),
        ),
        (
            "latest(news, per => (k, text))",
            window("latest", "news", rows=1, per=("k", "text"), axis=Axis.ROWS),
        ),
        (
            "latest(news, per := [k, text], rows := 2)",
            window("latest", "news", rows=2, per=("k", "text"), axis=Axis.ROWS),
        ),
    ],
)
def test_a_call_is_a_window(call: str, expected: WindowClause) -> None:
    assert window_of(call) == expected


@pytest.mark.parametrize(
    ("call", "place", "reason"),
    [
        (
            "tumble(trades, INTERVAL '1 month', offset => INTERVAL '28 days')",
            "INTERVAL '28 days'",
            "between 0 and 28 days",
        ),
        (
            "tumble(trades, INTERVAL '1 month', offset => -INTERVAL '1 hour')",
            "INTERVAL '1 hour'",
            "between 0 and 28 days",
        ),
        ("tumble(ticks, 10, empty => 1)", "1)", "empty must be true or false"),
        ("session(news, INTERVAL '1 minute')", "session(", "has no time column"),
        ("hop(ticks, 10000001, 2)", "2)", "10,000,001 chunks"),
        ("tumble(news, INTERVAL '1 minute')", "tumble(", "has no time column"),
        ("landmark(news, INTERVAL '1 minute')", "landmark(", "has no time column"),
        ("tumble(news, 3, by => arrival)", "3,", "windows on arrival need a length of time"),
        ("tumble(trades, INTERVAL '1 day', by => price)", "price)", "by => arrival"),
        ("latest(trades, per => 3)", "3)", "per must be a column"),
        ("latest(ticks, expire_after => 5)", "5)", "must be a length of time"),
        ("latest(trades, expire_after => INTERVAL '0 s')", "INTERVAL", "greater than zero"),
        ("latest(trades, expire_after => INTERVAL '-1 s')", "INTERVAL", "greater than zero"),
        ("latest(trades, expire_after => INTERVAL '1 month')", "INTERVAL", "cannot be in months"),
        ("latest(trades, expire_after => price)", "price", "must be a constant"),
        ("latest(trades, per => (symbol, SYMBOL))", "SYMBOL)", "named twice"),
    ],
)
def test_an_error_in_a_window_has_its_place(call: str, place: str, reason: str) -> None:
    with refused(WindowError, place, reason) as caught:
        window_of(call)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("call", "kind", "place", "nearest"),
    [
        ("tumble(trade, INTERVAL '1 minute')", UnknownStreamError, "trade,", "trades"),
        ("latest(trades, per => symbl)", UnknownColumnError, "symbl)", "symbol"),
        ("session(ticks, 3, per => senor)", UnknownColumnError, "senor)", "sensor"),
    ],
)
def test_the_nearest_name_is_suggested_for_an_unknown_one(
    call: str, kind: type[QueryError], place: str, nearest: str
) -> None:
    with refused(kind, place, f"did you mean {nearest}"):
        window_of(call)


def test_a_stream_has_no_schema() -> None:
    with pytest.raises(UnknownStreamError):
        window_of("tumble(main.trades, INTERVAL '1 minute')")


def test_the_place_is_right_in_the_middle_of_a_query() -> None:
    text = """SELECT * FROM companies JOIN
        hop(trades, INTERVAL '10 minutes' + (INTERVAL '1 minute'), 3) AS t ON true"""
    with refused(WindowError, "3) AS t") as caught:
        read_query(text, STREAMS)
    assert caught.value.line == 2


def test_sessions_of_a_stream_without_a_key_are_of_all_rows() -> None:
    stream = StreamDefinition("s", pa.schema({"at": pa.int64()}), (), "at")
    parsed = read_query("SELECT * FROM session(s, 9)", {"s": stream})
    assert only_window(parsed.windows) == window("session", "s", 9, per=())


@pytest.mark.parametrize("operator", ["=>", ":="])
def test_duckdb_reads_an_offset_although_that_is_a_keyword(operator: str, duck: Duck) -> None:
    text = f"SELECT 'é' AS e, * FROM tumble(ticks, 10, offset {operator} 3) LIMIT 1 OFFSET 2"
    assert only_window(read_query(text, STREAMS, duck).windows).offset == 3
    with refused(WindowError, "ofset"):
        read_query(text.replace("offset", "ofset"), STREAMS, duck)


def test_a_column_named_key_is_meant_before_the_key_of_the_stream() -> None:
    stream = StreamDefinition("s", pa.schema({"id": pa.int32(), "Key": pa.int32()}), ("id",), None)
    parsed = read_query("SELECT * FROM latest(s, per => key)", {"s": stream})
    assert only_window(parsed.windows).per == ("Key",)


def test_a_number_that_could_be_the_time_is_named() -> None:
    stream = StreamDefinition("s", pa.schema({"time": pa.float64()}), (), None)
    with pytest.raises(WindowError, match=r"TIME \(time\)"):
        read_query("SELECT * FROM tumble(s, INTERVAL '1 minute')", {"s": stream})
