"""Grids against Python's calendar, and against chunks that are counted one by one."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.grid import FOREVER, EvenGrid, Grid, MonthGrid

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
ZONES = (
    None,
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Asuncion",  # where summer has begun at midnight of a first of October
    "Australia/Lord_Howe",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
)


def in_units(moment: datetime, unit: str) -> int:
    """Return a moment in units of an axis since 1970."""
    return (moment - EPOCH) // timedelta(microseconds=1) * PER_SECOND[unit] // 1_000_000


def midnight(month: int, zone: str | None) -> datetime:
    """Return when a month begins, counted from January 1970."""
    year, of_year = divmod(month, 12)
    return datetime(1970 + year, of_year + 1, 1, tzinfo=ZoneInfo(zone or "UTC")).astimezone(UTC)


def month_of(moment: datetime, zone: str | None) -> int:
    """Return in which month a moment is, counted from January 1970."""
    local = moment.astimezone(ZoneInfo(zone or "UTC"))
    return (local.year - 1970) * 12 + local.month - 1


def check_all_at_once(grid: Grid, times: list[int]) -> None:
    """Many times are in the chunks that each is in by itself, and chunks are where they begin."""
    chunks = [grid.chunk_of(time) for time in times]
    assert grid.chunks_of(np.array(times, np.int64)).tolist() == chunks
    for time, chunk in zip(times, chunks, strict=True):
        assert grid.start_of(chunk) <= time < grid.start_of(chunk + 1)
    first = min(chunks, default=0)
    starts = [grid.start_of(chunk) for chunk in range(first, first + 4)]
    assert grid.starts(first, first + 3).tolist() == starts


# Even distances


@given(
    length=st.integers(1, 9),
    origin=st.integers(-12, 12),
    times=st.lists(st.integers(-40, 40), max_size=5),
)
def test_even_chunks_are_as_they_are_counted(length: int, origin: int, times: list[int]) -> None:
    grid = EvenGrid(length, origin)
    starts = {origin + number * length: number for number in range(-60, 60)}
    for time in times:
        assert grid.chunk_of(time) == starts[max(start for start in starts if start <= time)]
    check_all_at_once(grid, times)


@pytest.mark.parametrize("grid", [EvenGrid(7), EvenGrid(7, 3), MonthGrid(1, "us")], ids=repr)
def test_forever_is_in_no_chunk_but_forever(grid: Grid) -> None:
    assert grid.chunk_of(FOREVER) == FOREVER


def test_times_before_1970_are_in_negative_chunks() -> None:
    grid = EvenGrid(10, 3)
    assert [grid.chunk_of(time) for time in (-8, -7, 2, 3)] == [-2, -1, -1, 0]


# Months


@given(
    months=st.sampled_from([1, 2, 3, 5, 12, 24]),
    unit=st.sampled_from(["s", "ms", "us"]),
    zone=st.sampled_from(ZONES),
    offset=st.integers(-(10**6), 10**6),
    moments=st.lists(
        st.datetimes(datetime(3, 1, 1), datetime(9_990, 1, 1), timezones=st.just(UTC)), max_size=3
    ),
)
def test_months_are_those_of_the_calendar(
    months: int, unit: str, zone: str | None, offset: int, moments: list[datetime]
) -> None:
    grid = MonthGrid(months, unit, zone, offset)
    for moment in moments:
        time = in_units(moment, unit)
        whole = EPOCH + timedelta(microseconds=time * 1_000_000 // PER_SECOND[unit])
        chunk = grid.chunk_of(time + offset)
        assert chunk == month_of(whole, zone) // months
        assert grid.start_of(chunk) == in_units(midnight(chunk * months, zone), unit) + offset
    near = moments[:1]
    check_all_at_once(grid, [in_units(moment, unit) + each for moment in near for each in (0, 9)])


@given(
    zone=st.sampled_from(ZONES),
    months=st.sampled_from([1, 3]),
    month=st.integers(-400, 560),
    units=st.integers(-2, 2),
)
def test_a_month_begins_at_local_midnight_and_not_a_unit_earlier(
    zone: str | None, months: int, month: int, units: int
) -> None:
    for unit in ("s", "ms", "us", "ns"):
        grid = MonthGrid(months, unit, zone)
        time = in_units(midnight(month * months, zone), "s") * PER_SECOND[unit] + units
        assert grid.chunk_of(time) == (month if units >= 0 else month - 1)


@given(st.lists(st.dates(date(1, 1, 1), date(9_999, 12, 31)), max_size=4))
def test_days_are_in_the_months_that_the_calendar_says(days: list[date]) -> None:
    grid = MonthGrid(3, "D")
    numbers = [(day - date(1970, 1, 1)).days for day in days]
    expected = [((day.year - 1970) * 12 + day.month - 1) // 3 for day in days]
    assert [grid.chunk_of(number) for number in numbers] == expected
    check_all_at_once(grid, numbers)


def test_chunks_of_daylight_saving_are_as_long_as_the_month_was() -> None:
    grid = MonthGrid(1, "s", "Europe/Berlin")
    march = month_of(datetime(2024, 3, 15, tzinfo=UTC), None)
    lengths = [grid.start_of(month + 1) - grid.start_of(month) for month in (march, march + 7)]
    assert lengths == [31 * 86_400 - 3_600, 31 * 86_400 + 3_600]
    assert grid.chunk_of(grid.start_of(march) - 1) == march - 1


def test_months_begin_an_offset_later() -> None:
    day = 86_400
    grid = MonthGrid(1, "s", None, 2 * day)
    third = in_units(datetime(2024, 5, 3, tzinfo=UTC), "s")
    assert grid.chunk_of(third - 1) == grid.chunk_of(third) - 1
    assert grid.start_of(grid.chunk_of(third)) == third


def test_months_far_away_are_those_of_utc_where_the_zone_is_not_known() -> None:
    known, plain = MonthGrid(1, "us", "America/New_York"), MonthGrid(1, "us")
    far = 12 * 100_000
    assert known.start_of(far) == plain.start_of(far)
    assert known.chunk_of(known.start_of(far)) == far
