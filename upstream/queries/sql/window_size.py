"""Sizes of windows: constants of a query, as integers in the unit of the window's axis.

A size is written as an interval of a fixed length, a number of months, or a number. The unit is
that of the time column's type (microseconds of a TIMESTAMP, days of a DATE), microseconds for
arrival, and months for windows of months.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Final, Never

from sqlglot import exp

from ...rows.stream_definition import StreamDefinition
from ...rows.stream_times import unit_name
from ...rows.type_names import type_name
from .window_arguments import WindowArguments
from .window_clause import MICROSECONDS, Axis, WindowKind

FIXED_DAYS = 28
"""Every month has this many days."""


@dataclass(frozen=True, slots=True)
class WindowSize:
    """A constant: seconds or months if it is an interval, otherwise a number."""

    amount: Fraction
    is_interval: bool
    is_months: bool = False

    def scaled(self, factor: Fraction) -> WindowSize:
        """Return a multiple of this size."""
        return WindowSize(self.amount * factor, self.is_interval, self.is_months)


class NotConstantError(Exception):
    """A part of a query is not a constant size; the message says why."""


_CONSTANT: Final = "must be a constant"


def constant_size(node: exp.Expr) -> WindowSize:
    """Return the value of a constant expression; raise NotConstantError if it is not one."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        is_text = node.is_string
        return _interval_in(node.this) if is_text else WindowSize(_number(node.this), False)
    if isinstance(node, exp.Interval) and node.unit is not None:
        return _in_unit(node.this, node.unit.name)
    if isinstance(node, exp.Interval):
        return _as_interval(constant_size(node.this))
    if isinstance(node, exp.Cast) and node.to.is_type(exp.DType.INTERVAL):
        return _as_interval(constant_size(node.this))
    if isinstance(node, exp.Neg):
        return constant_size(node.this).scaled(Fraction(-1))
    if isinstance(node, exp.Binary):
        return _calculated(node)
    if isinstance(node, exp.Anonymous) and (unit := _FUNCTIONS.get(node.name.lower())):
        [argument] = node.expressions if len(node.expressions) == 1 else [None]
        return _in_unit(argument, unit)
    raise NotConstantError(_CONSTANT)


def _in_unit(count: exp.Expr | None, unit: str) -> WindowSize:
    if isinstance(count, exp.Literal) and count.is_string:
        number = _number(count.this)
    elif count is not None and not (size := constant_size(count)).is_interval:
        number = size.amount
    else:
        raise NotConstantError(_CONSTANT)
    return _unit(unit).scaled(number)


def _as_interval(size: WindowSize) -> WindowSize:
    if not size.is_interval:
        raise NotConstantError("an interval needs a unit, as in INTERVAL '10 seconds'")
    return size


def _calculated(node: exp.Binary) -> WindowSize:
    if not isinstance(node, exp.Add | exp.Sub | exp.Mul):
        raise NotConstantError(_CONSTANT)
    one, other = constant_size(node.left), constant_size(node.right)
    if isinstance(node, exp.Mul):
        if one.is_interval and other.is_interval:
            raise NotConstantError("two intervals cannot be multiplied")
        return one.scaled(other.amount) if one.is_interval else other.scaled(one.amount)
    return _sum(one, other if isinstance(node, exp.Add) else other.scaled(Fraction(-1)))


def _sum(one: WindowSize, other: WindowSize) -> WindowSize:
    if one.is_interval != other.is_interval:
        raise NotConstantError("an interval and a number cannot be added")
    if one.is_months != other.is_months:
        raise NotConstantError("months and days together have no fixed length")
    return WindowSize(one.amount + other.amount, one.is_interval, one.is_months)


def _interval_in(text: str) -> WindowSize:
    """Return an interval such as `1 hour 30 minutes` or `01:30:00`."""
    if (clock := _CLOCK.fullmatch(text.strip())) is not None:
        hours, minutes, seconds = clock.groups()
        length = Fraction(int(hours) * 3600 + int(minutes) * 60) + Fraction(seconds or 0)
        return WindowSize(length, is_interval=True)
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text).strip():
        raise NotConstantError("write an interval as in INTERVAL '10 minutes'")
    return reduce(_sum, (_unit(unit).scaled(_number(count)) for count, unit in parts))


