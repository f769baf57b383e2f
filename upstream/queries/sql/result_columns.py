"""The stream of a query's results: its columns, its key and its time.

The columns are those of the result. Results of windows have the end of their window as time: a
column that the user names as the time, the column `window_end` of the result, or otherwise a column
of this name that is added. Results without windows have the time that CREATE STREAM would choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Never

import pyarrow as pa

from ...errors import (
    ParameterError,
    QueryError,
    QueryTypeError,
    StatementError,
    UnknownColumnError,
)
from ...rows.stream_definition import StreamDefinition
from ...rows.stream_times import is_time_type
from ...rows.type_names import type_name
from .names import did_you_mean, found, is_reserved, reserved
from .window_bounds import WINDOW_END


@dataclass(frozen=True, slots=True)
class NamedAt:
    """A name that the user wrote, and where, if it is in a text."""

    name: str
    place: int | None = None


@dataclass(frozen=True, slots=True)
class ResultsInto:
    """The stream to which a query's results are to be appended, as the user wrote it.

    With `deletes`, a key that is no longer in the result is deleted from the stream. `text` is the
    statement, and `place` where it names the stream.
    """

    name: str
    key: tuple[NamedAt, ...] = ()
    time: NamedAt | None = None
    deletes: bool = False
    text: str = ""
    place: int | None = None

    def refuse(
        self, kind: type[QueryError], reason: str, hint: str, at: NamedAt | None = None
    ) -> Never:
        """Raise an error at a name, or otherwise at the name of the stream."""
        raise kind(reason, self.text, self.place if at is None else at.place, hint)


def results_into(name: str, key: Sequence[str], time: str | None, *, deletes: bool) -> ResultsInto:
    """Return where results go by arguments; raise ParameterError if these are not names."""
    if not (isinstance(name, str) and name):
        raise ParameterError("into", name, "a string that is not empty")
    if isinstance(key, str) or not all(isinstance(each, str) for each in key):
        raise ParameterError("key", key, "a sequence of names of columns")
    if len({each.lower() for each in key}) < len(key):
        raise ParameterError("key", key, "names of different columns")
    if time is not None and not isinstance(time, str):
        raise ParameterError("time", time, "the name of a column")
    if not isinstance(deletes, bool):
        raise ParameterError("deletes", deletes, "true or false")
    at = None if time is None else NamedAt(time)
    return ResultsInto(name, tuple(NamedAt(each) for each in key), at, deletes)


def stream_of_results(
    into: ResultsInto, result: pa.Schema, bound: pa.DataType | None
) -> StreamDefinition:
    """Return the definition of the stream; raise QueryError if the results cannot be its rows.

    `bound` is the type of the bounds of the query's windows, or None if it has none.
    """
    _check_names(into, result)
    schema = pa.schema([pa.field(each.name, _stored(each.type)) for each in result])
    if bound is not None and into.time is None:
        end = found(WINDOW_END, schema.names)
        if end is None:
            schema = schema.append(pa.field(WINDOW_END, bound))
        elif schema.field(end).type != bound:
            reason = f"the column {end} of the result is not the end of the window"
            into.refuse(QueryTypeError, reason, "give it another name with AS, or write TIME (…)")
    elif bound is not None and into.time is not None and _is_added(into.time, schema):
        schema = schema.append(pa.field(WINDOW_END, bound))
    key = tuple(_column(into, each, schema) for each in into.key)
    for named, column in zip(into.key, key, strict=True):
        if pa.types.is_nested(schema.field(column).type):
            reason = "a key column cannot have a nested type"
            into.refuse(QueryTypeError, reason, "use its parts as columns", named)
    return StreamDefinition(into.name, schema, key, _time(into, schema, bound))


def time_of(name: str, schema: pa.Schema) -> str | None:
    """Return the time column if none was named: the only timestamp, or the one named `time`.

    None if there is no timestamp. Raises ValueError with a reason if there are several.
    """
    stamps = [field.name for field in schema if pa.types.is_timestamp(field.type)]
    time = stamps[0] if len(stamps) == 1 else found("time", stamps)
    if stamps and time is None:
        raise ValueError(f"which column is the time of {name}? {' and '.join(stamps)} could be")
    return time


def _check_names(into: ResultsInto, result: pa.Schema) -> None:
    names: list[str] = []
    for name in result.names:
        if found(name, names) is not None:
            reason = f"the result has two columns named {name}"
            into.refuse(StatementError, reason, "give one of them another name with AS")
        if is_reserved(name):
            into.refuse(StatementError, reserved(name), "choose another name with AS")
        if not name:
            reason = "a column of the result has an empty name"
            into.refuse(StatementError, reason, "give it a name with AS")
        names.append(name)


def _stored(kind: pa.DataType) -> pa.DataType:
    """Return the type in which a stream stores a column; an ENUM is stored as text."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_added(time: NamedAt, schema: pa.Schema) -> bool:
    return time.name.lower() == WINDOW_END and found(WINDOW_END, schema.names) is None


def _column(into: ResultsInto, named: NamedAt, schema: pa.Schema) -> str:
    column = found(named.name, schema.names)
    if column is None:
        reason = f"the result has no column named {named.name}"
        into.refuse(UnknownColumnError, reason, did_you_mean(named.name, schema.names), named)
    return column


def _time(into: ResultsInto, schema: pa.Schema, bound: pa.DataType | None) -> str | None:
    if into.time is not None:
        column = _column(into, into.time, schema)
        kind = schema.field(column).type
        if not is_time_type(kind):
            reason = f"{column} cannot be the time: it is a {type_name(kind)}"
            hint = "use a TIMESTAMP, a DATE, an integer, or seconds"
            into.refuse(QueryTypeError, reason, hint, into.time)
        return column
    if bound is not None:
        return found(WINDOW_END, schema.names)
    try:
        return time_of(into.name, schema)
    except ValueError as error:
        into.refuse(StatementError, str(error), "name it: TIME (column) before AS")
