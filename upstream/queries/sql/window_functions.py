"""Reads the window functions of a query, in the unit of each window's axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Never
from zoneinfo import ZoneInfo, available_timezones

import pyarrow as pa
from sqlglot import exp

from ...database.duck import Duck
from ...errors import UnknownColumnError, UnknownStreamError
from ...rows.group_codes import has_places
from ...rows.stream_definition import StreamDefinition
from ...rows.stream_times import is_time_type
from ...rows.type_names import type_name
from .dialect import DIALECT
from .epoch_arguments import condition_of, cut_of, pairing_of
from .names import did_you_mean, found
from .source_text import SourceText
from .window_arguments import WindowArguments
from .window_clause import MICROSECONDS, Axis, EpochCut, Unit, WindowClause, WindowKind
from .window_size import LONGEST_MONTHS, LONGEST_SIZE, WindowLengths

MOST_STEPS = 1_000_000
"""The greatest number of chunks in a window, since each is kept separately."""
_DEFAULT_ZONE: Final = "UTC"


def window_of_call(
    source: SourceText,
    call: exp.Anonymous,
    streams: Mapping[str, StreamDefinition],
    duck: Duck | None = None,
) -> WindowClause:
    """Return the window that a call of a window function asks for; raise WindowError if it cannot.

    With `duck`, the error distinguishes a table from a name that does not exist.
    """
    arguments = WindowArguments(source, call)
    return _WindowCall(arguments, streams[_stream_among(arguments, streams, duck)], duck).clause()


def _stream_among(
    arguments: WindowArguments, streams: Mapping[str, StreamDefinition], duck: Duck | None
) -> str:
    node = arguments.stream
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        arguments.refuse("the first argument of a window must be the name of a stream", node)
    name = found(node.name, streams) if not node.table else None
    if name is None:
        reason = f"there is no stream named {node.sql('duckdb')}"
        hint = did_you_mean(node.name, streams)
        if duck is not None and not node.table and duck.has_table(node.name):
            reason = f"{node.name} is a table, and a window needs a stream"
            hint = f"write FROM {node.name}, or join it with a window over a stream"
        arguments.refuse(reason, node, hint, UnknownStreamError)
    if streams[name].is_view:
        hint = f"write FROM {name}, or use the window where the view reads its stream"
        arguments.refuse(f"{name} is a view, and a window needs a stream", node, hint)
    return name


class _WindowCall:
    """A call of a window function with its stream."""

    def __init__(
        self, arguments: WindowArguments, definition: StreamDefinition, duck: Duck | None
    ) -> None:
        self._arguments = arguments
        self._definition = definition
        self._duck = duck
        self._clause = WindowClause(arguments.kind, definition.name, self._axis())
        self._lengths = WindowLengths(arguments, definition, self._clause.axis)

    def clause(self) -> WindowClause:
        """Return the window that the call asks for."""
        sizes = self._arguments.sizes()
        match self._clause.kind:
            case WindowKind.LATEST:
                is_one = self._arguments.get("rows") is None
                rows = 1 if is_one else self._lengths.count("rows")
                expire_after = self._expire_after()
                return replace(self._clause, rows=rows, per=self._per(), expire_after=expire_after)
            case WindowKind.ROWS:
                counts = [self._lengths.count(name) for name in sizes]
                return self._checked(size=counts[0], slide=counts[-1])
            case WindowKind.SESSION:
                return replace(self._clause, size=self._lengths.length("gap"), per=self._per())
            case WindowKind.LANDMARK:
                return replace(self._clause, slide=self._lengths.length("slide") if sizes else 0)
        self._clause = replace(self._clause, answers_empty=self._answers_empty())
        if self._clause.kind is WindowKind.EPOCHS:
            return self._epochs(sizes)
        return self._by_time(sizes)

    def _epochs(self, sizes: Sequence[str]) -> WindowClause:
        """Return epochs, of which the last ones are kept."""
        is_by_time = self._clause.axis is not Axis.ORDINAL
        one = self._by_time(sizes) if is_by_time else self._ordinal()
        keep = 1 if self._arguments.get("keep") is None else self._lengths.count("keep", "chunks")
        longest = LONGEST_MONTHS if one.unit is Unit.MONTHS else LONGEST_SIZE
        if keep > MOST_STEPS or keep * one.slide > longest:
            hint = "keep fewer chunks, and make each of them longer"
            self._arguments.refuse("keep is too large", self._arguments["keep"], hint)
        return replace(one, size=keep * one.slide, pairing=pairing_of(self._arguments))

    def _ordinal(self) -> WindowClause:
        """Return epochs that end by count, by object or by punctuation."""
        clause = replace(self._clause, size=1, slide=1)
        if self._arguments.get("rows") is not None:
            return replace(clause, rows=self._lengths.count("rows"))
        if self._arguments.get("by") is not None:
            return replace(clause, per=self._columns("by"))
        condition = condition_of(self._arguments, self._definition, self._duck)
        return replace(clause, condition=condition)

    def _by_time(self, sizes: Sequence[str]) -> WindowClause:
        """Return windows of a fixed length or of whole months."""
        if any(self._lengths.size(name).is_months for name in sizes):
            return self._calendar(sizes)
        return self._periodic(sizes)

    def _expire_after(self) -> float | None:
        """Return after how many seconds without a row a group leaves `latest`."""
        node = self._arguments.get("expire_after")
        if node is None:
            return None
        lengths = WindowLengths(self._arguments, self._definition, Axis.ARRIVAL)
        if not lengths.size("expire_after").is_interval:
            reason = "rows expire by their arrival, so expire_after must be a length of time"
            hint = f"write latest({self._definition.name}, expire_after => INTERVAL '10 minutes')"
            self._arguments.refuse(reason, node, hint)
        return lengths.length("expire_after") / MICROSECONDS

    # Periodic windows

    def _periodic(self, sizes: Sequence[str]) -> WindowClause:
        """Return windows of a fixed length, with an offset in [0, slide)."""
        if (zone := self._arguments.get("zone")) is not None:
            windows = f"{self._arguments.kind.noun}s"
            hint = f"shift other {windows} with offset, such as offset => INTERVAL '6 hours'"
            reason = f"zone applies to {windows} of months and years only"
            self._arguments.refuse(reason, zone, hint)
        lengths = [self._lengths.length(name) for name in sizes]
        offset = self._lengths.offset() % lengths[-1]
        return self._checked(size=lengths[0], slide=lengths[-1], offset=offset)

    def _calendar(self, sizes: Sequence[str]) -> WindowClause:
        """Return windows of whole months, which begin at midnight of the first day of a month."""
        self._check_calendar(sizes[0])
        months = [self._lengths.months(name) for name in sizes]
        offset, zone = self._lengths.offset_in_month(), self._zone()
        self._clause = replace(self._clause, unit=Unit.MONTHS, zone=zone)
        return self._checked(size=months[0], slide=months[-1], offset=offset)

    def _check_calendar(self, size: str) -> None:
        """Refuse months for a time column that has no calendar."""
        if self._clause.axis is not Axis.SOURCE:
            return
        kind = self._definition.time_type
        if not (pa.types.is_timestamp(kind) or pa.types.is_date32(kind)):
            stream = self._definition.name
            windows = f"{self._arguments.kind.noun}s"
            reason = (
                f"{windows} of months need a TIMESTAMP or a DATE, and the time of {stream} is a "
            )
            hint = f"write the {size} as a number, or by => arrival"
            self._arguments.refuse(reason + type_name(kind), self._arguments[size], hint)

    def _zone(self) -> str:
        """Return the time zone in which months begin."""
        node = self._arguments.get("zone")
        if node is None:
            return _DEFAULT_ZONE
        if not isinstance(node, exp.Literal) or not node.is_string:
            hint = "write zone => 'Europe/Berlin'"
            self._arguments.refuse("a time zone is named by a string", node, hint)
        by_time = self._clause.axis is Axis.SOURCE
        if by_time and pa.types.is_date32(self._definition.time_type):
            reason = f"the days of {self._definition.name} are the same in every time zone"
            self._arguments.refuse(reason, node, "leave the zone out")
        if not _is_zone(node.this):
            hint = did_you_mean(node.this, available_timezones())
            self._arguments.refuse(f"there is no time zone named {node.this}", node, hint)
        return str(node.this)

    def _checked(self, *, size: int, slide: int, offset: int = 0) -> WindowClause:
        clause = replace(self._clause, size=size, slide=slide, offset=offset)
        steps = clause.size // clause.step
        if steps > MOST_STEPS:
            node = self._arguments[self._arguments.sizes()[-1]]
            hint = "choose a slide that has a larger common divisor with the size"
            self._arguments.refuse(f"a window would consist of {steps:,} chunks", node, hint)
        return clause

    def _answers_empty(self) -> bool:
        node = self._arguments.get("empty")
        if node is None:
            return False
        if not isinstance(node, exp.Boolean):
            self._arguments.refuse("empty must be true or false", node)
        return bool(node.this)

    def _axis(self) -> Axis:
        """Return the axis of the window."""
        by, time = self._arguments.get("by"), self._definition.time
        kind, stream = self._arguments.kind, self._definition.name
        is_epochs = kind is WindowKind.EPOCHS
        if kind is WindowKind.ROWS:
            return Axis.ROWS
        if is_epochs and cut_of(self._arguments, self._definition) != EpochCut.TIME:
            return Axis.ORDINAL
        is_asked_for = not self._arguments.sizes() and by is None  # whenever results are requested
        if is_asked_for and (kind is WindowKind.LATEST or time is None):
            return Axis.ROWS if time is None else Axis.SOURCE
        self._check_time_column()
        if by is not None:
            name = by.name.lower() if isinstance(by, exp.Column | exp.Literal) else ""
            if name == Axis.ARRIVAL:
                return Axis.ARRIVAL
            if name != (time or "").lower() or not name:
                reason = f"{kind.noun}s use the stream's time column, or by => arrival"
                hint = f"write by => {time}, or by => arrival" if time else "write by => arrival"
                if is_epochs:
                    hint = "leave the length out for epochs of one value"
                self._arguments.refuse(reason, by, hint)
        if time is None:
            rows = f"epochs({stream}, rows => 1000)" if is_epochs else f"rows({stream}, 1000)"
            hint = (
                f"create it with {self._time_clause()}, or write {kind}({stream}, …, "
                f"by => arrival) or {rows}"
            )
            self._arguments.refuse(f"the stream {stream} has no time column", None, hint)
        return Axis.SOURCE

    def _check_time_column(self) -> None:
        """Refuse a time column, named as in other engines, that is not the stream's."""
        node, time = self._arguments.time(), self._definition.time
        if node is None or time is None:
            return
        if not isinstance(node, exp.Column) or node.name.lower() != time.lower():
            stream = self._definition.name
            reason = f"the time column of {stream} is {time}, and windows use no other"
            hint = f"write {time} there, or create the stream with TIME ({node.name or 'column'})"
            self._arguments.refuse(reason, node, hint)

    def _time_clause(self) -> str:
        """Return the clause that gives the stream a time column."""
        able = [field.name for field in self._definition.schema if is_time_type(field.type)]
        return f"TIME ({found('time', able) or 'column'})"

    def _per(self) -> tuple[str, ...]:
        """Return the columns of the groups: the key of the stream, if none are named."""
        if (node := self._arguments.get("per")) is None:
            return self._definition.key
        node = node.unnest()
        is_word = isinstance(node, exp.Column) and not node.table and node.name.lower() == "key"
        if is_word and self._definition.column_named("key") is None:
            return self._definition.key
        return self._columns("per")

    def _columns(self, name: str) -> tuple[str, ...]:
        """Return the columns that an argument names."""
        node = self._arguments[name].unnest()
        parts = node.expressions if isinstance(node, exp.Tuple | exp.Array) else [node]
        columns: list[str] = []
        for part in parts:
            column = self._column(name, part.unnest())
            if column in columns:
                self._arguments.refuse(f"{column} is named twice", part.unnest())
            columns.append(column)
        if name == "by" and not columns:
            self._refuse_columns(name, self._arguments[name])
        return tuple(columns)

    def _column(self, name: str, part: exp.Expr) -> str:
        if not isinstance(part, exp.Column) or not isinstance(part.this, exp.Identifier):
            self._refuse_columns(name, part)
        column = self._definition.column_named(part.name)
        if column is None:
            reason = f"the stream {self._definition.name} has no column {part.name}"
            hint = did_you_mean(part.name, self._definition.schema.names)
            self._arguments.refuse(reason, part, hint, UnknownColumnError)
        kind = self._definition.schema.field(column).type
        what = "epochs cannot be cut" if name == "by" else "rows cannot be grouped"
        if pa.types.is_nested(kind):
            self._arguments.refuse(f"{what} by {column}: it has a nested type", part)
        if name == "by" and not has_places(kind):
            self._arguments.refuse(f"{what} by {column}: it is of type {type_name(kind)}", part)
        return column

    def _refuse_columns(self, name: str, part: exp.Expr) -> Never:
        """Refuse what is not a column, and name columns that the stream has."""
        schema = self._definition.schema
        able = [each.name for each in schema if has_places(each.type)]
        meant = found(part.name, able) if isinstance(part, exp.Literal) else None
        columns = [
            exp.to_identifier(each).sql(DIALECT) for each in ([meant] if meant else able[:2])
        ]
        forms = [f"{name} => {column}" for column in columns[:1]]
        forms += [f"{name} => ({', '.join(columns)})"] if len(columns) > 1 else []
        hint = f"write {', or '.join(forms)}" if forms else ""
        self._arguments.refuse(f"{name} must be a column, or several in brackets", part, hint)


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # a folder of zones, a path, or an unknown name
        return False
    return True
