"""Statements over streams: parsed, checked and told apart, with errors that point into the text.

What is imported here needs nothing but the library's core; sqlglot comes with the first statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .parsed_query import ParsedQuery
from .statement import CreateStream, DropStream, InsertInto, OtherStatement, Statement

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.duck import Duck
    from ...database.result_schema import ResultSchema
    from ...errors import QueryError
    from ...rows.stream_definition import StreamDefinition
    from ...tables.relation import Relation

__all__ = [
    "CreateStream",
    "DropStream",
    "InsertInto",
    "OtherStatement",
    "ParsedQuery",
    "Statement",
    "check",
    "check_constants",
    "check_key",
    "definition_of",
    "did_you_mean",
    "error_of",
    "is_reserved",
    "parse",
    "read_query",
    "rows_to_insert",
]


def parse(text: str, duck: Duck) -> Statement:
    """Parse one statement; QuerySyntaxError with the place if it is none for DuckDB either."""
    from . import parsing

    return parsing.parse(text, duck)


def error_of(message: str, text: str, known: Iterable[str] = ()) -> QueryError:
    """Return the error of a statement that DuckDB refused with this message."""
    from . import duck_messages

    return duck_messages.error_of(message, text, known)


def read_query(
    text: str, streams: Mapping[str, StreamDefinition], duck: Duck | None = None
) -> ParsedQuery:
    """Parse a query, and take its windows out of it; streams are found in any case.

    With `duck` it is checked that DuckDB reads the query in the same way.
    """
    from . import reading

    return reading.read_query(text, streams, duck)


def check(
    parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition], duck: Duck
) -> ResultSchema:
    """Return the schema of a query's result; QueryError if DuckDB refuses the query."""
    from . import checking

    return checking.check(parsed, definitions, duck)


def check_constants(
    parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition], duck: Duck
) -> None:
    """Refuse a constant that every row needs and DuckDB cannot evaluate; QueryTypeError."""
    from . import constants

    constants.check_constants(parsed, definitions, duck)


def check_key(
    parsed: ParsedQuery,
    definitions: Mapping[str, StreamDefinition],
    semantics: str,
    duck: Duck,
) -> tuple[str, ...]:
    """Return under which names the result has the stream's key; QueryKeyError if it has not."""
    from . import key_columns

    return key_columns.check_key(parsed, definitions, semantics, duck)


def is_reserved(name: str) -> bool:
    """Tell whether a name is one that rewritten queries use."""
    from .names import RESERVED

    return RESERVED.fullmatch(name) is not None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint: the nearest of the names that there are, or all if they are few."""
    from . import names

    return names.did_you_mean(name, known)


def definition_of(create: CreateStream, duck: Duck) -> StreamDefinition:
    """Return the stream that a statement defines; types are what DuckDB takes them for."""
    from . import defining

    return defining.definition_of(create, duck)


def rows_to_insert(
    insert: InsertInto, definition: StreamDefinition, duck: Duck, streams: Mapping[str, Relation]
) -> pa.Table:
    """Return the rows of an INSERT, conformed; `streams` are those that its query may read."""
    from . import inserting

    return inserting.rows_to_insert(insert, definition, duck, streams)
