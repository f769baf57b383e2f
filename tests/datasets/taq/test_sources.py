"""Files that are recognised, and those that are refused before Spark starts."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from datasets.errors import BadFileError
from datasets.taq.formats import Format, Kind
from datasets.taq.sources import kind_of, recognise

from .daily_files import (
    MONTHLY_TRADES_HEADER,
    QUOTES_HEADER,
    TRADES_HEADER,
    daily,
    fixed,
    fixed_trade,
    quote,
    trade,
    write,
)

DAILY = daily([trade()])


def refusal(*paths: Path, named: Format | None = None) -> str:
    with pytest.raises(BadFileError) as caught:
        recognise(paths, named)
    return str(caught.value)


def test_a_daily_file_has_its_header_and_its_places(tmp_path: Path) -> None:
    [source] = recognise([write(tmp_path / "x", "\xef\xbb\xbf" + DAILY, is_gzip=True)])
    assert source.format is Format.DAILY_TRADES
    assert source.header == TRADES_HEADER
    assert (source.columns, source.places["price"], source.is_gzip) == (15, 5, True)
    assert source.has_sequence
    assert kind_of([source]) is Kind.TRADES


def test_a_file_of_fixed_widths_has_what_its_first_line_says(tmp_path: Path) -> None:
    [source] = recognise([write(tmp_path / "taq20140107", fixed([fixed_trade()] * 3))])
    assert source.format is Format.FIXED_TRADES
    assert (source.header_date, source.header_rows) == (date(2014, 1, 6), 3)
    assert source.name_date == date(2014, 1, 7)
    assert source.time_digits == 9
    assert source.has_sequence


def test_files_of_one_layout_can_be_read_together(tmp_path: Path) -> None:
    days = [write(tmp_path / f"{n}", fixed([fixed_trade()] * n)) for n in (1, 2)]
    one, other = recognise(days)
    assert one.header != other.header
    assert one.layout == other.layout
    moved = TRADES_HEADER.replace("Time|Exchange", "Exchange|Time")
    first, second = recognise(
        [write(tmp_path / "a", DAILY), write(tmp_path / "b", daily([], moved))]
    )
    assert first.layout != second.layout


def test_another_file_is_refused_with_the_names_of_the_formats(tmp_path: Path) -> None:
    path = write(tmp_path / "x", "time,key,value\n1,a,2\n")
    assert refusal(path).startswith(
        f"{path}, line 1: 'time,key,value' is not the start of a known TAQ"
    )
    assert "monthly-quotes" in refusal(path)


def test_a_daily_file_that_lacks_its_header_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x", trade() + "\n")
    assert "line 1: '093000000000000|N|IBM|@   |" in refusal(path)


def test_a_header_that_lacks_a_column_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x", daily([], QUOTES_HEADER.replace("Bid_Size", "Size")))
    assert refusal(path).endswith(
        "line 1: the header is like that of daily-quotes, but lacks 'bidsize'"
    )


def test_a_format_that_is_named_must_be_that_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "x", DAILY)
    [source] = recognise([path], Format.DAILY_TRADES)
    assert source.format is Format.DAILY_TRADES
    assert "is not a header of monthly-trades" in refusal(path, named=Format.MONTHLY_TRADES)
    quotes = refusal(path, named=Format.DAILY_QUOTES)
    assert "lacks 'bidprice'" in quotes


def test_trades_and_quotes_are_not_mixed(tmp_path: Path) -> None:
    trades = write(tmp_path / "t", f"{MONTHLY_TRADES_HEADER}\n")
    quotes = write(tmp_path / "q", daily([quote()], QUOTES_HEADER))
    assert refusal(trades, quotes) == (
        f"{quotes}: this has quotes, and {trades} has trades; load one kind at a time"
    )


def test_a_file_is_not_read_twice_also_by_another_name(tmp_path: Path) -> None:
    path = write(tmp_path / "x", DAILY)
    link = tmp_path / "link"
    link.symlink_to(path)
    assert "it is named twice" in refusal(path, path)
    assert f"it is the same file as {path}" in refusal(path, link)


def test_the_file_that_is_missing_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "x", DAILY)
    assert refusal(path, tmp_path / "none") == f"{tmp_path / 'none'}: there is no such file"
