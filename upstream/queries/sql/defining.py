"""Turns CREATE STREAM into the definition of a stream, with the types of its columns in Arrow.

DuckDB decides what a type is, and whether it reads Arrow's type back as the same one. Rows of a
stream are Arrow tables, so a type that Arrow lacks would silently be another type in queries.
"""

from __future__ import annotations

from typing import Never

import pyarrow as pa
from sqlglot import exp

from ...database.duck import Duck
from ...database.failure import DatabaseError
from ...errors import QueryTypeError, StatementError
from ...rows.stream_definition import StreamDefinition
from ...rows.stream_times import is_time_type
from ...rows.type_names import type_name
from .lending import run_once
from .result_columns import times_in, which_time
from .source_text import lowered
from .statement import CreateStream
from .trees import place_of


def definition_of(create: CreateStream, duck: Duck) -> StreamDefinition:
    """Return the stream that a statement defines; raise QueryTypeError for an impossible type."""
    fields = []
    for column in create.columns:
        assert column.kind is not None  # otherwise it is not a definition
        wanted = exp.cast(exp.Null(), column.kind)
        try:
            declared = run_once(duck, exp.select(_typeof(wanted), wanted), {})
        except DatabaseError as error:
            reason = lowered(str(error).partition("\n")[0].partition(": ")[2])
            _refuse(create, column, reason, "use a type that DuckDB has")
        kind = declared.schema.field(1).type
        read_as = str(types_of(pa.schema([("a", kind)]), duck)[0])
        if pa.types.is_dictionary(kind) or read_as != declared[0][0].as_py():
            reason = f"a stream cannot have {declared[0][0]}: in queries it would be {read_as}"
            _refuse(create, column, reason, f"declare it as {read_as}")
        if column.name in create.key and pa.types.is_nested(kind):
            reason = "a key column cannot have a nested type"
            _refuse(create, column, reason, "use its parts as columns")
        fields.append(pa.field(column.name, kind))
    schema = pa.schema(fields)
    return StreamDefinition(create.name, schema, create.key, _time(create, schema))


def types_of(schema: pa.Schema, duck: Duck) -> list[str]:
    """Return the types that DuckDB reads for the types of an Arrow schema."""
    names = [f"c{i}" for i in range(len(schema))]
    columns = [pa.nulls(1, field.type) for field in schema]
    table = pa.Table.from_arrays(columns, names=names)
    query = exp.select(*(_typeof(exp.column(name)) for name in names)).from_("rows_of_types")
    return [str(column[0].as_py()) for column in run_once(duck, query, {"rows_of_types": table})]


def _typeof(value: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="typeof", expressions=[value.copy()])


def _time(create: CreateStream, schema: pa.Schema) -> str | None:
    """Return the time column: the declared one, or the only timestamp, or the one named `time`."""
    if create.time is not None:
        if not is_time_type(schema.field(create.time).type):
            column = next(each for each in create.columns if each.name == create.time)
            declared = type_name(schema.field(create.time).type)
            reason = f"{create.time} cannot be the time: it is a {declared}"
            _refuse(create, column, reason, "use a TIMESTAMP, a DATE, an integer, or seconds")
        return create.time
    times = times_in(schema)
    if len(times) > 1:
        hint = f"write TIME ({times[0]}) after the columns"
        raise StatementError(which_time(create.name, times), create.text, create.place, hint)
    return times[0] if times else None


def _refuse(create: CreateStream, column: exp.ColumnDef, reason: str, hint: str) -> Never:
    raise QueryTypeError(reason, create.text, place_of(column), hint) from None
