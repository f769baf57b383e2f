"""Times as integers of a unit, from columns of any type that can be a time, and back.

Windows are cut with integer arithmetic, so that rounding never affects a boundary. Seconds in a
DOUBLE become the last microsecond that is not after them. This is the comparison that a query
makes: `time >= window_start` holds for the rows of a window, and for no others.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import StreamTypeError
from .arrow_words import numbers, one_array

if TYPE_CHECKING:
    import pyarrow as pa

WindowBound = datetime | date | np.datetime64 | int | float | None
"""Where a window starts or ends, in the type of the time column; None without windows.

NumPy's datetime64 is used for nanoseconds and for years beyond 9999, which datetime lacks.
"""

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64 | np.int64 | np.uint64]

FARTHEST = 1 << 62
"""Times beyond this have no room for the windows around them; DuckDB's infinities are beyond it."""

_Unit = Literal["s", "ms", "us", "ns", "D"]
_UNITS: dict[_Unit, tuple[str, Fraction]] = {
    "s": ("seconds", Fraction(1)),
    "ms": ("milliseconds", Fraction(1_000)),
    "us": ("microseconds", Fraction(1_000_000)),
    "ns": ("nanoseconds", Fraction(1_000_000_000)),
    "D": ("days", Fraction(1, 86_400)),
}
"""By NumPy's name of a unit: its name, and how many of them a second has."""
_MICROSECONDS = 1_000_000


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
    """Return how many units of a time of this type a second has.

    None for numbers without a unit.
    """
    unit = _unit(kind)
    return None if unit is None else _UNITS[unit][1]


def unit_name(kind: pa.DataType) -> str:
    """Return the unit in which times of a type are counted; "" for numbers without a unit."""
    unit = _unit(kind)
    return "" if unit is None else _UNITS[unit][0]


def _unit(kind: pa.DataType) -> _Unit | None:
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        stored: _Unit = kind.unit
        return stored
    if pa.types.is_date32(kind):
        return "D"
    return "us" if pa.types.is_floating(kind) else None


def times_of(column: pa.ChunkedArray, stream: str, name: str) -> Integers:
    """Return a column without NULLs as times; raise StreamTypeError if one is out of range.

    They share the column's memory if it is one chunk of 64-bit integers.
    """
    import pyarrow as pa

    found, _ = numbers(one_array(column))
    if pa.types.is_floating(column.type):
        return _from_seconds(found.astype(np.float64, copy=False), stream, name)
    times = found.astype(np.int64, copy=False)
    if pa.types.is_uint64(column.type):
        _check(times.view(np.uint64) <= FARTHEST, times.view(np.uint64), stream, name)
    elif len(times) and max(int(times.max()), -int(times.min())) > FARTHEST:
        _check((times <= FARTHEST) & (times >= -FARTHEST), times, stream, name)
    return times


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
    reason = f"the time {values[row]} is out of range"
    raise StreamTypeError(stream, reason, column=name, row=row)


def time_value(number: int, kind: pa.DataType) -> WindowBound:
    """Return a time in units as a Python value, or as a NumPy value if Python has none."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # `import upstream` does not need it

    import pyarrow as pa

    unit = _unit(kind)
    if unit is None:
        return number
    if pa.types.is_floating(kind):
        return number / _MICROSECONDS
    moment: np.datetime64 = np.datetime64(number, unit)
    value: object = moment.item()  # an integer where Python has no such value
    if not isinstance(value, date):
        return moment
    if not isinstance(value, datetime) or kind.tz is None:
        return value
    try:
        return value.replace(tzinfo=UTC).astimezone(ZoneInfo(kind.tz))
    except (OverflowError, ValueError, ZoneInfoNotFoundError):
        return moment


def is_before(one: WindowBound, other: WindowBound) -> bool:
    """Tell whether a window ends before another one of the same query; False without windows."""
    if one is None or other is None:
        return False
    return bool(one < other)  # type: ignore[operator]  # both are of the one type of their query
