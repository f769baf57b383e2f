"""What the window functions of a query ask for: their arguments, read one by one.

`tumble(stream, size)`, `hop(stream, size, slide)`, `rows(stream, size[, slide])`,
`latest(stream[, rows => n][, per => columns])`, `landmark(stream[, slide])`. Those that are
measured in time take `by => arrival` to go by when rows came instead of the stream's time column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Never

from sqlglot import exp

from ...errors import QueryError, UnknownColumnError, UnknownStreamError, WindowError
from ..window_clause import Axis, WindowClause, WindowKind
from .names import did_you_mean, found
from .source_text import SourceText, place_of
from .window_size import MICROSECONDS, NotConstantError, WindowSize, constant_size

if TYPE_CHECKING:
    from fractions import Fraction

    import pyarrow as pa

    from ..stream_definition import StreamDefinition

LONGEST_SIZE = 1 << 60
"""Beyond this the bounds of windows would not be 64-bit integers any more."""
MOST_STEPS = 1_000_000
"""So many basic windows a window may have: each is kept by itself."""

FUNCTIONS = {kind.value: kind for kind in WindowKind if kind is not WindowKind.STREAM}

_FORMS = {
    WindowKind.TUMBLE: "tumble(stream, INTERVAL '1 minute')",
    WindowKind.HOP: "hop(stream, INTERVAL '10 minutes', INTERVAL '1 minute')",
    WindowKind.ROWS: "rows(stream, 1000, 100)",
    WindowKind.LATEST: "latest(stream, rows => 3, per => symbol)",
    WindowKind.LANDMARK: "landmark(stream) or landmark(stream, INTERVAL '1 hour')",
}
_SIZES = {  # the least and the greatest count of sizes
    WindowKind.TUMBLE: (1, 1),
    WindowKind.HOP: (2, 2),
    WindowKind.ROWS: (1, 2),
    WindowKind.LATEST: (0, 0),
    WindowKind.LANDMARK: (0, 1),
}
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
    ) -> None:
        self._source = source
        self._call = call
        self._kind = FUNCTIONS[call.name.lower()]
        self._place = place_of(call)
        self._sizes: list[exp.Expr] = []
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
            lengths = [self._length(each, axis) for each in self._sizes]
            size, slide = lengths[0], lengths[-1]
        if self._kind is WindowKind.LANDMARK:
            return WindowClause(self._kind, self.stream, axis, 0, slide)
        clause = WindowClause(self._kind, self.stream, axis, size, slide)
        self._check_slide(clause)
        return clause

    # The arguments

    def _read_arguments(self) -> None:
        arguments = list(self._call.expressions)
        while arguments and not _is_named(arguments[0]):
            self._sizes.append(arguments.pop(0))
        for argument in arguments:
            if not _is_named(argument):
                self._refuse("what has no name comes before what has one", argument)
            name = argument.this.name.lower()
            if name not in _NAMED[self._kind] or name in self._named:
                self._refuse(f"{self._kind} has no argument {name}, or has it twice", argument)
            self._named[name] = argument.expression
        if not self._sizes:
            self._refuse(f"{self._kind} of what? its first argument is a stream", self._call)
        self._stream_node = self._sizes.pop(0)
        least, most = _SIZES[self._kind]
        if not least <= len(self._sizes) <= most:
            self._refuse(f"{self._kind} has too few arguments, or too many", self._call)

    def _stream_among(self, streams: Mapping[str, StreamDefinition]) -> str:
        node = self._stream_node
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            self._refuse("a window is over a stream by its name", node)
        name = found(node.name, streams) if not node.table else None
        if name is None:
            reason = f"there is no stream {node.sql('duckdb')}"
            hint = did_you_mean(node.name, streams)
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
                f"create it with TIME (column), or write {self._kind}({self.stream}, …, "
                f"by => arrival) or rows({self.stream}, 1000)"
            )
            self._refuse(f"the stream {self.stream} has no time column", self._call, hint)
        return Axis.SOURCE

    def _rows(self) -> tuple[int, int]:
        sizes = [self._size(each) for each in self._sizes]
        counts = []
        for node, size in zip(self._sizes, sizes, strict=True):
            if size.is_interval:
                hint = f"for windows in time write hop({self.stream}, size, slide)"
                self._refuse("rows are counted, not timed", node, hint)
            counts.append(self._whole(size.amount, node, "rows"))
        return counts[0], counts[-1]

    def _length(self, node: exp.Expr, axis: Axis) -> int:
        size = self._size(node)
        if axis is Axis.ARRIVAL:
            if not size.is_interval:
                self._refuse("arrival is measured in time", node, _WRITE_INTERVAL)
            return self._whole(size.amount * MICROSECONDS, node, "microseconds")
        per_second = self._definition.units_per_second
        unit = str(self._definition.time_type)
        if per_second is None:
            if size.is_interval:
                hint = "write the size as a number of what the column counts"
                self._refuse(f"the time of {self.stream} is a number, not a time", node, hint)
            return self._whole(size.amount, node, f"the unit of {unit}")
        if not size.is_interval and unit not in {"double", "float"}:
            self._refuse(f"the time of {self.stream} is a {unit}", node, _WRITE_INTERVAL)
        return self._whole(size.amount * per_second, node, f"the unit of {unit}")

    def _size(self, node: exp.Expr) -> WindowSize:
        try:
            return constant_size(node)
        except NotConstantError as error:
            self._refuse(str(error), node)

    def _whole(self, amount: Fraction, node: exp.Expr, unit: str) -> int:
        if amount <= 0:
            self._refuse("the size and the slide of a window are greater than zero", node)
        if amount.denominator != 1:
            self._refuse(f"this is not a whole number of {unit}", node)
        if amount > LONGEST_SIZE:
            self._refuse("this is longer than windows can be", node)
        return int(amount)

    def _check_slide(self, clause: WindowClause) -> None:
        slide = self._sizes[-1]
        if clause.slide > clause.size:
            hint = "make the slide no longer than the size, and filter what you do not want"
            self._refuse("windows would leave out what lies between them", slide, hint)
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
            rows = self._whole(size.amount, node, "rows")
        per = self._definition.key
        if (node := self._named.get("per")) is not None:
            per = self._columns(node)
        axis = Axis.ROWS if self._definition.time is None else Axis.SOURCE
        return WindowClause(self._kind, self.stream, axis, rows=rows, per=per)

    def _columns(self, node: exp.Expr) -> tuple[str, ...]:
        node = node.unnest()
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


def _is_nested(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(kind))
