"""Times as whole numbers of a unit, from columns of any type that can be a time, and back.

Windows are cut by integer arithmetic, so that no boundary is ever a matter of rounding. Seconds in
a DOUBLE become the last microsecond that is not after them, by the very comparison that a query
makes: `time >= window_start` holds for the rows of a window, and for no others.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from ..errors import StreamTypeError
from .arrow_words import numbers, one_array

if TYPE_CHECKING:
    import pyarrow as pa

WindowBound = datetime | date | np.datetime64 | int | float | None
"""Where a window starts or ends, in the type of the time column; None where there are no windows.

NumPy's datetime64 stands for what datetime cannot: nanoseconds, and years beyond 9999.
"""

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64 | np.int64 | np.uint64]

FARTHEST = 1 << 62
"""Times beyond this have no room for the windows around them; DuckDB's infinities are there too."""

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_MICROSECONDS = 1_000_000
_SECONDS_PER_DAY = 86_400


def is_time_type(kind: pa.DataType) -> bool:
    """Tell whether a column of this type can be the time of a stream."""
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_timestamp(kind)
        or types.is_date32(kind)
        or types.is_integer(kind)
        or types.is_float32(kind)
        or types.is_float64(kind)
    )


def units_per_second(kind: pa.DataType) -> Fraction | None:
    """Return how many units of a time of this type are a second; None for mere numbers."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return Fraction(_PER_SECOND[kind.unit])
    if pa.types.is_date32(kind):
        return Fraction(1, _SECONDS_PER_DAY)
    return Fraction(_MICROSECONDS) if pa.types.is_floating(kind) else None


def times_of(column: pa.ChunkedArray, stream: str, name: str) -> Integers:
    """Return a column without NULLs as times; StreamTypeError if one is too far or not finite."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_floating(kind):
        return _from_seconds(_array(column).astype(np.float64, copy=False), stream, name)
    if pa.types.is_uint64(kind):
        unsigned = _array(column)
        _check(unsigned <= FARTHEST, unsigned, stream, name)
        return unsigned.astype(np.int64, copy=False)
    times = numbers(one_array(column))[0].astype(np.int64, copy=False)
    if len(times) and max(int(times.max()), -int(times.min())) > FARTHEST:
        _check((times <= FARTHEST) & (times >= -FARTHEST), times, stream, name)
    return times


def _array(column: pa.ChunkedArray) -> Numbers:
    """Return a column without NULLs as an array, which is the same memory if it is one chunk."""
    values: Numbers = one_array(column).to_numpy(zero_copy_only=False)
    return values


def _from_seconds(seconds: NDArray[np.float64], stream: str, name: str) -> Integers:
    farthest = FARTHEST / _MICROSECONDS
    _check(np.abs(seconds) <= farthest, seconds, stream, name)  # false for NaN, too
    times = np.floor(seconds * _MICROSECONDS)
    times += (times + 1) / _MICROSECONDS <= seconds  # the product was rounded
    times -= times / _MICROSECONDS > seconds
    return times.astype(np.int64)


def _check(is_good: NDArray[np.bool_], values: Numbers, stream: str, name: str) -> None:
    if is_good.all():
        return
    row = int(np.argmin(is_good))
    reason = f"{values[row]} is not a time that windows can be around"
    raise StreamTypeError(stream, reason, column=name, row=row)


def time_value(number: int, kind: pa.DataType) -> WindowBound:
    """Return a time in units as what Python has for it, or NumPy where Python has nothing."""
    import pyarrow as pa

    if pa.types.is_floating(kind):
        return number / _MICROSECONDS
    if pa.types.is_date32(kind):
        return _date_or(number)
    if pa.types.is_timestamp(kind):
        return _datetime_or(number, kind)
    return number


def is_before(one: WindowBound, other: WindowBound) -> bool:
    """Tell whether a window ends before another of the same query; never where there are none."""
    if one is None or other is None:
        return False
    return bool(one < other)  # type: ignore[operator]  # both are of the one type of their query


def _date_or(days: int) -> WindowBound:
    try:
        return date(1970, 1, 1) + timedelta(days=days)
    except OverflowError:
        return np.datetime64(days, "D")


def _datetime_or(number: int, kind: pa.DataType) -> WindowBound:
    if kind.unit == "ns":
        return np.datetime64(number, "ns")
    try:
        microseconds = number * (_MICROSECONDS // _PER_SECOND[kind.unit])
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
        if kind.tz is None:
            return moment.replace(tzinfo=None)
        return moment.astimezone(ZoneInfo(kind.tz))
    except (OverflowError, ValueError, ZoneInfoNotFoundError):
        return np.datetime64(number, kind.unit)
