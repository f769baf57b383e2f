"""Dates and times of day in New York, as the formats write them, and what they are in UTC.

All in Spark expressions on whole nanoseconds and days. Java's rules for the time zone apply, so the
days on which the clocks change are right. An hour that occurs twice is taken as the first one. An
hour that does not occur is computed as if the clocks had not changed yet.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

ZONE: Final = "America/New_York"
SECOND: Final = 1_000_000_000
DAY_MICROSECONDS: Final = 86_400_000_000

_DIGITS: Final = r"\A(?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9][0-9]{%d}\z"
_COLONS: Final = r"\A(?:[01]?[0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\z"
_DATES: Final = {
    r"\A[0-9]{8}\z": "yyyyMMdd",
    r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\z": "yyyy-MM-dd",
    r"\A[0-9]{4}/[0-9]{2}/[0-9]{2}\z": "yyyy/MM/dd",
    r"\A[0-9]{2}[A-Za-z]{3}[0-9]{4}\z": "ddMMMyyyy",
}


def nanoseconds_of_digits(text: Column, digits: int) -> Column:
    """Return the nanoseconds since midnight of HHMMSS and decimals; null if that is no time."""
    decimals = digits - 6
    hours, minutes, seconds = (_number(text, start, 2) for start in (1, 3, 5))
    parts = _number(text, 7, decimals) * 10 ** (9 - decimals)
    return F.when(text.rlike(_DIGITS % decimals), _clock(hours, minutes, seconds) + parts)


def nanoseconds_of_colons(text: Column) -> Column:
    """Return the nanoseconds since midnight of H:MM:SS; null if that is no time."""
    padded = F.lpad(text, 8, "0")
    hours, minutes, seconds = (_number(padded, start, 2) for start in (1, 4, 7))
    return F.when(text.rlike(_COLONS), _clock(hours, minutes, seconds))


def days_of(text: Column) -> Column:
    """Return the days since 1970 of 20080104, 2008-01-04, 2008/01/04 or 04JAN2008; else null.

    Other orders of day and month could be either, so they are refused.
    """
    dates = [
        F.when(text.rlike(pattern), F.try_to_date(text, format_))
        for pattern, format_ in _DATES.items()
    ]
    return F.unix_date(F.coalesce(*dates))


def utc_nanoseconds(days: Column, nanoseconds: Column) -> Column:
    """Return the nanoseconds since 1970 in UTC of a date and a time of day in New York."""
    whole = F.call_function("div", nanoseconds, F.lit(1000))
    local = F.timestamp_micros(days.cast("bigint") * DAY_MICROSECONDS + whole)
    return F.unix_micros(F.to_utc_timestamp(local, ZONE)) * 1000 + nanoseconds % 1000


def seconds_of(nanoseconds: Column) -> Column:
    """Return the float64 that is nearest to nanoseconds as seconds.

    A quotient of the whole would be rounded twice, as float64 cannot hold the dividend.
    """
    whole = F.call_function("div", nanoseconds, F.lit(SECOND))
    return whole.cast("double") + (nanoseconds % SECOND).cast("double") / SECOND


def _number(text: Column, start: int, length: int) -> Column:
    return F.substring(text, start, length).try_cast("bigint")


def _clock(hours: Column, minutes: Column, seconds: Column) -> Column:
    return ((hours * 60 + minutes) * 60 + seconds) * SECOND


FIRST_YEAR: Final = 1990
LAST_YEAR: Final = 2099


def parsed_date(text: str) -> date | None:
    """Return the date that eight digits are, year or month first; None if they are none.

    Years tell the two ways apart, as no month is 19 or 20.

    >>> parsed_date("20140106"), parsed_date("01062014"), parsed_date("20141306")
    (datetime.date(2014, 1, 6), datetime.date(2014, 1, 6), None)
    """
    if not re.fullmatch(r"[0-9]{8}", text):
        return None
    year_first = int(text[:4]), int(text[4:6]), int(text[6:])
    month_first = int(text[4:]), int(text[:2]), int(text[2:4])
    for year, month, day in (year_first, month_first):
        if FIRST_YEAR <= year <= LAST_YEAR:
            try:
                return date(year, month, day)
            except ValueError:
                return None
    return None


def date_in_name(name: str) -> date | None:
    """Return the date that is in the name of a file, if there is one, and only one.

    >>> date_in_name("taqtrade20140106.gz")
    datetime.date(2014, 1, 6)
    """
    words = re.findall(r"(?<![0-9])[0-9]{8}(?![0-9])", name)
    dates = {found for word in words if (found := parsed_date(word)) is not None}
    return dates.pop() if len(dates) == 1 else None
