"""Sizes of windows: constants of a query, as whole numbers of a stream's unit of time.

A size is an interval of a fixed length, a number of months, or a mere number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from sqlglot import exp

MICROSECONDS = 1_000_000
FIXED_DAYS = 28
"""So many days every month has."""


@dataclass(frozen=True, slots=True)
class WindowSize:
    """A constant: seconds or months if it is an interval, else a number."""

    amount: Fraction
    is_interval: bool
    is_months: bool = False

    def scaled(self, factor: Fraction) -> WindowSize:
        """Return a multiple of it."""
        return WindowSize(self.amount * factor, self.is_interval, self.is_months)


class NotConstantError(Exception):
    """A part of a query is not a constant size; the message says what it is."""


_CONSTANT = "a window's size has to be a constant"


def constant_size(node: exp.Expr) -> WindowSize:
    """Return what a constant expression amounts to; NotConstantError if it is none."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        return _literal(node)
    if isinstance(node, exp.Interval):
        return _interval(node)
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


def _literal(node: exp.Literal) -> WindowSize:
    if node.is_string:
        return _interval_in(node.this)
    return WindowSize(_number(node.this), is_interval=False)


def _interval(node: exp.Interval) -> WindowSize:
    if node.unit is None:
        return _as_interval(constant_size(node.this))
    return _in_unit(node.this, node.unit.name)


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
        raise NotConstantError("an interval has a unit, as in INTERVAL '10 seconds'")
    return size


def _calculated(node: exp.Binary) -> WindowSize:
    if not isinstance(node, exp.Add | exp.Sub | exp.Mul):
        raise NotConstantError(_CONSTANT)
    one, other = constant_size(node.left), constant_size(node.right)
    if isinstance(node, exp.Mul):
        if one.is_interval and other.is_interval:
            raise NotConstantError("intervals cannot be multiplied with one another")
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
        raise NotConstantError("an interval is written as in INTERVAL '10 minutes'")
    return reduce(_sum, (_unit(unit).scaled(_number(count)) for count, unit in parts))


_PART = re.compile(r"([+-]?\d{1,30}(?:\.\d{1,30})?)\s*([a-z]+)\s*", re.IGNORECASE | re.ASCII)
_CLOCK = re.compile(r"(\d{1,9}):(\d{1,2})(?::(\d{1,2}(?:\.\d{1,9})?))?", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?\d{1,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?\s*", re.ASCII)


def _number(text: str) -> Fraction:
    plain = text.replace("_", "")
    if not _NUMBER.fullmatch(plain):
        raise NotConstantError(f"{text!r} is no number that a size can be")
    return Fraction(plain)


def _unit(unit: str) -> WindowSize:
    name = unit.lower()
    for units, is_months in ((_UNITS, False), (_CALENDAR, True)):
        length = units.get(name, units.get(name.removesuffix("s")))
        if length is not None:
            return WindowSize(length, is_interval=True, is_months=is_months)
    raise NotConstantError(f"{unit!r} is no unit of time")


_FUNCTIONS = {
    "to_microseconds": "microsecond",
    "to_milliseconds": "millisecond",
    "to_seconds": "second",
    "to_minutes": "minute",
    "to_hours": "hour",
    "to_days": "day",
    "to_weeks": "week",
    "to_months": "month",
    "to_years": "year",
}
_CALENDAR = {
    **dict.fromkeys(("mon", "month"), Fraction(1)),
    "quarter": Fraction(3),
    **dict.fromkeys(("y", "yr", "year"), Fraction(12)),
    **dict.fromkeys(("dec", "decade"), Fraction(120)),
    **dict.fromkeys(("c", "century", "centurie"), Fraction(1200)),
    **dict.fromkeys(("mil", "millennium", "millennia"), Fraction(12_000)),
}
"""Units of months, which are longer at one time than at another."""
_UNITS = {
    **dict.fromkeys(("microsecond", "us", "usec"), Fraction(1, MICROSECONDS)),
    **dict.fromkeys(("millisecond", "ms", "msec"), Fraction(1, 1000)),
    **dict.fromkeys(("second", "s", "sec"), Fraction(1)),
    **dict.fromkeys(("minute", "m", "min"), Fraction(60)),
    **dict.fromkeys(("hour", "h", "hr"), Fraction(3600)),
    **dict.fromkeys(("day", "d"), Fraction(86_400)),
    **dict.fromkeys(("week", "w"), Fraction(7 * 86_400)),
}
