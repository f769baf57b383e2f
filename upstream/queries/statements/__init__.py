"""Statements over streams: parsed, checked and told apart, with errors that point into the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .parsed_query import ParsedQuery
from .statement import CreateStream, DropStream, InsertInto, OtherStatement, Statement

if TYPE_CHECKING:
    import pyarrow as pa

    from ..duck import Duck
    from ..stream_definition import StreamDefinition

__all__ = [
    "CreateStream",
    "DropStream",
    "InsertInto",
    "OtherStatement",
    "ParsedQuery",
    "Statement",
    "check",
    "check_key",
    "definition_of",
    "parse",
    "read_query",
    "rows_to_insert",
]


def parse(text: str) -> Statement:
    """Parse one statement; QuerySyntaxError with the place if it is none."""
    raise NotImplementedError


def read_query(text: str, streams: Mapping[str, StreamDefinition]) -> ParsedQuery:
    """Parse a query, and take its windows out of it; streams are found in any case."""
    raise NotImplementedError


def check(
    parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition], duck: Duck
) -> pa.Schema:
    """Return the schema of a query's result; QueryError if DuckDB refuses the query."""
    raise NotImplementedError


def check_key(
    parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition], semantics: str
) -> tuple[str, ...]:
    """Return under which names the result has the stream's key; QueryKeyError if it has not."""
    raise NotImplementedError


def definition_of(create: CreateStream, duck: Duck) -> StreamDefinition:
    """Return the stream that a statement defines; types are what DuckDB takes them for."""
    raise NotImplementedError


def rows_to_insert(
    insert: InsertInto, definition: StreamDefinition, duck: Duck, tables: Mapping[str, pa.Table]
) -> pa.Table:
    """Return the rows of an INSERT, conformed; `tables` are streams that its query may read."""
    raise NotImplementedError
