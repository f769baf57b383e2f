"""Parses one statement: its kind, and its parts.

CREATE STREAM is CREATE TABLE followed by two clauses. The tokens before the clauses are parsed as
CREATE TABLE, by the parser that knows all of DuckDB's types.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, Never

from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from ...database.duck import Duck
from ...errors import QuerySyntaxError, StatementError, UnknownColumnError
from ..into import NamedAt, ResultsInto
from .dialect import DIALECT
from .names import did_you_mean, found, is_reserved, reserved
from .same_reading import difference
from .source_text import SourceText
from .standing_options import options_in
from .statement import (
    CreateStream,
    CreateStreamAs,
    DropStream,
    InsertInto,
    OtherStatement,
    Statement,
)
from .trees import place_of

_FORM = "write CREATE STREAM trades (time TIMESTAMP, symbol TEXT) KEY (symbol) TIME (time)"
_FORM_OF_AS = "write CREATE STREAM means KEY (symbol) AS SELECT symbol, avg(price) AS mean FROM …"
_CLAUSES_OF_AS: Final = ("KEY", "TIME", "WITH")
_DROP_FORM = "write DROP STREAM trades, or DROP STREAM IF EXISTS trades"


def parse(text: str, duck: Duck) -> Statement:
    """Parse one statement.

    Raise QuerySyntaxError with the place if DuckDB cannot read it either.
    """
    source = SourceText(text)
    tokens = source.one_statement()
    words = [token.text.upper() for token in tokens[:4]]
    if words[:2] == ["CREATE", "STREAM"] or words == ["CREATE", "OR", "REPLACE", "STREAM"]:
        return _create(source, tokens, words.index("STREAM"))
    if words[:2] == ["DROP", "STREAM"]:
        return _drop(source, tokens)
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
    reader = _TokenReader(source, tokens, 2, _DROP_FORM)
    if_exists = reader.skip("IF", "EXISTS")
    place = reader.place
    name = reader.name("the name of a stream")
    if not reader.is_at_end:
        reader.refuse("expected the end of the statement")
    return DropStream(source.text, name, if_exists, place)


def _create(source: SourceText, tokens: list[Token], stream: int) -> CreateStream | CreateStreamAs:
    reader = _TokenReader(source, tokens, stream + 1, _FORM)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    if if_not_exists and stream == 3:
        reader.refuse("OR REPLACE and IF NOT EXISTS cannot be combined")
    place = reader.place
    name = reader.name("the name of a stream")
    if any(reader.comes(word) for word in ("AS", *_CLAUSES_OF_AS)):
        into = ResultsInto(name, text=source.text, place=place)
        statement = _create_as(source, tokens, reader, into)
        return replace(statement, or_replace=stream == 3, if_not_exists=if_not_exists)
    columns_from = reader.index
    reader.skip_brackets("the columns of the stream")
    table = [*tokens[: reader.index]]
    keyword = Token(TokenType.TABLE, "TABLE", start=table[stream].start, end=table[stream].end)
    table[stream] = keyword
    columns = _columns(source, table, tokens[columns_from].start)
    names = [column.name for column in columns]
    clauses: dict[str, list[str]] = {}
    while not reader.is_at_end:
        clause = next((each for each in ("KEY", "TIME") if reader.skip(each)), None)
        if clause is None or clause in clauses:
            reader.refuse("expected KEY (columns) and TIME (column), once each")
        clauses[clause] = reader.names(names)
    time = clauses.get("TIME", [])
    if len(time) > 1:
        reader.refuse("a stream can have only one time column")
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


def _create_as(
    source: SourceText, tokens: list[Token], reader: _TokenReader, into: ResultsInto
) -> CreateStreamAs:
    """Return a stream of a query's results; `KEY`, `TIME` and `WITH` come before `AS`."""
    reader.form = _FORM_OF_AS
    clauses: dict[str, list[NamedAt]] = {}
    options = None
    while not reader.skip("AS"):
        clause = next((each for each in _CLAUSES_OF_AS if reader.skip(each)), None)
        if clause is None or clause in clauses or (clause == "WITH" and options is not None):
            reader.refuse("expected KEY (columns), TIME (column) and WITH (options), and then AS")
        if clause == "WITH":
            start = reader.index
            reader.skip_brackets("options")
            options = options_in(source, tokens[start : reader.index])
        else:
            clauses[clause] = reader.names_at()
    if reader.is_at_end:
        reader.refuse("expected a query")
    time = clauses.get("TIME", [])
    if len(time) > 1:
        reader.refuse("a stream can have only one time column")
    before = re.sub(r"[^\n]", " ", source.text[: reader.place])
    return CreateStreamAs(
        text=source.text,
        into=replace(into, key=tuple(clauses.get("KEY", ())), time=time[0] if time else None),
        options=options or (),
        query=before + source.text[reader.place :],
        or_replace=False,
        if_not_exists=False,
    )


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


