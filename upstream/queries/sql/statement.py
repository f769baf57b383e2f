"""The kinds of statements that an engine takes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True, slots=True)
class CreateStream:
    """`CREATE STREAM trades (time TIMESTAMP, symbol TEXT, price DOUBLE) KEY (symbol) TIME (time)`.

    Without KEY all rows are of one key. `columns` are definitions of columns as DuckDB has them;
    `time` is None if it was not said.
    """

    text: str
    name: str
    columns: tuple[exp.ColumnDef, ...]
    key: tuple[str, ...]
    time: str | None
    or_replace: bool
    if_not_exists: bool
    place: int


@dataclass(frozen=True, slots=True)
class DropStream:
    """`DROP STREAM IF EXISTS trades`."""

    text: str
    name: str
    if_exists: bool
    place: int


@dataclass(frozen=True, slots=True)
class InsertInto:
    """`INSERT INTO trades (symbol, price) VALUES …` or `SELECT …`, into a stream or a table.

    `columns` is None if they were not said, and `query` if there is none (DEFAULT VALUES). `tree`
    is the whole statement, which DuckDB takes if the name is that of a table.
    """

    text: str
    stream: str
    columns: tuple[str, ...] | None
    query: exp.Expr | None
    tree: exp.Insert
    place: int


@dataclass(frozen=True, slots=True)
class OtherStatement:
    """A query, or whatever else DuckDB does with its tables.

    `tree` is None if only DuckDB can read the statement, and `is_exact` tells whether the tree is
    that of a query which DuckDB reads in the same way.
    """

    text: str
    tree: exp.Expr | None
    is_query: bool
    is_exact: bool = False


Statement = CreateStream | DropStream | InsertInto | OtherStatement
"""What a text is parsed to."""
