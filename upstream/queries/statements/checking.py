"""What DuckDB says of a query before any row has come: the schema of the result, or what is wrong.

DuckDB names what it does not like, but not where it is. The place is found by trial: a part of the
query is replaced by NULL, and if DuckDB then says something else, what it did not like is in there.
Tables cannot be replaced, and are found by their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Never

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ...errors import (
    QueryError,
    QuerySyntaxError,
    QueryTypeError,
    UnknownColumnError,
    UnknownFunctionError,
    UnknownTableError,
)
from .names import did_you_mean
from .parsed_query import ParsedQuery
from .source_text import lowered, place_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ..duck import Duck
    from ..stream_definition import StreamDefinition

MOST_TRIALS = 200
"""So often DuckDB is asked, to find a place; each costs about a millisecond."""


def check(
    parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition], duck: Duck
) -> pa.Schema:
    """Return the schema of a query's result; QueryError if DuckDB refuses the query."""
    import duckdb

    schemas = {
        f"chunk_{i}": definitions[window.stream].schema for i, window in enumerate(parsed.windows)
    }

    def schema_of(query: exp.Query) -> pa.Schema:
        prepared = duck.prepare(_without_rows(query), schemas)
        try:
            return prepared.run().schema
        finally:
            prepared.close()

    try:
        return schema_of(parsed.query)
    except RecursionError:
        raise QuerySyntaxError("the statement is nested too deeply", parsed.text, 0) from None
    except (SqlglotError, ValueError) as error:
        raise QueryError(f"the query cannot be written out: {error}", parsed.text) from error
    except duckdb.Error as error:
        refuse(parsed, str(error), schema_of, KnownNames(definitions, parsed, duck))


class KnownNames:
    """The names that a query may have meant."""

    def __init__(
        self, definitions: Mapping[str, StreamDefinition], parsed: ParsedQuery, duck: Duck
    ) -> None:
        self._definitions = definitions
        self._parsed = parsed
        self._duck = duck

    def tables(self) -> Iterable[str]:
        """Return the streams, and the tables of DuckDB."""
        rows = self._duck.connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE NOT internal"
        ).fetchall()
        return [*self._definitions, *(str(name) for (name,) in rows)]

    def columns(self, message: str) -> Iterable[str]:
        """Return the columns of the streams that are read, and those that DuckDB thinks of."""
        read = {window.stream for window in self._parsed.windows}
        columns = [name for stream in read for name in self._definitions[stream].schema.names]
        candidates = message.partition("Candidate bindings")[2]
        return [*columns, *re.findall(r'"([^"\n]+)"', candidates)]


def _without_rows(query: exp.Query) -> exp.Query:
    """Return the query so that it is bound, and not evaluated."""
    query = query.copy()
    if "limit" in query.arg_types:
        query.set("limit", exp.Limit(expression=exp.Literal.number(0)))
        query.set("offset", None)
    return query


def refuse(
    parsed: ParsedQuery,
    message: str,
    schema_of: Callable[[exp.Query], object],
    known: KnownNames,
) -> Never:
    """Raise what a message of DuckDB means, with the place in the user's text."""
    headline = _headline(message)
    kind, name = _kind_of(message)
    hint = ""
    if kind is UnknownTableError:
        place = _place_of_table(parsed.query, name)
        hint = did_you_mean(name, known.tables())
        headline = f"there is no stream or table named {name}"
    else:
        place = _place_by_trial(parsed.query, message, schema_of)
        if kind is UnknownColumnError:
            hint = did_you_mean(name, known.columns(message))
            headline = f"there is no column named {name}"
        elif "Did you mean" in message:
            hint = "did you mean" + message.partition("Did you mean")[2].partition("\n")[0]
        elif kind is QueryTypeError:
            hint = "cast the values to types that go together"
    raise kind(headline, parsed.text, place, hint) from None


def _headline(message: str) -> str:
    """Return what DuckDB says, without the kind of error and the list of all that would do."""
    headline = message.partition("\n")[0]
    headline = re.sub(r"^[A-Z][A-Za-z -]* Error: ", "", headline)
    headline = headline.replace(" You might need to add explicit type casts.", "")
    return lowered(headline).rstrip(". !")


_KINDS: tuple[tuple[str, type[QueryError]], ...] = (
    (r"Table with name (\S+) does not exist", UnknownTableError),
    (r'Referenced table "([^"]+)" not found', UnknownTableError),
    (r'Referenced column "([^"]+)" (?:not found|was not found)', UnknownColumnError),
    (r'does not have a column named "([^"]+)"', UnknownColumnError),
    (r'[Cc]olumn "?([^" ]+)"? (?:does not exist|not found)', UnknownColumnError),
    (r"Function with name \"?([^\" ]+)\"? does not exist", UnknownFunctionError),
    (r"No function matches the given name and argument types", QueryTypeError),
    (r"^Conversion Error", QueryTypeError),
    (r"Cannot (?:compare|mix) values", QueryTypeError),
    (r"^Mismatch Type Error", QueryTypeError),
    (r"^Parser Error", QuerySyntaxError),
)


def _kind_of(message: str) -> tuple[type[QueryError], str]:
    for pattern, kind in _KINDS:
        if (match := re.search(pattern, message)) is not None:
            return kind, match.group(1) if match.groups() else ""
    return QueryError, ""


def _place_of_table(query: exp.Query, name: str) -> int | None:
    """Return where a table of this name is read, or where it qualifies a column."""
    plain = name.rpartition(".")[2].strip('"').lower()
    tables: list[exp.Expr] = [
        each for each in query.find_all(exp.Table) if each.name.lower() == plain
    ]
    columns = [each for each in query.find_all(exp.Column) if each.table.lower() == plain]
    places = [place for each in tables or columns if (place := place_of(each)) is not None]
    return min(places, default=None)


def _place_by_trial(
    query: exp.Query, message: str, schema_of: Callable[[exp.Query], object]
) -> int | None:
    """Return where the least part begins without which DuckDB does not say this any more."""
    found: exp.Expr | None = None
    parts = _parts(query)
    trials = 0
    while parts and trials < MOST_TRIALS:
        part = parts.pop(0)
        trials += 1
        if _is_in(part, query, message, schema_of):
            found = part
            parts = _parts(part)
    return None if found is None else place_of(found)


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of a node that are values, or else the parts of these, in their order."""
    parts: list[exp.Expr] = []
    for child in node.iter_expressions():
        if isinstance(child, exp.Condition) and not isinstance(child, exp.Star):
            parts.append(child)
        else:
            parts.extend(_parts(child))
    return parts


def _is_in(
    part: exp.Expr,
    query: exp.Query,
    message: str,
    schema_of: Callable[[exp.Query], object],
) -> bool:
    """Tell whether DuckDB says something else when this part is NULL."""
    import duckdb

    null = exp.Null()
    part.replace(null)
    try:
        schema_of(query)
    except duckdb.Error as error:
        return str(error) != message
    except (SqlglotError, ValueError, RecursionError):
        return False
    else:
        return True
    finally:
        null.replace(part)
