"""What the window functions of a query ask for: their arguments, read one by one.

`tumble(stream, size)`, `hop(stream, size, slide)`, `rows(stream, size[, slide])`,
`latest(stream[, rows => n][, per => columns])`, `landmark(stream[, slide])`. Size and slide may be
named as well (`size => …`). Those that are measured in time take `by => arrival` to go by when rows
came instead of the stream's time column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Never

from sqlglot import exp

from ...errors import QueryError, UnknownColumnError, UnknownStreamError, WindowError
from ...rows.stream_times import is_time_type
from ...rows.type_names import type_name, unit_name
from .names import did_you_mean, found
from .source_text import SourceText, place_of
from .window_clause import Axis, WindowClause, WindowKind
from .window_size import (
    MICROSECONDS,
    CalendarUnitError,
    NotConstantError,
    WindowSize,
    constant_size,
)

if TYPE_CHECKING:
    from fractions import Fraction

    import pyarrow as pa

    from ...database.duck import Duck
    from ...rows.stream_definition import StreamDefinition

LONGEST_SIZE = 1 << 60
"""Beyond this the bounds of windows would not be 64-bit integers any more."""
MOST_STEPS = 1_000_000
"""So many basic windows a window may have: each is kept by itself."""

FUNCTIONS = {
    kind.value: kind for kind in WindowKind if kind not in {WindowKind.STREAM, WindowKind.SESSION}
}

_FORMS = {
    WindowKind.TUMBLE: "tumble(stream, INTERVAL '1 minute')",
    WindowKind.HOP: "hop(stream, INTERVAL '10 minutes', INTERVAL '1 minute')",
    WindowKind.ROWS: "rows(stream, 1000, 100)",
    WindowKind.LATEST: "latest(stream, rows => 3, per => symbol)",
    WindowKind.LANDMARK: "landmark(stream) or landmark(stream, INTERVAL '1 hour')",
}
_SIZES: dict[WindowKind, tuple[str, ...]] = {  # in the order in which they come
    WindowKind.TUMBLE: ("size",),
    WindowKind.HOP: ("size", "slide"),
    WindowKind.ROWS: ("size", "slide"),
    WindowKind.LATEST: (),
    WindowKind.LANDMARK: ("slide",),
}
_LEAST = {WindowKind.TUMBLE: 1, WindowKind.HOP: 2, WindowKind.ROWS: 1}
"""How many of them there have to be."""
_NAMED = {
    WindowKind.TUMBLE: ("by",),
    WindowKind.HOP: ("by",),
    WindowKind.ROWS: (),
    WindowKind.LATEST: ("rows", "per"),
    WindowKind.LANDMARK: ("by",),
}


class WindowCall:
    """A call of a window function, with what is needed to say what is wrong with it."""

    def __init__(
        self,
        source: SourceText,
        call: exp.Anonymous,
        streams: Mapping[str, StreamDefinition],
        duck: Duck | None = None,
    ) -> None:
        self._source = source
        self._duck = duck
        self._call = call
        self._kind = FUNCTIONS[call.name.lower()]
        self._place = place_of(call)
        self._sizes: dict[str, exp.Expr] = {}
        self._named: dict[str, exp.Expr] = {}
        self._read_arguments()
        self.stream = self._stream_among(streams)
        self._definition = streams[self.stream]

    def clause(self) -> WindowClause:
        """Return the window that is asked for."""
        if self._kind is WindowKind.LATEST:
            return self._latest()
        if self._kind is WindowKind.ROWS:
            size, slide = self._rows()
            axis = Axis.ROWS
        elif not self._sizes:
            axis = self._axis() if self._definition.time or "by" in self._named else Axis.ROWS
            return WindowClause(self._kind, self.stream, axis)
        else:
            axis = self._axis()
            lengths = [self._length(name, axis) for name in self._sizes_in_order()]
            size, slide = lengths[0], lengths[-1]
        if self._kind is WindowKind.LANDMARK:
            return WindowClause(self._kind, self.stream, axis, 0, slide)
        clause = WindowClause(self._kind, self.stream, axis, size, slide)
        self._check_slide(clause)
        return clause

    # The arguments

    def _read_arguments(self) -> None:
        arguments = list(self._call.expressions)
        if not arguments or _is_named(arguments[0]):
            self._refuse(f"{self._kind} of what? its first argument is a stream", self._call)
        self._stream_node = arguments.pop(0)
        names = _SIZES[self._kind]
        given = 0
        while arguments and not _is_named(arguments[0]):
            if given == len(names):
                self._refuse_number(given + sum(not _is_named(each) for each in arguments))
            self._sizes[names[given]] = arguments.pop(0)
            given += 1
        for argument in arguments:
            if not _is_named(argument):
                self._refuse("what has no name comes before what has one", argument)
            self._read_named(argument)
        for name in names[: _LEAST.get(self._kind, 0)]:
            if name not in self._sizes:
                self._refuse(f"{self._kind} needs a {name}", self._call)

    def _read_named(self, argument: exp.Expr) -> None:
        name = argument.this.name.lower()
        sizes = _SIZES[self._kind]
        if name not in (*sizes, *_NAMED[self._kind]):
            self._refuse(f"{self._kind} has no argument {name}", argument)
        if name in self._named or name in self._sizes:
            self._refuse(f"{self._kind} has the argument {name} twice", argument)
        (self._sizes if name in sizes else self._named)[name] = argument.expression

    def _refuse_number(self, given: int) -> Never:
        takes = " and a ".join(_SIZES[self._kind])
        takes = f"a {takes}" if takes else "nothing without a name"
        are = "argument is" if given == 1 else "arguments are"
        reason = f"{self._kind} takes {takes} after the stream, and {given} {are} given"
        self._refuse(reason, self._call)

    def _stream_among(self, streams: Mapping[str, StreamDefinition]) -> str:
        node = self._stream_node
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            self._refuse("a window is over a stream by its name", node)
        name = found(node.name, streams) if not node.table else None
        if name is None:
            reason = f"there is no stream named {node.sql('duckdb')}"
            hint = did_you_mean(node.name, streams)
            if self._duck is not None and not node.table and self._duck.has_table(node.name):
                reason = f"{node.name} is a table, and a window is over a stream"
                hint = f"write FROM {node.name}, or join it with a window over a stream"
            self._refuse(reason, node, hint, UnknownStreamError)
        return name

    # Sizes

    def _axis(self) -> Axis:
        by = self._named.get("by")
        if by is not None:
            name = by.name.lower() if isinstance(by, exp.Column | exp.Literal) else ""
            if name == Axis.ARRIVAL:
                return Axis.ARRIVAL
            if name != (self._definition.time or "").lower() or not name:
                self._refuse("windows go by the stream's time column, or by => arrival", by)
        if self._definition.time is None:
            hint = (
                f"create it with {self._time_clause()}, or write {self._kind}({self.stream}, …, "
                f"by => arrival) or rows({self.stream}, 1000)"
            )
            self._refuse(f"the stream {self.stream} has no time column", self._call, hint)
        return Axis.SOURCE

    def _sizes_in_order(self) -> list[str]:
        return [name for name in _SIZES[self._kind] if name in self._sizes]

    def _time_clause(self) -> str:
        """Return the clause that would have given the stream its time."""
        able = [field.name for field in self._definition.schema if is_time_type(field.type)]
        return f"TIME ({found('time', able) or 'column'})"

    def _rows(self) -> tuple[int, int]:
        counts = []
        for name in self._sizes_in_order():
            node = self._sizes[name]
            size = self._size(node)
            if size.is_interval:
                hint = f"for windows in time write hop({self.stream}, size, slide)"
                self._refuse("rows are counted, not timed", node, hint)
            counts.append(self._whole(size.amount, node, f"the {name} of a window", "rows"))
        return counts[0], counts[-1]

    def _length(self, name: str, axis: Axis) -> int:
        node, what = self._sizes[name], f"the {name} of a window"
        size = self._size(node)
        if axis is Axis.ARRIVAL:
            if not size.is_interval:
                self._refuse("arrival is measured in time", node, _WRITE_INTERVAL)
            return self._whole(size.amount * MICROSECONDS, node, what, "microseconds")
        per_second = self._definition.units_per_second
        unit = unit_name(self._definition.time_type)
        if per_second is None:
            if size.is_interval:
                hint = f"write the {name} as a number of what the column counts"
                self._refuse(f"the time of {self.stream} is a number, not a time", node, hint)
            return self._whole(size.amount, node, what, unit)
        kind = type_name(self._definition.time_type)
        if not size.is_interval and kind not in {"DOUBLE", "FLOAT"}:
            self._refuse(f"the time of {self.stream} is a {kind}", node, _WRITE_INTERVAL)
        return self._whole(size.amount * per_second, node, what, unit)

    def _size(self, node: exp.Expr) -> WindowSize:
        try:
            return constant_size(node)
        except CalendarUnitError as error:
            hint = (
                f"write INTERVAL '30 days', or group by date_trunc('{error.unit}', …) over "
                f"landmark({self.stream})"
            )
            self._refuse(str(error), node, hint)
        except NotConstantError as error:
            self._refuse(str(error), node)

    def _whole(self, amount: Fraction, node: exp.Expr, what: str, unit: str) -> int:
        if amount <= 0:
            self._refuse(f"{what} has to be greater than zero", node)
        if amount.denominator != 1:
            of_unit = f" of {unit}" if unit else ""
            self._refuse(f"{what} is not a whole number{of_unit}", node)
        if amount > LONGEST_SIZE:
            self._refuse(f"{what} is longer than it can be", node)
        return int(amount)

    def _check_slide(self, clause: WindowClause) -> None:
        slide = self._sizes[self._sizes_in_order()[-1]]
        if clause.slide > clause.size:
            hint = "make the slide no longer than the size, and filter what you do not want"
            self._refuse(
                "a slide longer than the size leaves out rows between windows", slide, hint
            )
        if clause.size // clause.step > MOST_STEPS:
            steps = clause.size // clause.step
            hint = "choose a slide with a greater common divisor with the size"
            self._refuse(f"a window would consist of {steps:,} basic windows", slide, hint)

    # The latest rows

    def _latest(self) -> WindowClause:
        rows = 1
        if (node := self._named.get("rows")) is not None:
            size = self._size(node)
            if size.is_interval:
                self._refuse("rows are counted, not timed", node)
            rows = self._whole(size.amount, node, "rows", "rows")
        per = self._definition.key
        if (node := self._named.get("per")) is not None:
            per = self._columns(node)
        axis = Axis.ROWS if self._definition.time is None else Axis.SOURCE
        return WindowClause(self._kind, self.stream, axis, rows=rows, per=per)

    def _columns(self, node: exp.Expr) -> tuple[str, ...]:
        node = node.unnest()
        if _is_word(node, "key") and self._definition.column_named("key") is None:
            return self._definition.key
        parts = node.expressions if isinstance(node, exp.Tuple | exp.Array) else [node]
        columns: list[str] = []
        for part in parts:
            part = part.unnest()
            if not isinstance(part, exp.Column) or not isinstance(part.this, exp.Identifier):
                self._refuse("per is a column, or several in brackets", part)
            column = self._definition.column_named(part.name)
            if column is None:
                reason = f"the stream {self.stream} has no column {part.name}"
                hint = did_you_mean(part.name, self._definition.schema.names)
                self._refuse(reason, part, hint, UnknownColumnError)
            if column in columns:
                self._refuse(f"{column} is there twice", part)
            if _is_nested(self._definition.schema.field(column).type):
                self._refuse(f"rows cannot be grouped by {column}: it has parts", part)
            columns.append(column)
        return tuple(columns)

    def _refuse(
        self,
        reason: str,
        node: exp.Expr,
        hint: str = "",
        kind: type[QueryError] = WindowError,
    ) -> Never:
        hint = hint or f"write it as {_FORMS[self._kind]}"
        self._source.refuse(kind, reason, self._place_of(node), hint)

    def _place_of(self, node: exp.Expr) -> int | None:
        """Return where a part begins: an interval does not know it, but its argument does."""
        if self._place is None or node is self._call:
            return self._place
        place = place_of(node)
        if place is not None and node.parent is not self._call:
            return place
        while node.parent is not None and node.parent is not self._call:
            node = node.parent
        places = self._source.argument_places(self._place)
        number = next(i for i, each in enumerate(self._call.expressions) if each is node)
        return places[number] if number < len(places) else self._place


_WRITE_INTERVAL = "write the size as INTERVAL '10 seconds'"


def _is_named(node: exp.Expr) -> bool:
    return isinstance(node, exp.Kwarg | exp.PropertyEQ)


def _is_word(node: exp.Expr, word: str) -> bool:
    return isinstance(node, exp.Column) and not node.table and node.name.lower() == word


def _is_nested(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(kind))
