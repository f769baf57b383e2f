"""Parses one statement: its kind, and its parts.

CREATE STREAM is CREATE TABLE followed by two clauses. The tokens before the clauses are parsed as
CREATE TABLE, by the parser that knows all of DuckDB's types. CREATE FOREIGN TABLE … SERVER stream
(section 3.6 of the views paper) is CREATE STREAM in other words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from ...database.duck import Duck
from ...errors import QuerySyntaxError, StatementError
from ..into import NamedAt, ResultsInto
from .dialect import DIALECT
from .names import found, is_reserved, reserved
from .options import options_in
from .same_reading import difference
from .source_text import SourceText
from .statement import (
    CreateStream,
    CreateStreamAs,
    DropStream,
    InsertInto,
    OptionValue,
    OtherStatement,
    Statement,
)
from .token_reader import TokenReader
from .trees import place_of
from .view_statements import view_statement

_FORM = "write CREATE STREAM trades (time TIMESTAMP, symbol TEXT) KEY (symbol) TIME (time)"
_FORM_OF_AS = "write CREATE STREAM means KEY (symbol) AS SELECT symbol, avg(price) AS mean FROM …"
_CLAUSES_OF_AS: Final = ("KEY", "TIME", "WITH")
_FOREIGN_FORM = "write CREATE FOREIGN TABLE trades (time TIMESTAMP, symbol TEXT) SERVER stream"
_DROP_FORM = "write DROP STREAM trades, or DROP STREAM IF EXISTS trades"


def parse(text: str, duck: Duck) -> Statement:
    """Parse one statement.

    Raise QuerySyntaxError with the place if DuckDB cannot read it either.
    """
    source = SourceText(text)
    tokens, is_foreign = _without_foreign(source.one_statement())
    words = [token.text.upper() for token in tokens[:4]]
    if words[:2] == ["CREATE", "STREAM"] or words == ["CREATE", "OR", "REPLACE", "STREAM"]:
        return _create(source, tokens, words.index("STREAM"), is_foreign=is_foreign)
    if words[:2] == ["DROP", "STREAM"]:
        return _drop(source, tokens)
    if (about_view := view_statement(source, tokens)) is not None:
        return about_view
    return parse_as_duckdb(text, duck)


def parse_as_duckdb(text: str, duck: Duck) -> InsertInto | OtherStatement:
    """Parse a statement that DuckDB can run, unless it inserts into a stream."""
    source = SourceText(text)
    tokens = source.one_statement()
    try:
        tree = source.parse(tokens)
    except QuerySyntaxError:
        if not source.type_for_duckdb(duck):
            raise
        return OtherStatement(text, None)
    if isinstance(tree, exp.Insert) and (insert := _insert(source, tree)) is not None:
        return insert
    is_exact = isinstance(tree, exp.Query) and _is_exact(source, tree, duck)
    return OtherStatement(text, tree, is_exact)


def _is_exact(source: SourceText, tree: exp.Expr, duck: Duck) -> bool:
    """Tell whether DuckDB reads a text as sqlglot does."""
    try:
        written = tree.sql(DIALECT)
        return difference(source.text, written, duck, for_duckdb=source.for_duckdb) is None
    except (SqlglotError, ValueError, RecursionError):
        return False


def _insert(source: SourceText, tree: exp.Insert) -> InsertInto | None:
    """Return an INSERT in parts, unless its target is not just a name."""
    target = tree.this
    columns = None
    if isinstance(target, exp.Schema):
        columns = tuple(column.name for column in target.expressions)
        target = target.this
    if not isinstance(target, exp.Table) or target.db or not target.name:
        return None
    query = tree.expression
    place = place_of(target) or 0
    return InsertInto(source.text, target.name, columns, query, tree, place)


def _drop(source: SourceText, tokens: list[Token]) -> DropStream:
    reader = TokenReader(source, tokens, 2, _DROP_FORM)
    if_exists = reader.skip("IF", "EXISTS")
    place = reader.place
    name = reader.name("the name of a stream")
    if not reader.is_at_end:
        reader.refuse("expected the end of the statement")
    return DropStream(source.text, name, if_exists, place)


def _without_foreign(tokens: list[Token]) -> tuple[list[Token], bool]:
    """Return the tokens with STREAM in place of FOREIGN TABLE, and whether that was there."""
    words = [token.text.upper() for token in tokens[:5]]
    for before in (["CREATE"], ["CREATE", "OR", "REPLACE"], ["DROP"]):
        at = len(before)
        if words[: at + 2] == [*before, "FOREIGN", "TABLE"]:
            start, end = tokens[at].start, tokens[at + 1].end
            stream = Token(TokenType.VAR, "STREAM", start=start, end=end)
            return [*tokens[:at], stream, *tokens[at + 2 :]], True
    return tokens, False


def _create(
    source: SourceText, tokens: list[Token], stream: int, *, is_foreign: bool
) -> CreateStream | CreateStreamAs:
    reader = TokenReader(source, tokens, stream + 1, _FOREIGN_FORM if is_foreign else _FORM)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    if if_not_exists and stream == 3:
        reader.refuse("OR REPLACE and IF NOT EXISTS cannot be combined")
    place = reader.place
    name = reader.name("the name of a stream")
    if not is_foreign and any(reader.comes(word) for word in ("AS", *_CLAUSES_OF_AS)):
        into = ResultsInto(name, text=source.text, place=place)
        statement = _create_as(source, reader, into)
        return replace(statement, or_replace=stream == 3, if_not_exists=if_not_exists)
    columns_from = reader.index
    reader.skip_brackets("the columns of the stream")
    table = [*tokens[: reader.index]]
    keyword = Token(TokenType.TABLE, "TABLE", start=table[stream].start, end=table[stream].end)
    table[stream] = keyword
    columns = _columns(source, table, tokens[columns_from].start)
    names = [column.name for column in columns]
    clauses = _clauses(reader, names, is_foreign=is_foreign)
    time = clauses.get("TIME", [])
    return CreateStream(
        text=source.text,
        name=name,
        columns=columns,
        key=tuple(clauses.get("KEY", ())),
        time=time[0] if time else None,
        or_replace=stream == 3,
        if_not_exists=if_not_exists,
        place=place,
    )


def _create_as(source: SourceText, reader: TokenReader, into: ResultsInto) -> CreateStreamAs:
    """Return a stream of a query's results; `KEY`, `TIME` and `WITH` come before `AS`."""
    reader.form = _FORM_OF_AS
    clauses: dict[str, list[NamedAt]] = {}
    options: dict[str, tuple[OptionValue, int]] = {}
    while not reader.skip("AS"):
        clause = next((each for each in _CLAUSES_OF_AS if reader.skip(each)), None)
        if clause is None or clause in clauses or (clause == "WITH" and options):
            reader.refuse("expected KEY (columns), TIME (column) and WITH (options), and then AS")
        if clause == "WITH":
            options = options_in(source, reader)
        else:
            clauses[clause] = reader.names_at("the names of columns")
    if reader.is_at_end:
        reader.refuse("expected a query")
    time = clauses.get("TIME", [])
    if len(time) > 1:
        reader.refuse("a stream can have only one time column")
    into = replace(into, key=tuple(clauses.get("KEY", ())), time=time[0] if time else None)
    return CreateStreamAs(source.text, into, options, reader.rest())