def _is_name(token: Token) -> bool:
    if token.token_type == TokenType.IDENTIFIER:  # a quoted name
        return True
    return token.text.isidentifier() and token.token_type != TokenType.STRING


class _TokenReader:
    """Reads our own grammar, token by token."""

    def __init__(self, source: SourceText, tokens: list[Token], index: int, form: str) -> None:
        self._source = source
        self._tokens = tokens
        self.form = form
        self.index = index

    @property
    def is_at_end(self) -> bool:
        return self.index >= len(self._tokens)

    @property
    def place(self) -> int:
        """Where the next token begins, or where the text ends."""
        if self.is_at_end:
            return self._tokens[-1].end + 1
        return int(self._tokens[self.index].start)

    def comes(self, *words: str) -> bool:
        """Tell whether these words come next, not as a quoted name."""
        following = self._tokens[self.index : self.index + len(words)]
        if any(token.token_type == TokenType.IDENTIFIER for token in following):
            return False
        return [token.text.upper() for token in following] == [*words]

    def skip(self, *words: str) -> bool:
        """Skip these words, if they come next."""
        if not self.comes(*words):
            return False
        self.index += len(words)
        return True

    def name(self, what: str) -> str:
        """Read a name, quoted or not."""
        if self.is_at_end or not _is_name(self._tokens[self.index]):
            self.refuse(f"expected {what}")
        name = str(self._tokens[self.index].text)
        if not name:
            self.refuse(f"expected {what}, which must not be empty")
        if is_reserved(name):
            self.refuse(reserved(name))
        self.index += 1
        return name

    def skip_brackets(self, what: str) -> None:
        """Skip from an opening bracket to the token after the closing one."""
        if self.is_at_end or self._tokens[self.index].token_type != TokenType.L_PAREN:
            self.refuse(f"expected {what}, in brackets")
        depth = 0
        while not self.is_at_end:
            kind = self._tokens[self.index].token_type
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
            self.index += 1
            if depth == 0:
                return
        self.refuse("expected )")

    def names(self, known: list[str]) -> list[str]:
        """Read names of columns in brackets."""
        names: list[str] = []
        for written in self.names_at(known):
            column = found(written.name, known)
            assert column is not None
            names.append(column)
        return names

    def names_at(self, known: list[str] | None = None) -> list[NamedAt]:
        """Read names of columns in brackets, with their places; of these columns, if given."""
        names: list[NamedAt] = []
        separator = "("
        while self.skip(separator):
            place = self.place
            written = self.name("the name of a column")
            if known is not None and found(written, known) is None:
                taken = {each.name.lower() for each in names}
                hint = did_you_mean(written, [each for each in known if each.lower() not in taken])
                reason = f"there is no column named {written}"
                self._source.refuse(UnknownColumnError, reason, place, hint)
            if found(written, [each.name for each in names]) is not None:
                reason = f"{written} is named twice"
                self._source.refuse(QuerySyntaxError, reason, place, self.form)
            names.append(NamedAt(written, place))
            separator = ","
        if not names or not self.skip(")"):
            self.refuse("expected the names of columns, in brackets")
        return names

    def refuse(self, reason: str) -> Never:
        """Raise an error with the place that was reached."""
        self._source.refuse(QuerySyntaxError, reason, self.place, self.form)
