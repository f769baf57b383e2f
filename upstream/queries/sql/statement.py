"""The kinds of statements that a text is parsed to, and queries over streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Never

import pyarrow as pa
from sqlglot import exp

from ...errors import QueryError
from ...rows.stream_definition import StreamDefinition
from ..into import ResultsInto
from .window_bounds import bounds_in, bounds_name, bounds_schema, hidden_schema
from .window_clause import WindowClause

OptionValue = str | int | float | bool | timedelta
"""The value of an option in WITH (…)."""


@dataclass(frozen=True, slots=True)
class CreateStream:
    """`CREATE STREAM trades (time TIMESTAMP, symbol TEXT, price DOUBLE) KEY (symbol) TIME (time)`.

    Without KEY, all rows belong to one key. `columns` are DuckDB's definitions of columns. `time`
    is None if it was not given.
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
class CreateStreamAs:
    """`CREATE STREAM means KEY (symbol) TIME (at) WITH (deletes = true) AS SELECT …`.

    `query` is the text of the query, with blanks before it, so that every character has the place
    that it has in the statement. `options` are those of `Engine.continuous_query`, as values.
    """

    text: str
    into: ResultsInto
    options: Mapping[str, tuple[OptionValue, int]]
    query: str
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropStream:
    """`DROP STREAM IF EXISTS trades`."""

    text: str
    name: str
    if_exists: bool
    place: int


@dataclass(frozen=True, slots=True)
class CreateView:
    """`CREATE VIEW by_sector (sector, size) WITH (on_error = 'skip') AS SELECT …`.

    `query` is the text of the query in its place: what stands before it is blank. `columns` is None
    if they were not given. `words` are those before VIEW, such as TEMP. Options have the places of
    their values.
    """

    text: str
    name: str
    query: str
    columns: tuple[str, ...] | None
    options: Mapping[str, tuple[OptionValue, int]]
    words: tuple[str, ...]
    or_replace: bool
    if_not_exists: bool
    place: int


@dataclass(frozen=True, slots=True)
class DropView:
    """`DROP VIEW IF EXISTS by_sector`."""

    text: str
    name: str
    if_exists: bool
    place: int


@dataclass(frozen=True, slots=True)
class ExplainName:
    """`EXPLAIN by_sector`, for a view or a standing query."""

    text: str
    name: str
    place: int


@dataclass(frozen=True, slots=True)
class InsertInto:
    """`INSERT INTO trades (symbol, price) VALUES …` or `SELECT …`, into a stream or a table.

    `columns` is None if they were not given, and `query` is None if there is none (DEFAULT VALUES).
    `tree` is the whole statement, which DuckDB runs if the name is that of a table.
    """

    text: str
    stream: str
    columns: tuple[str, ...] | None
    query: exp.Expr | None
    tree: exp.Insert
    place: int


@dataclass(frozen=True, slots=True)
class OtherStatement:
    """A query, or any other statement about DuckDB's tables.

    `tree` is None if only DuckDB can read the statement. `is_exact` tells whether the tree is that
    of a query which DuckDB reads in the same way.
    """

    text: str
    tree: exp.Expr | None
    is_exact: bool = False


Statement = (
    CreateStream
    | CreateStreamAs
    | DropStream
    | CreateView
    | DropView
    | ExplainName
    | InsertInto
    | OtherStatement
)
"""Any kind of statement."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query that reads the tables `chunk_0`, `chunk_1`, … in place of streams.

    `windows` says what each chunk is, and `places` where the text names it. `hidden` are the names
    of the columns that a chunk of epochs has beside those of its stream; other chunks are left out.
    """

    text: str
    query: exp.Query
    windows: tuple[WindowClause, ...]
    places: tuple[int | None, ...] = ()
    hidden: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def bounds(self) -> frozenset[int]:
        """The windows whose bounds the query reads, each from its table `bounds_i`."""
        return bounds_in(self.query)

    def refuse(self, kind: type[QueryError], number: int, reason: str, hint: str = "") -> Never:
        """Raise an error that points at the window with this number."""
        raise kind(reason, self.text, self.places[number], hint)

    def schema_of(self, number: int, definition: StreamDefinition) -> pa.Schema:
        """Return the schema of a chunk: the columns of its stream, and the hidden ones."""
        names = self.hidden.get(number, ())
        more = hidden_schema(self.windows[number], definition, names)
        return pa.schema([*definition.schema, *more]) if names else definition.schema

    def schemas(self, definitions: Mapping[str, StreamDefinition]) -> dict[str, pa.Schema]:
        """Return the schemas of all tables that are lent to the query: chunks and bounds."""
        of_windows = [definitions[window.stream] for window in self.windows]
        chunks = {f"chunk_{i}": self.schema_of(i, each) for i, each in enumerate(of_windows)}
        bounds = {
            bounds_name(i): bounds_schema(self.windows[i], of_windows[i]) for i in self.bounds
        }
        return chunks | bounds
