"""Times of every type that a column may have, as seconds."""

from __future__ import annotations

import random
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest

from simulator.workloads.trace_times import BadRowError, TimeKind, as_seconds, as_shown, kind_of

EPOCH = datetime(1970, 1, 1)


def seconds_of(times: pa.Array, before: TimeKind | None = None) -> list[float]:
    return [float(time) for time in as_seconds(times, kind_of(times, before))]


def refusal(times: pa.Array, before: TimeKind | None = None) -> tuple[int, str]:
    """Return the row that is refused, and why."""
    with pytest.raises(BadRowError) as caught:
        seconds_of(times, before)
    return caught.value.row, caught.value.reason


@pytest.mark.parametrize(
    "kind",
    [
        *[pa.int8(), pa.int64(), pa.uint16(), pa.uint64(), pa.float16(), pa.float32()],
        *[pa.float64(), pa.decimal128(38, 2), pa.decimal256(50, 9), pa.string()],
        *[pa.large_string(), pa.string_view()],
    ],
)
def test_numbers_of_any_type_are_seconds(kind: pa.DataType) -> None:
    times = pa.array(["1", "2", "2", "30"]).cast(pa.int64())
    if not pa.types.is_string_view(kind):
        times = times.cast(kind)
    else:
        times = times.cast(pa.string()).cast(kind)
    assert kind_of(times) is TimeKind.NUMBERS
    assert seconds_of(times) == [1.0, 2.0, 2.0, 30.0]


@pytest.mark.parametrize("scale", [0, 6, 9])
def test_decimals_are_the_nearest_numbers(scale: int) -> None:
    draw = random.Random(scale)
    exact = [Decimal(draw.randrange(10**18)).scaleb(-scale) for _ in range(1000)]
    times = pa.array(exact, pa.decimal128(38, scale))
    assert seconds_of(times) == [float(time) for time in exact]


def test_numbers_in_text_are_what_python_makes_of_them() -> None:
    draw = random.Random(1)
    texts = [repr(draw.uniform(-1e9, 2e9)) for _ in range(1000)] + ["1e5", "-.5", "7", "1.", "0"]
    assert seconds_of(pa.array(texts)) == [float(text) for text in texts]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_are_seconds_since_1970_whatever_their_unit(unit: str, zone: str | None) -> None:
    times = pa.array([-1, 0, 1_700_000_000]).cast(pa.timestamp("s")).cast(pa.timestamp(unit, zone))
    kind = TimeKind.TIMESTAMPS if zone is None else TimeKind.ZONED_TIMESTAMPS
    assert kind_of(times) is kind
    assert seconds_of(times) == [-1.0, 0.0, 1_700_000_000.0]


def test_nanoseconds_keep_their_order() -> None:
    ticks = [1_700_000_000_123_456_789 + tick for tick in range(2000)]
    seconds = seconds_of(pa.array(ticks).cast(pa.timestamp("ns")))
    assert seconds == sorted(seconds)
    assert seconds[0] == 1_700_000_000 + 0.123456789


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_dates_are_their_midnights(kind: pa.DataType) -> None:
    times = pa.array([date(1970, 1, 2), date(1970, 1, 3)], kind)
    assert kind_of(times) is TimeKind.TIMESTAMPS
    assert seconds_of(times) == [86_400.0, 172_800.0]


@pytest.mark.parametrize(
    "kind", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
)
def test_times_of_day_are_seconds_since_midnight(kind: pa.DataType) -> None:
    times = pa.array([time(0, 0, 1), time(9, 30, 27), time(23, 59, 59)], kind)
    assert kind_of(times) is TimeKind.TIMES_OF_DAY
    assert seconds_of(times) == [1.0, 34_227.0, 86_399.0]


def test_durations_are_seconds() -> None:
    times = pa.array([timedelta(seconds=1.5), timedelta(days=1)], pa.duration("ms"))
    assert kind_of(times) is TimeKind.DURATIONS
    assert seconds_of(times) == [1.5, 86_400.0]


