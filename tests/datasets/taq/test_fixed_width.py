"""Files of fixed widths: their first line, trades from quotes, places of fields."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from datasets.taq.fixed_width import FixedLines, field_places, least_length, read_fixed
from datasets.taq.formats import Format, Kind

from .daily_files import fixed_quote, fixed_trade


def told(lines: Sequence[str], name: str = "x", named: Format | None = None) -> FixedLines:
    found = read_fixed(lines, named, name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("first", "day", "rows"),
    [
        ("  01062014:  29131417      ", date(2014, 1, 6), 29_131_417),
        ("  01062014                 ", date(2014, 1, 6), None),
        ("20140106:7", date(2014, 1, 6), 7),
        ("  99992014: 7", None, 7),
    ],
)
def test_the_first_line_says_the_day_and_how_many_rows(
    first: str, day: date | None, rows: int | None
) -> None:
    found = told([first, fixed_trade()])
    assert (found.header, found.date, found.rows) == (first, day, rows)


def test_a_file_may_begin_with_its_first_row() -> None:
    found = told([fixed_trade()])
    assert (found.header, found.date, found.rows) == (None, None, None)


@pytest.mark.parametrize(("time", "digits"), [("093000123", 9), ("093000123456", 12)])
def test_trades_and_quotes_are_told_by_their_rows(time: str, digits: int) -> None:
    for format_, row in (
        (Format.FIXED_TRADES, fixed_trade(time)),
        (Format.FIXED_QUOTES, fixed_quote(time, "BRK", "B")),
    ):
        found = told([row])
        assert (found.format, found.time_digits) == (format_, digits)


def test_rows_that_fit_both_do_not_decide() -> None:
    blank = fixed_trade(condition="    ", stop=" ")
    assert read_fixed([blank], None, "taqtrade20140106") is None
    assert told([blank, fixed_trade()]).format is Format.FIXED_TRADES
    assert told(["01062014: 1", blank], "taqtrade20140106").format is Format.FIXED_TRADES
    assert told([blank], named=Format.FIXED_QUOTES).format is Format.FIXED_QUOTES


def test_a_day_without_rows_is_told_by_its_name() -> None:
    header = "  01062014:         0"
    assert told([header], "taqtrade20140106").format is Format.FIXED_TRADES
    assert told([header], "TAQquote20140106").format is Format.FIXED_QUOTES
    assert read_fixed([header], None, "x") is None


@pytest.mark.parametrize("line", ["", "12345", "time|key", "hello world " * 10])
def test_any_other_file_is_not_of_fixed_widths(line: str) -> None:
    assert read_fixed([line], None, "taqtrade20140106") is None


@pytest.mark.parametrize("time", ["093000123", "093000123456"])
def test_fields_are_where_the_rows_have_them(time: str) -> None:
    trades, quotes = (
        {name: line[start - 1 : start - 1 + width] for name, (start, width) in places.items()}
        for line, kind in ((fixed_trade(time), Kind.TRADES), (fixed_quote(time), Kind.QUOTES))
        for places in [field_places(kind, len(time))]
    )
    assert trades["time"] == quotes["time"] == time
    assert trades["price"] == "00000458800"
    assert trades["correction"] == "00"
    assert trades["sequence"] == "0000000000001231"
    assert (quotes["bid"], quotes["ask"]) == ("00000458700", "00000459000")
    assert (quotes["bid_size"], quotes["ask_size"]) == ("0000002", "0000003")
    assert quotes["condition"] == "R"
    assert quotes["sequence"] == "0000000000000077"


def test_a_row_goes_at_least_to_its_last_field_that_is_no_text() -> None:
    assert least_length(Kind.TRADES, 9) == 53
    assert least_length(Kind.QUOTES, 12) == 65