def _clauses(reader: TokenReader, names: list[str], *, is_foreign: bool) -> dict[str, list[str]]:
    """Read the clauses after the columns, in any order."""
    clauses: dict[str, list[str]] = {}
    known = ("KEY", "TIME", "SERVER") if is_foreign else ("KEY", "TIME")
    while not reader.is_at_end:
        clause = next((each for each in known if reader.skip(each)), None)
        if clause is None or clause in clauses:
            server = "SERVER stream, " if is_foreign else ""
            reader.refuse(f"expected {server}KEY (columns) and TIME (column), once each")
        clauses[clause] = _server(reader) if clause == "SERVER" else reader.names(names)
    if is_foreign and "SERVER" not in clauses:
        reader.refuse("expected SERVER stream")
    if len(clauses.get("TIME", [])) > 1:
        reader.refuse("a stream can have only one time column")
    return clauses


def _server(reader: TokenReader) -> list[str]:
    if not reader.skip("STREAM"):
        reader.refuse("the only server is named stream")
    return ["stream"]


def _columns(source: SourceText, table: list[Token], place: int) -> tuple[exp.ColumnDef, ...]:
    """Return the definitions of columns, which may contain only names and types."""
    tree = source.parse(table)
    schema = tree.this
    columns: list[exp.ColumnDef] = []
    for column in schema.expressions if isinstance(schema, exp.Schema) else []:
        at = place_of(column)
        at = place if at is None else at
        if not isinstance(column, exp.ColumnDef) or column.args.get("kind") is None:
            source.refuse(QuerySyntaxError, "a column needs a name and a type", at, _FORM)
        if not column.name:
            source.refuse(QuerySyntaxError, "a column needs a name that is not empty", at, _FORM)
        if column.args.get("constraints"):
            reason = f"column {column.name}: a stream cannot have constraints"
            hint = "key and time are never NULL; filter other rows in the query"
            source.refuse(StatementError, reason, at, hint)
        if found(column.name, [each.name for each in columns]):
            source.refuse(StatementError, f"column {column.name} is named twice", at)
        if is_reserved(column.name):
            source.refuse(StatementError, reserved(column.name), at, "choose another name")
        columns.append(column)
    if not columns:
        source.refuse(QuerySyntaxError, "a stream needs columns", place, _FORM)
    return tuple(columns)
