"""What DuckDB calculates with times and constants, in whole units of the time columns.

`time + INTERVAL '1 month'` is no fixed number of units, and `time + 0.1` is rounded if times are
DOUBLE. So the value of a constant is a range, which contains the exact value for all times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.functions import functions_of
from ..sql.lending import run_once
from ..sql.trees import named

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ...rows.stream_definition import StreamDefinition

_DAY: Final = 86_400
"""Seconds of a day without a change of the clocks."""
_MONTH: Final = (28, 31)
"""The least and the greatest number of days in a month."""
_COMPARED_MONTH: Final = 30
"""The days of a month where DuckDB compares two intervals."""
_ZONE_SHIFT: Final = 26 * 3_600
"""Local time can move against UTC by so many seconds: from 12 hours behind to 14 hours ahead."""
_ROUNDING: Final = 2_000
"""By so many units an operation may round a time that is a DOUBLE or has nanoseconds."""
_LARGEST: Final = 1 << 42
"""The rounding of a DOUBLE is within that up to so many seconds."""
_LONGEST: Final = 1 << 60
"""Beyond this length, the sum of a time and a length would not be a 64-bit integer."""
_DECIMALS: Final = 10**9
"""A decimal number with more digits behind the point could be rounded."""

_OPERATORS: Final = frozenset({"+", "-", "*", "abs", "@"})
_INTERVALS: Final = frozenset(
    f"to_{unit}s"
    for unit in (
        *("microsecond", "millisecond", "second", "minute", "hour"),
        *("day", "week", "month", "quarter", "year", "decade"),
    )
)
"""Functions that make an interval of a number."""
_PARTS: Final = (
    *(exp.Literal, exp.Interval, exp.Var, exp.Neg, exp.Paren, exp.Cast, exp.DataType),
    *(exp.DataTypeParam, exp.Add, exp.Sub, exp.Mul),
)
"""A constant may consist of these, and of calls of those functions."""


class Range(NamedTuple):
    """A number of units of time that is not known exactly."""

    least: Fraction
    most: Fraction


@dataclass(frozen=True, slots=True)
class _Constant:
    """A number, or an interval of months, days and seconds."""

    number: Fraction
    is_float: bool = False
    is_interval: bool = False
    months: int = 0
    days: int = 0


class TimeArithmetic:
    """Reads constants beside times of one kind, which all inputs of a query have."""

    __slots__ = ("_duck", "_kind", "_own", "_per_second")

    def __init__(self, definition: StreamDefinition, duck: Duck) -> None:
        self._duck = duck
        self._own = functions_of(duck).own
        self._kind = _kind(definition)[0]
        self._per_second = definition.units_per_second or Fraction(1)

    @property
    def is_usual(self) -> bool:
        """Whether operators mean what they mean in DuckDB: a macro can replace them."""
        return not self._own & _OPERATORS

    def slack(self, operations: int) -> int:
        """Return by how many units this many operations may round a time."""
        rounds = self._kind in ("double", "nanoseconds")
        return _ROUNDING * operations + 1 if operations and rounds else 0

    def added(self, node: exp.Expr) -> Range | None:
        """Return by how many units a time moves if a constant is added; None if it is unknown."""
        constant = self._constant(node)
        if constant is None:
            return None
        if not constant.is_interval:
            return self._range(constant.number, constant.number, constant)
        days = sorted(constant.days + each * constant.months for each in _MONTH)
        least, most = (constant.number + _DAY * each for each in days)
        if self._kind == "zoned" and (constant.months or constant.days):
            return self._range(least - _ZONE_SHIFT, most + _ZONE_SHIFT, constant)
        return self._range(least, most, constant)

    def difference(self, node: exp.Expr) -> Range | None:
        """Return how far apart times are if their difference equals a constant."""
        constant = self._constant(node)
        if constant is None or (constant.is_interval and self._kind == "date"):
            return None  # the difference of two dates is a number
        days = constant.days + _COMPARED_MONTH * constant.months
        length = constant.number + _DAY * days
        if self._kind != "zoned":
            return self._range(length, length, constant)
        return self._range(-_longest(-length), _longest(length), constant)

    def _range(self, least: Fraction, most: Fraction, constant: _Constant) -> Range | None:
        """Return a range of seconds, or of days and numbers that have no unit, in units."""
        is_scaled = constant.is_interval or self._kind == "double"
        units = self._per_second if is_scaled else Fraction(1)
        found = Range(least * units, most * units)
        return found if max(map(abs, found)) <= _LONGEST else None

    def _constant(self, node: exp.Expr) -> _Constant | None:
        """Return the value of a constant, as DuckDB evaluates it, if it fits the times."""
        if not all(map(self._is_part, node.walk())):
            return None
        query = exp.select(named(node.copy(), "value"))
        try:
            value: object = run_once(self._duck, query, {}).column(0)[0].as_py()
        except (DatabaseError, pa.ArrowException, ValueError, OverflowError):
            return None
        constant = _constant_of(value)
        return constant if constant is not None and self._fits(constant) else None

    def _fits(self, constant: _Constant) -> bool:
        if self._kind == "single":
            return False  # a FLOAT is rounded too much
        if self._kind == "double":
            return not constant.is_interval and abs(constant.number) <= _LARGEST
        is_exact = not constant.is_float and constant.number.denominator <= _DECIMALS
        if self._kind == "integer":
            return is_exact and not constant.is_interval
        return constant.is_interval or (self._kind == "date" and is_exact)

    def _is_part(self, node: exp.Expr) -> bool:
        if isinstance(node, exp.Anonymous):
            name = node.name.lower()
            return name in _INTERVALS and name not in self._own
        return isinstance(node, _PARTS)


def _longest(length: Fraction) -> Fraction:
    """Return the longest time for which DuckDB shows no more than this length.

    It counts the days of a difference in local time, so a day may be longer or shorter. Less than
    a day is exact, and a difference has the sign of the time.
    """
    if 0 <= length < _DAY:
        return length
    return length + _ZONE_SHIFT if length > 0 else min(Fraction(0), length + _ZONE_SHIFT)


def are_of_one_kind(definitions: Iterable[StreamDefinition]) -> bool:
    """Tell whether the times of streams can be compared without a conversion."""
    return len({_kind(each) for each in definitions}) == 1


def _kind(definition: StreamDefinition) -> tuple[str, object]:
    """Return how DuckDB calculates with the times of a stream, and their unit."""
    time, unit = definition.time_type, definition.units_per_second
    if pa.types.is_timestamp(time) and time.tz is not None:
        return "zoned", unit
    if pa.types.is_timestamp(time):
        return ("nanoseconds" if time.unit == "ns" else "timestamp"), unit
    if pa.types.is_date32(time):
        return "date", unit
    if pa.types.is_floating(time):
        return ("double" if pa.types.is_float64(time) else "single"), unit
    return "integer", unit


def _constant_of(value: object) -> _Constant | None:
    if isinstance(value, pa.MonthDayNano):
        seconds = Fraction(value.nanoseconds, 1_000_000_000)
        return _Constant(seconds, is_interval=True, months=value.months, days=value.days)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    is_float = isinstance(value, float)
    return _Constant(Fraction(value), is_float) if isfinite(value) else None
