"""Lengths of windows as whole numbers of the unit that a window is measured in.

For a time column this is the unit of its type (microseconds of a TIMESTAMP, days of a DATE), for
arrival microseconds; windows of months are measured in months.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, available_timezones

from sqlglot import exp

from ...rows.stream_times import unit_name
from ...rows.type_names import type_name
from .names import did_you_mean
from .window_clause import Axis, WindowKind
from .window_size import MICROSECONDS, NotConstantError, WindowSize, constant_size

if TYPE_CHECKING:
    from ...rows.stream_definition import StreamDefinition
    from .window_arguments import WindowArguments

LONGEST_SIZE = 1 << 60
"""Beyond this the bounds of windows would not be 64-bit integers any more."""
LONGEST_MONTHS: Final = 12 * 9999
"""The calendar has no more years."""
WRITE_INTERVAL: Final = "write the size as INTERVAL '10 seconds'"
_DEFAULT_ZONE: Final = "UTC"
_DAY_SECONDS: Final = 86_400


class WindowLengths:
    """Reads the lengths among the arguments of one call; WindowError where one does not fit."""

    __slots__ = ("_arguments", "_definition")

    def __init__(self, arguments: WindowArguments, definition: StreamDefinition) -> None:
        self._arguments = arguments
        self._definition = definition

    def size(self, node: exp.Expr) -> WindowSize:
        """Return a constant as it was written."""
        try:
            return constant_size(node)
        except NotConstantError as error:
            self._arguments.refuse(str(error), node)

    def count(self, name: str) -> int:
        """Return a number of rows."""
        node = self._arguments[name]
        size = self.size(node)
        if size.is_interval:
            hint = f"for windows in time write hop({self._definition.name}, size, slide)"
            self._arguments.refuse("rows are counted, not timed", node, hint)
        what = name if name == "rows" else f"the {name} of a window"
        return self._positive(self._whole(size.amount, node, what, "rows"), node, what)

    def length(self, name: str, axis: Axis) -> int:
        """Return a length that is greater than zero."""
        node, what = self._arguments[name], _described(name)
        return self._positive(self._in_units(node, what, axis), node, what)

    def offset(self, axis: Axis) -> int:
        """Return how much later than usual windows begin: 0 if nothing was said."""
        node = self._arguments.get("offset")
        return 0 if node is None else self._in_units(node, _described("offset"), axis)

    def months(self, name: str) -> int:
        """Return a length in months."""
        node, what = self._arguments[name], _described(name)
        size = self.size(node)
        if not size.is_months:
            reason = "the size and the slide of a window are both in months, or neither is"
            hint = "write hop(stream, INTERVAL '1 year', INTERVAL '3 months')"
            self._arguments.refuse(reason, node, hint)
        months = self._positive(self._whole(size.amount, node, what, "months"), node, what)
        if months > LONGEST_MONTHS:
            self._arguments.refuse(f"{what} is longer than it can be", node)
        return months

    def of_days(self, days: int, axis: Axis) -> int:
        """Return days in the unit of an axis in time."""
        per_second = Fraction(MICROSECONDS)
        if axis is Axis.SOURCE:
            per_second = self._definition.units_per_second or per_second
        return int(days * _DAY_SECONDS * per_second)

    def check_calendar(self) -> None:
        """Refuse months of a time column that knows no calendar."""
        import pyarrow as pa

        kind = self._definition.time_type
        if not (pa.types.is_timestamp(kind) or pa.types.is_date32(kind)):
            stream = self._definition.name
            reason = f"windows of months need a TIMESTAMP or a DATE, and the time of {stream} is a "
            hint = "write the size as a number, or by => arrival"
            node = self._arguments[self._arguments.sizes()[0]]
            self._arguments.refuse(reason + type_name(kind), node, hint)

    def zone(self, axis: Axis) -> str:
        """Return the time zone in which months begin."""
        import pyarrow as pa

        node = self._arguments.get("zone")
        if node is None:
            return _DEFAULT_ZONE
        if not isinstance(node, exp.Literal) or not node.is_string:
            hint = "write zone => 'Europe/Berlin'"
            self._arguments.refuse("a zone is named by a text", node, hint)
        if axis is Axis.SOURCE and pa.types.is_date32(self._definition.time_type):
            reason = f"the days of {self._definition.name} are the same in every zone"
            self._arguments.refuse(reason, node, "leave the zone out")
        if not _is_zone(node.this):
            hint = did_you_mean(node.this, available_timezones())
            self._arguments.refuse(f"there is no time zone named {node.this}", node, hint)
        return str(node.this)

    def _in_units(self, node: exp.Expr, what: str, axis: Axis) -> int:
        size = self.size(node)
        if size.is_months:
            self._refuse_months(node, what)
        if axis is Axis.ARRIVAL:
            if not size.is_interval:
                self._arguments.refuse("arrival is measured in time", node, WRITE_INTERVAL)
            return self._whole(size.amount * MICROSECONDS, node, what, "microseconds")
        stream, kind = self._definition.name, self._definition.time_type
        per_second, unit = self._definition.units_per_second, unit_name(kind)
        if per_second is None:
            if size.is_interval:
                hint = "write it as a number of what the column counts"
                self._arguments.refuse(f"the time of {stream} is a number, not a time", node, hint)
            return self._whole(size.amount, node, what, unit)
        if not size.is_interval and type_name(kind) not in {"DOUBLE", "FLOAT"}:
            reason = f"the time of {stream} is a {type_name(kind)}"
            self._arguments.refuse(reason, node, WRITE_INTERVAL)
        return self._whole(size.amount * per_second, node, what, unit)

    def _refuse_months(self, node: exp.Expr, what: str) -> None:
        hint = "write INTERVAL '30 days'"
        if self._arguments.kind is WindowKind.LANDMARK:
            hint += f", or group by date_trunc('month', …) over landmark({self._definition.name})"
        self._arguments.refuse(f"{what} cannot be in months, which differ in length", node, hint)

    def _whole(self, amount: Fraction, node: exp.Expr, what: str, unit: str) -> int:
        if amount.denominator != 1:
            of_unit = f" of {unit}" if unit else ""
            self._arguments.refuse(f"{what} is not a whole number{of_unit}", node)
        if abs(amount) > LONGEST_SIZE:
            self._arguments.refuse(f"{what} is longer than it can be", node)
        return int(amount)

    def _positive(self, number: int, node: exp.Expr, what: str) -> int:
        if number <= 0:
            self._arguments.refuse(f"{what} has to be greater than zero", node)
        return number


def _described(name: str) -> str:
    return "the gap between sessions" if name == "gap" else f"the {name} of a window"


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # a folder of zones, a path, a name that is none
        return False
    return True
