"""Formats by their names, and headers: names written in many ways, columns missing or twice."""

from __future__ import annotations

import pytest

from datasets.taq.formats import FORMATS, OPTIONAL, BadHeaderError, Format, Kind, read_header

from .daily_files import (
    MONTHLY_QUOTES_HEADER,
    MONTHLY_TRADES_HEADER,
    QUOTES_HEADER,
    TRADES_HEADER,
)

ALL = tuple(Format)


@pytest.mark.parametrize(
    ("line", "format_"),
    [
        (TRADES_HEADER, Format.DAILY_TRADES),
        (TRADES_HEADER.upper().replace(" ", "_"), Format.DAILY_TRADES),
        (QUOTES_HEADER, Format.DAILY_QUOTES),
        (QUOTES_HEADER.replace("_", " ").lower(), Format.DAILY_QUOTES),
        (MONTHLY_TRADES_HEADER, Format.MONTHLY_TRADES),
        ('"SYMBOL","DATE","TIME","PRICE","SIZE","G127","CORR","COND","EX"', Format.MONTHLY_TRADES),
        (MONTHLY_QUOTES_HEADER.lower(), Format.MONTHLY_QUOTES),
    ],
)
def test_a_header_is_recognised_however_its_names_are_written(line: str, format_: Format) -> None:
    header = read_header(line, ALL)
    assert header is not None
    assert header.format is format_
    assert header.columns == line.count(format_.value.separator or "") + 1


def test_columns_may_be_in_any_order_and_others_among_them() -> None:
    header = read_header("EX,MMID,COND,CORR,G127,SIZE,PRICE,TIME,DATE,SYMBOL", ALL)
    assert header is not None
    assert header.places["symbol"] == 9
    assert header.places["exchange"] == 0
    assert header.places["condition"] == 2
    assert header.columns == 10


def test_a_missing_sequence_number_is_no_fault() -> None:
    header = read_header(TRADES_HEADER.replace("Sequence Number", "Other"), ALL)
    assert header is not None
    assert "sequence" not in header.places


def test_a_missing_column_is_named() -> None:
    with pytest.raises(BadHeaderError, match=r"daily-trades, but lacks 'tradeprice'"):
        read_header(TRADES_HEADER.replace("Trade Price", "Price"), ALL)
    with pytest.raises(BadHeaderError, match="lacks 'g127', 'corr'"):
        read_header("SYMBOL,DATE,TIME,PRICE,SIZE,COND,EX", ALL)


def test_a_column_that_is_there_twice_is_named() -> None:
    with pytest.raises(BadHeaderError, match="two columns called 'tradeprice'"):
        read_header(TRADES_HEADER + "|trade_price", ALL)


@pytest.mark.parametrize("line", ["", "a|b|c", "time,key,value", "093000000000000|N|IBM|@|1|2"])
def test_any_other_line_is_no_header(line: str) -> None:
    assert read_header(line, ALL) is None


def test_only_the_formats_that_are_asked_for_are_looked_for() -> None:
    assert read_header(TRADES_HEADER, [Format.MONTHLY_TRADES, Format.MONTHLY_QUOTES]) is None


def test_formats_are_found_by_their_names() -> None:
    assert all(str(format_) == name for name, format_ in FORMATS.items())
    assert len(FORMATS) == len(Format) == 6


def test_a_name_says_the_kind() -> None:
    for name, format_ in FORMATS.items():
        assert (format_.kind is Kind.TRADES) == name.endswith("-trades")


def test_each_format_tells_the_date_in_one_way() -> None:
    for format_ in Format:
        assert format_.is_monthly + format_.has_trailer + format_.is_fixed == 1


def test_no_name_is_that_of_two_columns() -> None:
    for format_ in Format:
        names = [name for aliases in format_.value.columns.values() for name in aliases]
        assert len(set(names)) == len(names)
        assert format_.is_fixed is not bool(names)
    assert "sequence" in OPTIONAL
