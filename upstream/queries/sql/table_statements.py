"""Statements about DuckDB's tables: what they may do with streams.

Statements that only read find the newest rows of a stream under its name: to make a table from
them, to copy them to a file, or to describe them. All others that name a stream in place of a table
are refused. The text is run as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Never

import pyarrow as pa
from sqlglot import exp

from ...database.duck import Duck
from ...database.failure import DatabaseError
from ...errors import QuerySyntaxError, StatementError
from ...rows.arrow_data import empty_table
from ...tables.relation import Relation
from .duck_messages import error_of
from .lending import answer_once
from .names import found, is_reserved
from .source_text import SourceText, words_of
from .statement import InsertInto, OtherStatement
from .trees import place_of, stream_read
from .window_arguments import FUNCTIONS

_OPTION = r"(?:ANALYZE|FORMAT\s+(?:TEXT|JSON|HTML|YAML|GRAPHVIZ|MERMAID))"
_EXPLAIN = re.compile(
    rf"\s*EXPLAIN(\s+ANALYZE|\s*\(\s*{_OPTION}(\s*,\s*{_OPTION})*\s*\))?\s+(?=[^\s(])",
    re.IGNORECASE,
)

_READ_ONLY = {"SELECT", "MULTI", "EXPLAIN"}
"""DuckDB's names for statements that change nothing; for DuckDB, a PIVOT is several statements."""
_STREAM_STATEMENTS = (
    "streams support CREATE STREAM, DROP STREAM, INSERT INTO, COPY … FROM 'file', DELETE FROM and "
    "TRUNCATE; CREATE TABLE … AS SELECT makes a table of their newest rows"
)
_DOWNLOADS = {
    "LOAD": re.compile(r"\bINSTALL\b", re.IGNORECASE),
    "": re.compile(r"\bUPDATE\s+EXTENSIONS\b", re.IGNORECASE),
    **dict.fromkeys(
        ("SET", "VARIABLE_SET", "PRAGMA"),
        re.compile(r"auto(?:install|load)_|allow_\w*extension|custom_extension", re.IGNORECASE),
    ),
}
"""Statements that download extensions or allow it, by DuckDB's names for them."""


