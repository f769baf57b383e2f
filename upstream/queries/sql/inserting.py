"""The rows of `INSERT INTO stream`: a query of DuckDB, conformed to the stream.

Texts are converted to the types of the stream, as in SQL (`'2026-01-01 00:00:00'` is a TIMESTAMP).
Numbers must fit without a change: `INSERT` would round 1.7 to an INTEGER, and a stream refuses it.

Rows that consist of literals need no statement of DuckDB, which would take ten times as long as
everything else. Only literals are read here that cannot be misread: integers and decimals in
digits, texts, TRUE, FALSE and NULL, and times in the one form `2026-01-02 09:30:00`. Everything
else, and what does not fit the stream, is left to DuckDB, which finds the error and its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import dropwhile
from typing import Final

import pyarrow as pa
from sqlglot import TokenType, exp

from ...database.duck import Duck
from ...database.failure import DatabaseError
from ...errors import (
    QueryTypeError,
    StatementError,
    StreamTypeError,
    UnknownColumnError,
)
from ...rows.conforming import first_that_fails, may_become
from ...rows.stream_definition import StreamDefinition
from ...tables.relation import Relation
from .checking import refuse
from .defining import types_of
from .lending import run_once
from .names import did_you_mean
from .source_text import SourceText, end_of_brackets, lowered, places_in_brackets, words_of
from .statement import InsertInto, ParsedQuery
from .trees import place_of, stream_read

_REFUSED = ("alternative", "conflict", "returning", "overwrite", "ignore", "where", "default")
Value = str | int | Decimal | bool | None

_WHOLE: Final = re.compile(r"\d{1,18}", re.ASCII)
_DECIMAL: Final = re.compile(r"\d{1,18}\.\d{1,18}", re.ASCII)
_DAY: Final = re.compile(r"[1-9]\d{3}-\d\d-\d\d", re.ASCII)
_MOMENT: Final = re.compile(r"[1-9]\d{3}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d{1,6})?)?", re.ASCII)


def rows_to_insert(
    insert: InsertInto, definition: StreamDefinition, duck: Duck, streams: Mapping[str, Relation]
) -> pa.Table:
    """Return the rows of an INSERT, conformed; its query may read `streams`."""
    plain = rows_of_literals(insert, definition)
    if plain is not None:
        return plain
    rows = _rows_of(insert, _query_of(insert), duck, streams)
    names = _columns_of(insert, definition, rows)
    columns = []
    fields = [definition.schema.field(name) for name in names]
    for i, (column, field) in enumerate(zip(rows.columns, fields, strict=True)):
        if column.type != field.type and _is_read_anew(column, field.type):
            column = _cast(insert, i, column, field, duck)
        columns.append(column)

    try:
        return definition.conform(pa.Table.from_arrays(columns, names=names))
    except StreamTypeError as error:
        number = names.index(error.column) if error.column in names else None
        place = place_of_value(insert, error.row or 0, number)
        colon = "" if error.reason.startswith("is ") else ":"
        reason = f"column {error.column}{colon} {error.reason}"
        raise QueryTypeError(reason, insert.text, place, "no row was accepted") from error


def _query_of(insert: InsertInto) -> exp.Query:
    """Return the query of an INSERT, including what stands before the INSERT."""
    refused = [name for name in _REFUSED if insert.tree.args.get(name)]
    if refused or insert.query is None:
        hint = "a newer row replaces the older one; write INSERT INTO … VALUES or SELECT"
        reason = "this form of INSERT is not supported for streams"
        raise StatementError(reason, insert.text, insert.place, hint)
    query = insert.query.copy()
    if isinstance(query, exp.Values):
        query.set("alias", exp.TableAlias(this=exp.to_identifier("given")))
        return exp.select("*").from_(query)
    if not isinstance(query, exp.Query):
        reason = "an INSERT into a stream needs VALUES or a query"
        raise StatementError(reason, insert.text, insert.place)
    names = insert.tree.args.get("with_")
    if names is not None and not query.args.get("with_"):
        query.set("with_", names.copy())
    return query


def _rows_of(
    insert: InsertInto, query: exp.Query, duck: Duck, streams: Mapping[str, Relation]
) -> pa.Table:
    text = _text_of_query(insert)
    words = words_of(text)
    tables = {name: each.scan() for name, each in streams.items() if name.lower() in words}
    lent = {
        each.name: tables[name]
        for each in query.find_all(exp.Table)
        if (name := stream_read(each, tables)) is not None
    }

    def answer(query: exp.Query) -> pa.Table:
        return run_once(duck, query, lent)

    parsed = ParsedQuery(insert.text, query, ())
    try:
        return duck.run_as_written(text, tables)
    except DatabaseError as error:
        refuse(parsed, str(error), answer, {}, duck, place=insert.place)


def _columns_of(insert: InsertInto, definition: StreamDefinition, rows: pa.Table) -> list[str]:
    """Return the columns of the stream that the columns of the rows are for."""
    written = insert.columns
    if insert.tree.args.get("by_name"):
        written = tuple(rows.schema.names)
    if written is None:
        written = tuple(definition.schema.names)
    names: list[str] = []
    for i, each in enumerate(written):
        column = definition.column_named(each)
        if column is None:
            reason = f"the stream {definition.name} has no column {each}"
            hint = did_you_mean(each, definition.schema.names)
            raise UnknownColumnError(reason, insert.text, _place_of_column(insert, i), hint)
        if column in names:
            reason = f"the column {column} is named twice"
            raise StatementError(reason, insert.text, _place_of_column(insert, i))
        names.append(column)
    if len(names) != rows.num_columns:
        reason = f"{rows.num_columns} values are given for {len(names)} columns"
        hint = f"name the columns: INSERT INTO {definition.name} ({', '.join(names)})"
        raise QueryTypeError(reason, insert.text, insert.place, hint)
    return names


def _place_of_column(insert: InsertInto, number: int) -> int:
    target = insert.tree.this
    place = place_of(target.expressions[number]) if isinstance(target, exp.Schema) else None
    return insert.place if place is None else place


def _is_read_anew(column: pa.ChunkedArray, wanted: pa.DataType) -> bool:
    """Tell whether SQL reads a column as another type: a text, a day, or only NULLs."""
    types = pa.types
    if column.null_count == len(column):
        return True
    if types.is_date(column.type) and types.is_timestamp(wanted):
        return True
    if types.is_timestamp(column.type) and types.is_timestamp(wanted):
        return (column.type.tz is None) != (wanted.tz is None)  # such as now() for a TIMESTAMP
    return types.is_string(column.type) and not may_become(column.type, wanted)


def _cast(
    insert: InsertInto, number: int, column: pa.ChunkedArray, field: pa.Field, duck: Duck
) -> pa.ChunkedArray:

    given = pa.Table.from_arrays([column], names=["given"])
    [kind] = types_of(pa.schema([field]), duck)
    wanted = exp.DataType.build(kind, dialect="duckdb")
    query = exp.select(exp.cast(exp.column("given"), wanted)).from_("rows_given")

    def cast(rows: pa.Table) -> pa.ChunkedArray:
        return run_once(duck, query, {"rows_given": rows}).column(0)

    try:
        return cast(given)
    except DatabaseError as error:
        row = first_that_fails(given, cast, DatabaseError)
        place = place_of_value(insert, row or 0, number)
        said = str(error).partition("\n")[0].partition(": ")[2].partition(" when casting from")[0]
        reason = f"column {field.name}: {lowered(said)}"
        raise QueryTypeError(reason, insert.text, place, "no row was accepted") from None


# Places in the text


def _text_of_query(insert: InsertInto) -> str:
    """Return the text of the inserted query, with the WITH before it, in its place."""
    tokens = SourceText(insert.text).one_statement()
    into = next(i for i, token in enumerate(tokens) if token.start >= insert.place)
    first = next(i for i in range(into, -1, -1) if tokens[i].token_type == TokenType.INSERT)
    query = into + 1
    if insert.columns is not None:
        query = end_of_brackets(tokens, query)
    if tokens[query].text.upper() == "BY":  # the BY of BY NAME or BY POSITION
        query += 2
    before, start, end = tokens[first].start, tokens[query].start, tokens[-1].end + 1
    return insert.text[:before] + " " * (start - before) + insert.text[start:end]


def place_of_value(insert: InsertInto, row: int, column: int | None) -> int:
    """Return where a value begins; outside VALUES, where the stream is named."""
    if column is None or not isinstance(insert.query, exp.Values):
        return insert.place
    tokens = [token for token in SourceText(insert.text).tokens if token.start >= insert.place]
    rows = places_in_brackets(
        [*dropwhile(lambda each: each.token_type != TokenType.VALUES, tokens)]
    )
    is_there = row < len(rows) and column < len(rows[row])
    return rows[row][column] if is_there else insert.place


# Literals


class _NotPlainError(Exception):
    """There is more than literals."""


def rows_of_literals(insert: InsertInto, definition: StreamDefinition) -> pa.Table | None:
    """Return the rows, conformed; None if DuckDB has to read them."""
    tree = insert.query
    if not isinstance(tree, exp.Values) or _parts(tree) != {"expressions"}:
        return None
    if _parts(insert.tree) != {"this", "expression"}:
        return None
    written = definition.schema.names if insert.columns is None else insert.columns
    names = [definition.column_named(name) for name in written]
    try:
        rows = [_row(row, len(names)) for row in tree.expressions]
        columns = [
            _column(values, definition, name)
            for name, values in zip(names, zip(*rows, strict=True), strict=True)
        ]
        return definition.conform(pa.table(columns, names=names))
    except (_NotPlainError, StreamTypeError, pa.ArrowException):
        return None


def _parts(node: exp.Expr) -> set[str]:
    return {name for name, value in node.args.items() if value}


def _row(row: exp.Expr, count: int) -> Sequence[Value]:
    if not isinstance(row, exp.Tuple) or len(row.expressions) != count:
        raise _NotPlainError
    return [_value(each) for each in row.expressions]


def _value(node: exp.Expr) -> Value:
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Neg):
        value = _value(node.this)
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return -value
    elif type(node) is exp.Literal:
        text: str = node.this
        if node.is_string:
            return text
        if _WHOLE.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text):
            return Decimal(text)
    raise _NotPlainError


def _column(values: Sequence[Value], definition: StreamDefinition, name: str | None) -> pa.Array:
    """Return values with the type that DuckDB would give them; all are of one kind."""
    if name is None or len({type(value) for value in values} - {type(None)}) > 1:
        raise _NotPlainError
    kind = definition.schema.field(name).type
    texts = [value for value in values if isinstance(value, str)]
    if texts and not pa.types.is_string(kind):
        form = _MOMENT if pa.types.is_timestamp(kind) and kind.tz is None else None
        form = _DAY if pa.types.is_date32(kind) else form
        if form is None or not all(form.fullmatch(text) for text in texts):
            raise _NotPlainError
    return pa.array(values)