_PART = re.compile(r"([+-]?\d{1,30}(?:\.\d{1,30})?)\s*([a-z]+)\s*", re.IGNORECASE | re.ASCII)
_CLOCK = re.compile(r"(\d{1,9}):(\d{1,2})(?::(\d{1,2}(?:\.\d{1,9})?))?", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?\d{1,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?\s*", re.ASCII)


def _number(text: str) -> Fraction:
    plain = text.replace("_", "")
    if not _NUMBER.fullmatch(plain):
        raise NotConstantError(f"{text!r} is not a number that can be a size")
    return Fraction(plain)


def _unit(unit: str) -> WindowSize:
    name = unit.lower()
    size = _UNITS.get(name) or _UNITS.get(name.removesuffix("s"))
    if size is None:
        raise NotConstantError(f"{unit!r} is not a unit of time")
    return size


def _named(*names: str, seconds: Fraction | int = 0, months: int = 0) -> dict[str, WindowSize]:
    length = WindowSize(Fraction(months or seconds), is_interval=True, is_months=months > 0)
    return dict.fromkeys(names, length)


_UNITS = {
    **_named("microsecond", "us", "usec", seconds=Fraction(1, MICROSECONDS)),
    **_named("millisecond", "ms", "msec", seconds=Fraction(1, 1000)),
    **_named("second", "s", "sec", seconds=1),
    **_named("minute", "m", "min", seconds=60),
    **_named("hour", "h", "hr", seconds=3600),
    **_named("day", "d", seconds=86_400),
    **_named("week", "w", seconds=7 * 86_400),
    **_named("mon", "month", months=1),
    **_named("quarter", months=3),
    **_named("y", "yr", "year", months=12),
    **_named("dec", "decade", months=120),
    **_named("c", "century", "centurie", months=1200),
    **_named("mil", "millennium", "millennia", months=12_000),
}
_FUNCTIONS = {
    f"to_{unit}s": unit
    for unit in (
        *("microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "year"),
    )
}


# Lengths, in the unit of the window's axis


LONGEST_SIZE = 1 << 60
"""Beyond this size, the bounds of windows would no longer be 64-bit integers."""
LONGEST_MONTHS: Final = 12 * 9999
"""The calendar has no more years than this."""
_DAY_SECONDS: Final = 86_400


class WindowLengths:
    """Reads the lengths among the arguments of one call; raises WindowError if one does not fit."""

    __slots__ = ("_arguments", "_axis", "_definition")

    def __init__(
        self, arguments: WindowArguments, definition: StreamDefinition, axis: Axis
    ) -> None:
        self._arguments = arguments
        self._definition = definition
        self._axis = axis

    def size(self, name: str) -> WindowSize:
        """Return an argument as the user wrote it."""
        try:
            return constant_size(self._arguments[name])
        except NotConstantError as error:
            reason = str(error)
            self._refuse(
                name, f"{self._described(name)} {reason}" if reason == _CONSTANT else reason
            )

    def count(self, name: str, of: str = "rows") -> int:
        """Return a number of rows or of chunks, which is 1 or more."""
        what = "a whole number" if name == of else f"a whole number of {of}"
        reason = f"must be {what}, 1 or more"
        try:
            size = constant_size(self._arguments[name])
        except NotConstantError as error:
            size, reason = None, _CONSTANT if str(error) == _CONSTANT else reason
        if size is None or size.is_interval or size.amount < 1 or size.amount.denominator > 1:
            hint = _COUNTED[name if name == "keep" else self._arguments.kind]
            hint = hint.format(stream=self._definition.name)
            self._refuse(name, f"{self._described(name)} {reason}", hint)
        return self._whole(name, size.amount, of)

    def length(self, name: str) -> int:
        """Return a length that is greater than zero."""
        return self._positive(name, self._in_units(name))

    def offset(self) -> int:
        """Return the offset of windows, 0 by default."""
        return 0 if self._arguments.get("offset") is None else self._in_units("offset")

    def months(self, name: str) -> int:
        """Return a length in months."""
        size = self.size(name)
        if not size.is_months:
            reason = "the size and the slide of a window must both be in months, or neither"
            self._refuse(name, reason, "write hop(stream, INTERVAL '1 year', INTERVAL '3 months')")
        months = self._positive(name, self._whole(name, size.amount, "months"))
        if months > LONGEST_MONTHS:
            self._refuse(name, f"{self._described(name)} is too large")
        return months

    def offset_in_month(self) -> int:
        """Return the offset of windows from the beginning of a month, 0 by default."""
        offset = self.offset()
        per_second = self._definition.units_per_second if self._axis is Axis.SOURCE else None
        days = FIXED_DAYS * _DAY_SECONDS * (per_second or MICROSECONDS)
        if not 0 <= offset < days:
            windows = f"{self._arguments.kind.noun}s"
            reason = f"the offset of {windows} of months must be between 0 and {FIXED_DAYS} days"
            hint = "write hop(stream, INTERVAL '1 year', INTERVAL '1 month') for years that "
            hint += "begin in any month"
            if self._arguments.kind is WindowKind.EPOCHS:
                hint = f"choose an offset of less than {FIXED_DAYS} days"
            self._refuse("offset", reason, hint)
        return offset

    def _in_units(self, name: str) -> int:
        size = self.size(name)
        if size.is_months:
            self._refuse_months(name)
        write_interval = f"write the {name} as INTERVAL '10 seconds'"
        if self._axis is Axis.ARRIVAL:
            if not size.is_interval:
                reason = f"{self._arguments.kind.noun}s on arrival need a length of time"
                self._refuse(name, reason, write_interval)
            return self._whole(name, size.amount * MICROSECONDS, "microseconds")
        stream, kind = self._definition.name, self._definition.time_type
        per_second = self._definition.units_per_second
        if per_second is None and size.is_interval:
            hint = f"write the {name} as a number in the unit of that column"
            self._refuse(name, f"the time of {stream} is a number, not a time", hint)
        is_number = per_second is None or type_name(kind) in {"DOUBLE", "FLOAT"}
        if not size.is_interval and not is_number:
            self._refuse(name, f"the time of {stream} is a {type_name(kind)}", write_interval)
        return self._whole(name, size.amount * (per_second or 1), unit_name(kind))

    def _refuse_months(self, name: str) -> Never:
        hint = "write INTERVAL '30 days'"
        if self._arguments.kind is WindowKind.LANDMARK:
            hint += f", or group by date_trunc('month', …) over landmark({self._definition.name})"
        self._refuse(
            name, f"{self._described(name)} cannot be in months, which differ in length", hint
        )

    def _whole(self, name: str, amount: Fraction, unit: str) -> int:
        if amount.denominator != 1:
            of_unit = f" of {unit}" if unit else ""
            self._refuse(name, f"{self._described(name)} is not a whole number{of_unit}")
        if abs(amount) > LONGEST_SIZE:
            self._refuse(name, f"{self._described(name)} is too large")
        return int(amount)

    def _positive(self, name: str, number: int) -> int:
        if number <= 0:
            self._refuse(name, f"{self._described(name)} must be greater than zero")
        return number

    def _described(self, name: str) -> str:
        of = "an epoch" if self._arguments.kind is WindowKind.EPOCHS else "a window"
        return _DESCRIBED.get(name, f"the {name} of {of}")

    def _refuse(self, name: str, reason: str, hint: str = "") -> Never:
        self._arguments.refuse(reason, self._arguments[name], hint)


_COUNTED: Final = {
    "keep": "write keep => 12 for the last 12 chunks",
    WindowKind.EPOCHS: "write epochs({stream}, rows => 1000), or for epochs by time "
    "epochs({stream}, INTERVAL '60 seconds')",
    WindowKind.LATEST: "write latest({stream}, rows => 3)",
    WindowKind.ROWS: "write rows({stream}, 1000), or for windows over time "
    "hop({stream}, size, slide)",
}
"""What to write for a number of chunks, and for a number of rows."""
_DESCRIBED: Final = {
    "gap": "the gap between sessions",
    "keep": "keep",
    "rows": "rows",
    "expire_after": "expire_after",
}
