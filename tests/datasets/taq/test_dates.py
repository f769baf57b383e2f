"""Dates of files: digits, and names."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets.taq.dates import FIRST_YEAR, LAST_YEAR, date_in_name, parsed_date

DATES = st.dates(date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31))


@given(DATES)
def test_a_date_is_read_with_the_year_first_or_the_month_first(day: date) -> None:
    assert parsed_date(day.strftime("%Y%m%d")) == day
    assert parsed_date(day.strftime("%m%d%Y")) == day


@pytest.mark.parametrize(
    "text", ["", "2014010", "20140230", "20141301", "14JAN014", "31012014", "18990101", "٢٠١٤٠١٠٦"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert parsed_date(text) is None


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("taqtrade20140106", date(2014, 1, 6)),
        ("EQY_US_ALL_TRADE_20180102.gz", date(2018, 1, 2)),
        ("20180102_20180102.txt", date(2018, 1, 2)),
        ("20180102_20180103.txt", None),
        ("trades.txt", None),
        ("x120180102", None),
        ("taq20181302", None),
    ],
)
def test_the_date_in_a_name_is_found_if_there_is_one_only(name: str, day: date | None) -> None:
    assert date_in_name(name) == day