@pytest.mark.parametrize(
    ("texts", "kind", "expected"),
    [
        (
            ["2024-01-01", "2024-01-01T10", "2024-01-01 10:00", "2024-01-01T10:00:00.5"],
            TimeKind.TIMESTAMPS,
            [datetime(2024, 1, 1, hour) for hour in (0, 10, 10, 10)],
        ),
        (
            ["2024-01-01T10:00:00+02:00", "2024-01-01 08:00:00Z", "2024-01-01T06:00-0200"],
            TimeKind.ZONED_TIMESTAMPS,
            [datetime(2024, 1, 1, 8)] * 3,
        ),
        (
            ["9:30:26", "09:30:27", "10:00", "23:59:59.999999"],
            TimeKind.TIMES_OF_DAY,
            [EPOCH + timedelta(seconds=s) for s in (34_226, 34_227, 36_000, 86_399)],
        ),
        (
            ["0001-01-01", "2024-01-01T00:00:00", "9999-12-31"],
            TimeKind.TIMESTAMPS,
            [datetime(year, 1, 1) for year in (1, 2024)] + [datetime(9999, 12, 31)],
        ),
    ],
)
def test_timestamps_in_text_are_those_of_iso_8601(
    texts: list[str], kind: TimeKind, expected: list[datetime]
) -> None:
    times = pa.array(texts)
    assert kind_of(times) is kind
    whole_seconds = [float(int(seconds)) for seconds in seconds_of(times)]
    assert whole_seconds == [(moment - EPOCH).total_seconds() for moment in expected]


def test_text_keeps_its_fractions_of_seconds() -> None:
    texts = ["2024-01-01T00:00:00.25", "2024-01-01T00:00:00.123456789"]
    start = datetime(2024, 1, 1, tzinfo=timezone.utc).timestamp()  # noqa: UP017
    assert seconds_of(pa.array(texts)) == [start + 0.25, start + 0.123456789]


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_the_first_row_that_is_no_time_is_found(rows: int) -> None:
    for bad in range(rows):
        texts = ["1"] * bad + ["abc"] * (rows - bad)
        reason = "time 'abc' is neither a number nor an ISO 8601 timestamp"
        assert refusal(pa.array(texts)) == (bad, reason)


@pytest.mark.parametrize("text", ["0x10", "1_000", "1,5", "2024-02-30", "24:00:00", "Jan 1", "a:b"])
def test_text_that_only_looks_like_a_time_is_refused(text: str) -> None:
    reason = f"time {text!r} is neither a number nor an ISO 8601 timestamp"
    assert refusal(pa.array([text])) == (0, reason)


def test_a_long_text_is_shown_in_short() -> None:
    assert len(refusal(pa.array(["x" * 1000]))[1]) < 100


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("1.5", "2024-01-01", "numbers"),
        ("2024-01-01", "1.5", "timestamps without a zone"),
        ("2024-01-01", "2024-01-01T00:00:00Z", "timestamps without a zone"),
        ("2024-01-01T00:00:00Z", "2024-01-01", "timestamps with a zone"),
        ("09:30:00", "2024-01-01", "times of day"),
        ("0001-01-01", "2024-01-01T00:00:00.123456789", "timestamps without a zone"),
    ],
)
def test_text_of_another_kind_than_the_first_is_refused(first: str, second: str, kind: str) -> None:
    reason = f"time {second!r} is of another kind than the {kind} before it"
    assert refusal(pa.array([first, first, second])) == (2, reason)
    if first != "0001-01-01":
        assert refusal(pa.array([second]), kind_of(pa.array([first]))) == (0, reason)


def test_a_column_of_another_kind_than_the_one_before_is_refused() -> None:
    times = pa.array([1], pa.timestamp("s"))
    assert seconds_of(times, TimeKind.TIMESTAMPS) == [1.0]
    assert refusal(times, TimeKind.TIMES_OF_DAY) == (
        0,
        "these times are timestamps without a zone, but the times before them are times of day",
    )


@pytest.mark.parametrize(
    "times", [pa.array([True]), pa.array([b"1"]), pa.array([[1]]), pa.array([{"a": 1}])]
)
def test_a_column_that_holds_no_times_is_refused(times: pa.Array) -> None:
    reason = f"times of type {times.type} are neither numbers nor timestamps"
    assert refusal(times) == (0, reason)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (pa.array([1.0]), "1.0"),
        (pa.array([1]), "1"),
        (pa.array(["1.50"]), "1.50"),
        (pa.array([Decimal("1.50")]), "1.50"),
        (pa.array([0], pa.timestamp("ns")), "1970-01-01 00:00:00"),
        (pa.array([0], pa.timestamp("s", "+02:00")), "1970-01-01 02:00:00+02:00"),
        (pa.array([1 << 60], pa.timestamp("s")), str(float(1 << 60))),  # after the year 9999
        (pa.array([0], pa.timestamp("s", "Not/A_Zone")), "0.0"),
        (pa.array([34_227], pa.time32("s")), "09:30:27"),
    ],
)
def test_a_time_is_shown_as_people_write_it(times: pa.Array, expected: str) -> None:
    assert as_shown(times, 0, as_seconds(times, kind_of(times))) == expected