class TableStatements:
    """Runs statements about tables, which may read streams."""

    __slots__ = ("_duck", "_streams")

    def __init__(self, duck: Duck, streams: Mapping[str, Relation]) -> None:
        self._duck = duck
        self._streams = streams

    def run(self, statement: InsertInto | OtherStatement) -> pa.Table:
        """Run a statement.

        Raise StatementError if streams cannot be in it, QueryError if it fails.
        """
        text = statement.text
        kind = self._duck.statement_type(text)
        if kind == "TRANSACTION":
            raise StatementError(
                "transactions are refused: if one failed, standing queries would fail with it",
                text,
                hint="each statement takes effect at once and completely",
            )
        if kind in _DOWNLOADS and _DOWNLOADS[kind].search(text):
            raise StatementError(
                "extensions are not downloaded: this library does no network I/O",
                text,
                hint="LOAD works for extensions that are already installed on this machine",
            )
        self._refuse_windows(text)
        tree = _explained(statement)
        if (name := self._described(tree)) is not None:
            return self._describe(name, text)
        if tree is None or isinstance(tree, exp.Command):
            return self._run_unread(text, kind)
        tables = [each for each in tree.find_all(exp.Table) if self._stream(each) is not None]
        if tables and not self._only_reads(tree):
            self._refuse(tree, tables, text)
        answer = self._answer(text, {str(self._stream(each)) for each in tables})
        return self._shown(answer) if isinstance(tree, exp.Show) else answer

    def _run_unread(self, text: str, kind: str) -> pa.Table:
        """Run a statement that only DuckDB can read; any word in it may be the name of a stream."""
        words = words_of(text)
        streams = [name for name in self._streams if name.lower() in words]
        if streams and kind not in _READ_ONLY:
            reason = f"{streams[0]} is a stream, and this statement is for tables"
            raise StatementError(reason, text, hint=_STREAM_STATEMENTS)
        return self._answer(text, streams)

    def _answer(self, text: str, streams: Iterable[str]) -> pa.Table:
        try:
            rows = {name: self._streams[name].scan() for name in sorted(streams)}
            return self._duck.answer_as_written(text, rows)
        except DatabaseError as error:
            tables = self._duck.rows("SHOW TABLES")
            known = _without_ours([*self._streams, *(str(name) for (name,) in tables)])
            raise error_of(str(error), text, known) from error

    # What a statement does

    def _described(self, tree: exp.Expr | None) -> str | None:
        """Return the stream that a DESCRIBE or SHOW is about."""
        if isinstance(tree, exp.Describe):
            return self._stream(tree.this)
        if isinstance(tree, exp.Command) and tree.name.upper() == "SHOW":
            return self._stream(exp.to_table(tree.text("expression").strip() or "nothing"))
        return None

    def _describe(self, name: str, text: str) -> pa.Table:
        """Return the columns of a stream as DuckDB describes those of a table."""
        query = exp.select("*").from_(exp.Table(this=exp.to_identifier(name, quoted=True)))
        definition = self._streams[name].definition
        rows = {name: empty_table(definition.schema)}
        columns = answer_once(self._duck, exp.Describe(this=query), text, rows)
        roles = {definition.time: "TIME"} | dict.fromkeys(definition.key, "KEY")
        found = [roles.get(name) for name in columns["column_name"].to_pylist()]
        nulls = ["YES" if role is None else "NO" for role in found]
        columns = columns.set_column(columns.schema.get_field_index("null"), "null", [nulls])
        place = columns.schema.get_field_index("key")
        return columns.set_column(place, "key", [pa.array(found, pa.string())])

    def _only_reads(self, tree: exp.Expr) -> bool:
        """Tell whether streams are only read, and at once: a view would read them later."""
        if isinstance(tree, exp.Introducer):
            return isinstance(tree.expression, exp.Query) or self._only_reads(tree.expression)
        if isinstance(tree, exp.Describe | exp.Summarize | exp.Query | exp.Pivot):
            return True
        if isinstance(tree, exp.Copy):
            return not tree.args.get("kind")  # it has TO and not FROM
        if isinstance(tree, exp.Create):
            is_filled = tree.kind == "TABLE" and tree.expression is not None
        else:
            is_filled = isinstance(tree, exp.Insert)
        target = tree.this
        if isinstance(target, exp.Schema):
            target = target.this
        return is_filled and self._stream(target) is None

    def _refuse_windows(self, text: str) -> None:
        """Refuse windows over streams: a one-time query reads the newest rows."""
        tokens = SourceText(text).all_tokens()
        for call, bracket, first in zip(tokens, tokens[1:], tokens[2:], strict=False):
            name = call.text.lower()
            if name not in FUNCTIONS or bracket.text != "(":
                continue
            if (stream := found(first.text, self._streams)) is not None:
                hint = f"write FROM {stream} for its newest rows, or use continuous_query()"
                reason = f"{name}(…) works in standing queries only"
                raise StatementError(reason, text, call.start, hint)

    def _refuse(self, tree: exp.Expr, tables: Sequence[exp.Table], text: str) -> Never:
        place, name = min((place_of(each) or 0, each.name) for each in tables)
        known = found(name, self._streams)
        if known is not None and self._streams[known].definition.is_view:
            self._refuse_view(tree, known, text, place)
        hint = _STREAM_STATEMENTS
        if isinstance(tree, exp.Drop):
            hint = f"write DROP STREAM {name}"
        reason = f"{name} is a stream, and this statement is for tables"
        raise StatementError(reason, text, place, hint)

    def _refuse_view(self, tree: exp.Expr, name: str, text: str, place: int) -> Never:
        hint = "insert into the streams that its query reads, and the view follows"
        if isinstance(tree, exp.Drop):
            hint = f"write DROP VIEW {name}"
        elif isinstance(tree, exp.Create | exp.Alter):
            hint = f"write CREATE OR REPLACE VIEW {name} AS …"
        reason = f"{name} is a view, and views are read-only"
        raise StatementError(reason, text, place, hint)

    def _stream(self, node: object) -> str | None:
        """Return the name of the stream that a table in a statement is."""
        return stream_read(node, self._streams) if isinstance(node, exp.Table) else None

    def _shown(self, tables: pa.Table) -> pa.Table:
        """Remove relations that are lent to queries from a list of tables, and add the streams."""
        if tables.schema.names == ["name"]:
            names = sorted([*_without_ours(tables["name"].to_pylist()), *self._streams])
            return pa.table({"name": pa.array(names, pa.string())})
        if "name" not in tables.schema.names:
            return tables
        is_meant = [not is_reserved(name) for name in tables["name"].to_pylist()]
        return tables.filter(pa.array(is_meant, pa.bool_()))


def _without_ours(names: list[str]) -> list[str]:

    return [name for name in names if not is_reserved(name)]


def _explained(statement: InsertInto | OtherStatement) -> exp.Expr | None:
    """Return a statement with a tree for EXPLAIN, too, which sqlglot leaves as text."""
    text = statement.text
    begin = _EXPLAIN.match(text) if isinstance(statement.tree, exp.Command) else None
    if begin is None:
        return statement.tree
    before = re.sub(r"[^\n]", " ", begin.group())  # so that places stay the same
    try:
        inner = SourceText(before + text[begin.end() :]).statement()
    except QuerySyntaxError:
        return None
    return exp.Introducer(this=exp.var(" ".join(begin.group().split())), expression=inner)
