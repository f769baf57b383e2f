"""Window functions become windows in the stream's own unit, or errors that say what to write."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.errors import UnknownColumnError, UnknownStreamError, WindowError
from upstream.queries.sql import read_query
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind
from upstream.rows.stream_definition import StreamDefinition

from .example_streams import STREAMS, only_window, shown

MINUTE = 60_000_000


def window(call: str) -> WindowClause:
    return only_window(read_query(f"SELECT * FROM {call}", STREAMS).windows)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "tumble(trades, INTERVAL '1 minute')",
            WindowClause(WindowKind.TUMBLE, "trades", Axis.SOURCE, MINUTE, MINUTE),
        ),
        (
            "hop(trades, INTERVAL '10 minutes', INTERVAL '1 minute')",
            WindowClause(WindowKind.HOP, "trades", Axis.SOURCE, 10 * MINUTE, MINUTE),
        ),
        (
            "HOP(Trades, INTERVAL '10 minutes', INTERVAL '1 minute', by => arrival)",
            WindowClause(WindowKind.HOP, "trades", Axis.ARRIVAL, 10 * MINUTE, MINUTE),
        ),
        (
            "tumble(trades, INTERVAL '1 minute', by => TIME)",
            WindowClause(WindowKind.TUMBLE, "trades", Axis.SOURCE, MINUTE, MINUTE),
        ),
        (
            "tumble(news, INTERVAL '1 minute', by => arrival)",
            WindowClause(WindowKind.TUMBLE, "news", Axis.ARRIVAL, MINUTE, MINUTE),
        ),
        ("tumble(ticks, 10)", WindowClause(WindowKind.TUMBLE, "ticks", Axis.SOURCE, 10, 10)),
        ("hop(ticks, 10, 5)", WindowClause(WindowKind.HOP, "ticks", Axis.SOURCE, 10, 5)),
        (
            "hop(days, INTERVAL '1 week', INTERVAL '1 day')",
            WindowClause(WindowKind.HOP, "days", Axis.SOURCE, 7, 1),
        ),
        (
            "tumble(waves, INTERVAL '0.1 seconds')",
            WindowClause(WindowKind.TUMBLE, "waves", Axis.SOURCE, 100_000, 100_000),
        ),
        (
            "tumble(waves, 0.5)",
            WindowClause(WindowKind.TUMBLE, "waves", Axis.SOURCE, 500_000, 500_000),
        ),
        (
            "hop(trades, size => INTERVAL '10 minutes', slide => INTERVAL '1 minute')",
            WindowClause(WindowKind.HOP, "trades", Axis.SOURCE, 10 * MINUTE, MINUTE),
        ),
        (
            "hop(ticks, slide => 5, by => tick, size => 10)",
            WindowClause(WindowKind.HOP, "ticks", Axis.SOURCE, 10, 5),
        ),
        ("hop(ticks, 10, slide => 5)", WindowClause(WindowKind.HOP, "ticks", Axis.SOURCE, 10, 5)),
        ("tumble(ticks, SIZE => 7)", WindowClause(WindowKind.TUMBLE, "ticks", Axis.SOURCE, 7, 7)),
        (
            "rows(ticks, slide => 5, size => 10)",
            WindowClause(WindowKind.ROWS, "ticks", Axis.ROWS, 10, 5),
        ),
        (
            "landmark(ticks, slide => 5)",
            WindowClause(WindowKind.LANDMARK, "ticks", Axis.SOURCE, 0, 5),
        ),
        ("rows(trades, 100, 10)", WindowClause(WindowKind.ROWS, "trades", Axis.ROWS, 100, 10)),
        ("ROWS(news, 100)", WindowClause(WindowKind.ROWS, "news", Axis.ROWS, 100, 100)),
        ("landmark(trades)", WindowClause(WindowKind.LANDMARK, "trades", Axis.SOURCE)),
        ("landmark(news)", WindowClause(WindowKind.LANDMARK, "news", Axis.ROWS)),
        (
            "landmark(news, by => arrival)",
            WindowClause(WindowKind.LANDMARK, "news", Axis.ARRIVAL),
        ),
        (
            "landmark(trades, INTERVAL '1 hour')",
            WindowClause(WindowKind.LANDMARK, "trades", Axis.SOURCE, 0, 60 * MINUTE),
        ),
        (
            "latest(trades)",
            WindowClause(WindowKind.LATEST, "trades", Axis.SOURCE, rows=1, per=("symbol",)),
        ),
        (
            "latest(trades, rows => 3, per => SIZE)",
            WindowClause(WindowKind.LATEST, "trades", Axis.SOURCE, rows=3, per=("size",)),
        ),
        (
            "latest(trades, rows => 3, per => key)",
            WindowClause(WindowKind.LATEST, "trades", Axis.SOURCE, rows=3, per=("symbol",)),
        ),
        (
            "latest(news, per => (k, text))",
            WindowClause(WindowKind.LATEST, "news", Axis.ROWS, rows=1, per=("k", "text")),
        ),
        (
            "latest(news, per := [k, text], rows := 2)",
            WindowClause(WindowKind.LATEST, "news", Axis.ROWS, rows=2, per=("k", "text")),
        ),
    ],
)
def test_a_call_is_a_window(call: str, expected: WindowClause) -> None:
    assert window(call) == expected


@pytest.mark.parametrize(
    ("call", "place", "reason"),
    [
        ("tumble(trades)", "tumble(", "tumble needs a size"),
        (
            "tumble(trades, 1, 2)",
            "tumble(",
            "takes a size after the stream, and 2 ",
        ),
        ("tumble()", "tumble(", "tumble of what"),
        ("latest(rows => 3)", "latest(", "latest of what"),
        ("hop(trades, INTERVAL '1 minute')", "hop(", "hop needs a slide"),
        ("hop(trades, slide => INTERVAL '1 minute')", "hop(", "hop needs a size"),
        ("hop(ticks, 1, size => 1, slide => 1)", "size =>", "the argument size twice"),
        ("hop(ticks, size => 10, slide => 20)", "20)", "slide longer than the size"),
        ("tumble(ticks, slide => 10)", "slide =>", "has no argument slide"),
        ("rows(trades)", "rows(", "rows needs a size"),
        (
            "latest(trades, 3)",
            "latest(",
            "takes nothing without a name after the stream, and 1 ",
        ),
        ("tumble(trades, 10)", "10)", "is a TIMESTAMP"),
        ("tumble(ticks, INTERVAL '1 minute')", "INTERVAL", "is a number, not a time"),
        ("tumble(days, INTERVAL '1 hour')", "INTERVAL", "not a whole number of days"),
        ("tumble(trades, INTERVAL '0.1 us')", "INTERVAL", "not a whole number of microseconds"),
        ("tumble(trades, INTERVAL '1 month')", "INTERVAL '1 month'", "a month has no fixed length"),
        ("tumble(trades, INTERVAL '0 minutes')", "INTERVAL", "greater than zero"),
        ("tumble(trades, -INTERVAL '1 minute')", "-INTERVAL", "greater than zero"),
        ("rows(trades, 0)", "0)", "the size of a window has to be greater than zero"),
        ("rows(trades, 1.5)", "1.5)", "not a whole number"),
        ("rows(trades, INTERVAL '1 minute')", "INTERVAL", "rows are counted"),
        ("latest(trades, rows => 0)", "0)", "^rows has to be greater than zero"),
        ("latest(trades, rows => INTERVAL '1 day')", "INTERVAL", "rows are counted"),
        ("tumble(trades, price)", "price)", "has to be a constant"),
        ("tumble(ticks, 10000000000000000000)", "1000", "longer than it can be"),
        ("hop(ticks, 10, 20)", "20)", "slide longer than the size"),
        ("hop(ticks, 10000001, 2)", "2)", "10,000,001 basic windows"),
        ("tumble(news, INTERVAL '1 minute')", "tumble(", "has no time column"),
        ("landmark(news, INTERVAL '1 minute')", "landmark(", "has no time column"),
        ("tumble(news, 3, by => arrival)", "3,", "arrival is measured in time"),
        ("tumble(trades, INTERVAL '1 day', by => price)", "price)", "by => arrival"),
        ("tumble(trades, INTERVAL '1 day', at => arrival)", "at =>", "no argument at"),
        ("rows(trades, 10, by => arrival)", "by =>", "no argument by"),
        ("latest(trades, rows => 1, rows => 2)", "rows => 2", "the argument rows twice"),
        ("latest(trades, rows => 1, symbol)", "symbol)", "what has no name"),
        ("latest(trades, per => 3)", "3)", "per is a column"),
        ("latest(trades, per => (symbol, SYMBOL))", "SYMBOL)", "there twice"),
        ("tumble('trades', 3)", "'trades'", "by its name"),
        ("tumble((SELECT 1), 3)", "(SELECT", "by its name"),
    ],
)
def test_what_is_no_window_is_shown_where_it_is(call: str, place: str, reason: str) -> None:
    with pytest.raises(WindowError, match=reason) as caught:
        window(call)
    assert shown(caught).startswith(place)
    assert caught.value.hint


def test_a_window_over_no_stream_names_the_nearest() -> None:
    with pytest.raises(UnknownStreamError, match="did you mean trades") as caught:
        window("tumble(trade, INTERVAL '1 minute')")
    assert shown(caught).startswith("trade,")
    with pytest.raises(UnknownStreamError):
        window("tumble(main.trades, INTERVAL '1 minute')")


def test_rows_per_no_column_names_the_nearest() -> None:
    with pytest.raises(UnknownColumnError, match="did you mean symbol") as caught:
        window("latest(trades, per => symbl)")
    assert shown(caught) == "symbl)"


def test_the_place_is_right_in_the_middle_of_a_query() -> None:
    text = """SELECT * FROM companies JOIN
        hop(trades, INTERVAL '10 minutes' + (INTERVAL '1 minute'), 3) AS t ON true"""
    with pytest.raises(WindowError) as caught:
        read_query(text, STREAMS)
    assert caught.value.line == 2
    assert shown(caught).startswith("3) AS t")


def test_a_column_named_key_is_meant_before_the_key_of_the_stream() -> None:
    stream = StreamDefinition("s", pa.schema({"id": pa.int32(), "Key": pa.int32()}), ("id",), None)
    parsed = read_query("SELECT * FROM latest(s, per => key)", {"s": stream})
    assert only_window(parsed.windows).per == ("Key",)


def test_a_number_that_could_be_the_time_is_named() -> None:
    stream = StreamDefinition("s", pa.schema({"time": pa.float64()}), (), None)
    with pytest.raises(WindowError, match=r"TIME \(time\)"):
        read_query("SELECT * FROM tumble(s, INTERVAL '1 minute')", {"s": stream})
