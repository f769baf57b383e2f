"""Times of day and dates in New York, as the formats write them, and what they are in UTC.

All in Spark expressions on whole nanoseconds and days. The zone's rules are Java's, so the days on
which the clocks change are right: an hour that comes twice is taken as the first, and one that does
not come as if the clocks had not been changed yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import Column

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
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    decimals = digits - 6
    hours, minutes, seconds = (_number(text, start, 2) for start in (1, 3, 5))
    parts = _number(text, 7, decimals) * 10 ** (9 - decimals)
    return F.when(text.rlike(_DIGITS % decimals), _clock(hours, minutes, seconds) + parts)


def nanoseconds_of_colons(text: Column) -> Column:
    """Return the nanoseconds since midnight of H:MM:SS; null if that is no time."""
    from pyspark.sql import functions as F  # noqa: N812

    padded = F.lpad(text, 8, "0")
    hours, minutes, seconds = (_number(padded, start, 2) for start in (1, 4, 7))
    return F.when(text.rlike(_COLONS), _clock(hours, minutes, seconds))


def days_of(text: Column) -> Column:
    """Return the days since 1970 of 20080104, 2008-01-04, 2008/01/04 or 04JAN2008; else null.

    Other orders of day and month could be either, so they are refused.
    """
    from pyspark.sql import functions as F  # noqa: N812

    dates = [
        F.when(text.rlike(pattern), F.try_to_date(text, format_))
        for pattern, format_ in _DATES.items()
    ]
    return F.unix_date(F.coalesce(*dates))


def utc_nanoseconds(days: Column, nanoseconds: Column) -> Column:
    """Return the nanoseconds since 1970 in UTC of a date and a time of day in New York."""
    from pyspark.sql import functions as F  # noqa: N812

    whole = F.call_function("div", nanoseconds, F.lit(1000))
    local = F.timestamp_micros(days.cast("bigint") * DAY_MICROSECONDS + whole)
    return F.unix_micros(F.to_utc_timestamp(local, ZONE)) * 1000 + nanoseconds % 1000


def seconds_of(nanoseconds: Column) -> Column:
    """Return the float64 that is nearest to nanoseconds as seconds.

    A quotient of the whole would be rounded twice, as float64 cannot hold the dividend.
    """
    from pyspark.sql import functions as F  # noqa: N812

    whole = F.call_function("div", nanoseconds, F.lit(SECOND))
    return whole.cast("double") + (nanoseconds % SECOND).cast("double") / SECOND


def _number(text: Column, start: int, length: int) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.substring(text, start, length).try_cast("bigint")


def _clock(hours: Column, minutes: Column, seconds: Column) -> Column:
    return ((hours * 60 + minutes) * 60 + seconds) * SECOND
