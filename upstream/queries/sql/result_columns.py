"""The stream of a query's results: its columns, its key and its time.

The columns are those of the result. Results of windows have the end of their window as time: a
column that the user names as the time, the column `window_end` of the result, or otherwise a column
of this name that is added. Results without windows have the time that CREATE STREAM would choose.
"""

from __future__ import annotations

import pyarrow as pa

from ...errors import QueryTypeError, StatementError, UnknownColumnError
from ...rows.stream_definition import StreamDefinition
from ...rows.stream_times import is_time_type
from ...rows.type_names import type_name
from ..into import NamedAt, ResultsInto
from .names import did_you_mean, found, is_reserved, reserved
from .window_bounds import WINDOW_END


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


def times_in(schema: pa.Schema) -> list[str]:
    """Return the time column if none was named: the only timestamp, or the one named `time`.

    Without a timestamp there is none. Several are returned if any of them could be meant.
    """
    stamps = [field.name for field in schema if pa.types.is_timestamp(field.type)]
    named = found("time", stamps)
    return stamps if named is None or len(stamps) == 1 else [named]


def which_time(name: str, times: list[str]) -> str:
    """Return the reason why a time has to be named."""
    return f"which column is the time of {name}? {' and '.join(times)} could be"


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
    times = times_in(schema)
    if len(times) > 1:
        into.refuse(
            StatementError, which_time(into.name, times), f"write TIME ({times[0]}) before AS"
        )
    return times[0] if times else None
