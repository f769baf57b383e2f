"""Times and dates: every way they are written, the days on which clocks change, exactness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from datasets.taq.times import (
    FIRST_YEAR,
    LAST_YEAR,
    ZONE,
    date_in_name,
    days_of,
    nanoseconds_of_colons,
    nanoseconds_of_digits,
    parsed_date,
    seconds_of,
    utc_nanoseconds,
)

NEW_YORK = ZoneInfo(ZONE)
EPOCH = date(1970, 1, 1)

SECOND = 10**9
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


def parsed(
    spark: SparkSession, texts: Sequence[str], *parses: Callable[[Column], Column]
) -> list[list[object]]:
    """Return what each parse makes of each text, in one job."""
    frame = spark.createDataFrame(pa.table({"text": list(texts)}))
    columns = [parse(F.col("text")).alias(f"c{n}") for n, parse in enumerate(parses)]
    return [list(column) for column in zip(*frame.select(*columns).collect(), strict=True)]


def test_times_of_day_are_read_to_the_nanosecond_and_what_is_none_is_null(
    spark: SparkSession,
) -> None:
    of_15 = {
        "093000417837001": 9 * HOUR + 30 * MINUTE + 417_837_001,
        "000000000000000": 0,
        "235959999999999": 24 * HOUR - 1,
    }
    of_12 = {"160001000001": 16 * HOUR + SECOND + 1_000}
    of_9 = {"093000123": 9 * HOUR + 30 * MINUTE + 123_000_000}
    colons = {"9:30:26": 9 * HOUR + 30 * MINUTE + 26 * SECOND, "16:00:00": 16 * HOUR}
    colons["09:30:26"] = colons["9:30:26"]
    bad = ["", "256199000000000", "096000000000000", "093060000000000", "93000417837000"]
    bad += ["+93000417837001", "09300041783700x", "0930004178370011", "9:30", "9:3:00", "24:00:00"]
    bad += ["093000123\n", "-9:30:00", "9.5", " 93000123"]
    texts = [*of_15, *of_12, *of_9, *colons, *bad]
    parses = [lambda text, n=n: nanoseconds_of_digits(text, n) for n in (15, 12, 9)]
    found = parsed(spark, texts, *parses, nanoseconds_of_colons)
    for values, expected in zip(found, (of_15, of_12, of_9, colons), strict=True):
        assert values == [expected.get(text) for text in texts]


def test_dates_are_read_in_the_orders_that_are_clear(spark: SparkSession) -> None:
    good = ["20080104", "2008-01-04", "2008/01/04", "04JAN2008", "04Jan2008", "04jan2008"]
    bad = [
        "",
        "20081304",
        "20080230",
        "01/04/2008",
        "04.01.2008",
        "2008-1-4",
        "04JAM2008",
        "080104",
    ]
    [found] = parsed(spark, [*good, "20080229", *bad], days_of)
    day = (date(2008, 1, 4) - EPOCH).days
    leap = (date(2008, 2, 29) - EPOCH).days
    assert found == [day] * len(good) + [leap] + [None] * len(bad)


@pytest.fixture(scope="module")
def moments(spark: SparkSession) -> list[tuple[date, int, int, float]]:
    """Days of all seasons, and the hours around the changes of the clocks, converted."""
    days = [date(1996, 7, 1), date(2006, 4, 2), date(2006, 10, 29), date(2007, 3, 11)]
    days += [date(2007, 11, 4), date(2018, 1, 2), date(2018, 3, 9), date(2018, 3, 11)]
    days += [date(2018, 3, 12), date(2018, 11, 2), date(2018, 11, 4), date(2018, 11, 5)]
    times = [hour * HOUR + 30 * MINUTE + 123_456_789 for hour in range(24)] + [0, 24 * HOUR - 1]
    pairs = [((day - EPOCH).days, nanoseconds) for day in days for nanoseconds in times]
    numbers, nanoseconds = zip(*pairs, strict=True)
    frame = spark.createDataFrame(pa.table({"day": numbers, "at": nanoseconds}))
    utc = utc_nanoseconds(F.col("day"), F.col("at")).alias("utc")
    rows = frame.select("day", "at", utc).select("*", seconds_of(F.col("utc")).alias("s")).collect()
    assert len(rows) == len(pairs)
    return [(EPOCH + timedelta(row["day"]), row["at"], row["utc"], row["s"]) for row in rows]


def test_new_york_is_converted_to_utc_on_every_day_of_the_year(
    moments: list[tuple[date, int, int, float]],
) -> None:
    for day, nanoseconds, utc, _ in moments:
        second, rest = divmod(nanoseconds, SECOND)
        clock = time(second // 3600, second // 60 % 60, second % 60)
        local = datetime.combine(day, clock, NEW_YORK)
        assert utc == int(local.astimezone(UTC).timestamp()) * SECOND + rest, (day, clock)


def test_seconds_are_the_float_that_is_nearest_to_the_nanoseconds(
    moments: list[tuple[date, int, int, float]],
) -> None:
    assert all(seconds == utc / SECOND for _, _, utc, seconds in moments)  # Python rounds once


DATES = st.dates(date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31))


@given(DATES)
def test_a_date_is_read_with_the_year_first_or_the_month_first(day: date) -> None:
    assert parsed_date(day.strftime("%Y%m%d")) == day
    assert parsed_date(day.strftime("%m%d%Y")) == day


@pytest.mark.parametrize(
    "text", ["", "2014010", "20140230", "20141301", "14JAN014", "31012014", "18990101", "٢٠١٤٠١٠٦"]
)
def test_other_text_is_not_a_date(text: str) -> None:
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
