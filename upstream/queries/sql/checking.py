"""Asks DuckDB about a query before any row has arrived: the schema of the result, or the errors.

Errors have the place in the user's text. DuckDB names what is wrong, but not where it is, so the
place is found by trial. A part of the query is replaced by NULL; if DuckDB then reports something
else, this part is involved. The parts of that part are tried in the same way, down to the smallest
one that DuckDB refuses on its own. A part that stands for the whole query is refused for the same
reason only if the cause lies within it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Never

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ...database.duck import Duck
from ...database.failure import DatabaseError
from ...database.result_schema import ResultSchema
from ...errors import (
    QueryError,
    QuerySyntaxError,
    QueryTypeError,
    UnknownColumnError,
    UnknownFunctionError,
    UnknownTableError,
)
from ...rows.stream_definition import StreamDefinition
from .duck_messages import (
    candidates,
    duckdb_hint,
    headline_of,
    kind_of,
    quoted_text,
    signatures_hint,
)
from .lending import written
from .names import did_you_mean, found, is_reserved
from .statement import ParsedQuery
from .trees import place_of
from .window_arguments import FUNCTIONS
from .window_bounds import BOUNDED, BOUNDS, EPOCH
from .window_clause import WindowKind


def check(
    parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition], duck: Duck
) -> ResultSchema:
    """Return the schema of a query's result; raise QueryError if DuckDB refuses the query."""
    schemas = parsed.schemas(definitions)

    def schema_of(query: exp.Query) -> ResultSchema:
        with duck.keeping(), closing(written(duck, _without_rows(query), schemas)) as bound:
            result = bound.result()
            with closing(written(duck, query, schemas)) as whole:
                whole.learn(*result)  # so it need not be asked again
        return ResultSchema.of(*result)

    try:
        _try_limits(parsed.query, duck)
        return schema_of(parsed.query)
    except RecursionError:
        raise QuerySyntaxError("the statement is nested too deeply", parsed.text, 0) from None
    except (SqlglotError, ValueError) as error:
        raise QueryError(f"the query cannot be written out: {error}", parsed.text) from error
    except DatabaseError as error:
        refuse(parsed, str(error), schema_of, definitions, duck)


def _without_rows(query: exp.Query) -> exp.Query:
    """Return the query in a form that is bound and not evaluated."""
    query = query.copy()
    if "limit" in query.arg_types:
        query.set("limit", exp.Limit(expression=exp.Literal.number(0)))
        query.set("offset", None)
    return query


def _try_limits(query: exp.Query, duck: Duck) -> None:
    """Let DuckDB evaluate a constant LIMIT and OFFSET, which `_without_rows` removes."""
    limits = {
        name: query.args[name]
        for name in ("limit", "offset")
        if query.args.get(name) is not None and query.args[name].find(exp.Query) is None
    }
    if limits:
        trial = exp.select(exp.Null())
        for name, limit in limits.items():
            trial.set(name, limit.copy())
        with closing(written(duck, trial, {})) as statement:
            statement.result()


def refuse(
    parsed: ParsedQuery,
    message: str,
    schema_of: Callable[[exp.Query], object],
    definitions: Mapping[str, StreamDefinition],
    duck: Duck,
    *,
    place: int | None = None,
) -> Never:
    """Raise the error that a message of DuckDB means, with the place in the user's text.

    `place` is where the statement is wrong if no more exact place is found.
    """
    headline = headline_of(message)
    kind, name = kind_of(message)
    hint = ""
    if kind is UnknownTableError:
        at = place_of_table(parsed.query, name)
        headline, hint = _about_table(parsed, name, message, definitions, duck)
    elif kind is UnknownFunctionError and "Table Function" in message:
        at = place_of_function(parsed.query, name)
        hint = did_you_mean(name, FUNCTIONS)
        headline = f"there is no table function named {name}"
    else:
        trial = Trial(parsed.query, message, schema_of)
        at = trial.place_of_column(name) if name else None
        if at is None:
            at = trial.place()
        if kind is UnknownColumnError:
            hint = quoted_text(parsed.text, at) or _hint_of_bounds(parsed, name)
            read = {window.stream for window in parsed.windows}
            columns = [name for stream in read for name in definitions[stream].schema.names]
            hint = hint or did_you_mean(name, [*columns, *candidates(message)])
            headline = f"there is no column named {name}"
        elif kind is UnknownFunctionError:
            headline = f"there is no function named {name}"
            hint = duckdb_hint(message)
        elif kind is QuerySyntaxError and _is_about_other_text(headline, parsed.text):
            headline = "this cannot be read as SQL"
        elif "must appear in the GROUP BY" in message:
            hint = "add GROUP BY ALL, which groups by all columns that are not aggregated"
        elif "Did you mean" in message:
            hint = duckdb_hint(message)
        elif kind is QueryTypeError:
            hint = signatures_hint(message) or "cast the values to compatible types"
    raise kind(headline, parsed.text, place if at is None else at, hint) from None


def _about_table(
    parsed: ParsedQuery,
    name: str,
    message: str,
    definitions: Mapping[str, StreamDefinition],
    duck: Duck,
) -> tuple[str, str]:
    """Return the error and the hint for a table that DuckDB does not find."""
    joins = [each for each in parsed.query.find_all(exp.Join) if each.kind in {"SEMI", "ANTI"}]
    if any(join.alias_or_name.lower() == name.lower() for join in joins):
        reason = f"{name} has no columns here: it is on the right of a SEMI or ANTI JOIN"
        return reason, "such a join only filters rows; write JOIN to read the columns of both"
    reason = f"there is no stream or table named {name}"
    stream = found(name, definitions)
    if stream is not None and "Referenced table" not in message:
        return reason, f"write {stream} without a schema, since streams have none"
    tables = duck.rows("SELECT table_name FROM duckdb_tables() WHERE NOT internal")
    known = [*definitions, *(table for (table,) in tables if not is_reserved(table))]
    return reason, did_you_mean(name, known)


def _hint_of_bounds(parsed: ParsedQuery, name: str) -> str:
    """Return how a subquery over a window can select a bound; "" if there is none."""
    bound = name.lower()
    kinds = {window.kind for window in parsed.windows}
    has_bound = bound in BOUNDS and not kinds.isdisjoint(BOUNDED)
    has_epoch = bound == EPOCH and WindowKind.EPOCHS in kinds
    hint = f"name {bound} in the select list where the window is read"
    return hint if has_bound or has_epoch else ""


def _is_about_other_text(headline: str, text: str) -> bool:
    """Tell whether DuckDB's message is about a word that the user has not written."""
    word = re.search(r'at or near "([^"]+)"', headline)
    return word is not None and word.group(1).lower() not in text.lower()


MOST_TRIALS = 200
"""DuckDB is asked at most this often; each time costs about a millisecond."""
MOST_CHARACTERS = 100_000
"""The texts sent to DuckDB have at most this many characters in total, so that long queries are
not tried for seconds."""


def place_of_table(query: exp.Query, name: str) -> int | None:
    """Return where a table of this name is read, or otherwise where it qualifies a column."""
    plain = name.rpartition(".")[2].strip('"').lower()
    tables = [each for each in query.find_all(exp.Table) if each.name.lower() == plain]
    columns = [each for each in query.find_all(exp.Column) if each.table.lower() == plain]
    return place_of(*(tables or columns))


def place_of_function(query: exp.Query, name: str) -> int | None:
    """Return where a table function of this name is called."""
    calls = [each for each in query.find_all(exp.Anonymous) if each.name.lower() == name.lower()]
    return place_of(*([each for each in calls if isinstance(each.parent, exp.Table)] or calls))


class Trial:
    """Asks DuckDB about variants of a query that it refused."""

    def __init__(self, query: exp.Query, message: str, bind: Callable[[exp.Query], object]) -> None:
        self._query = query
        self._message = _said(message)
        self._bind = bind
        self._left = min(MOST_TRIALS, MOST_CHARACTERS // (len(query.sql()) + 1))

    def place_of_column(self, name: str) -> int | None:
        """Return where the column of this name is that DuckDB's message is about."""
        named = [
            each for each in self._query.find_all(exp.Column) if each.name.lower() == name.lower()
        ]
        named.sort(key=lambda each: place_of(each) or 0)
        meant = (each for each in named if self._says_else(each, exp.Null()))
        found = next(meant, named[0] if named else None)
        return None if found is None else place_of(found)

    def place(self) -> int | None:
        """Return where the smallest part begins that DuckDB refuses."""
        found: exp.Expr | None = None
        parts = _parts(self._query)
        while parts:
            part = parts.pop(0)
            if not self._says_else(part, exp.Null()):
                continue
            if found is not None and self._says_else(found, part.copy()):
                continue  # on its own, the part is not the cause
            found = part
            parts = _parts(part)
        return None if found is None else place_of(found)

    def _says_else(self, part: exp.Expr, other: exp.Expr) -> bool:
        """Tell whether DuckDB reports something else if a part is replaced."""
        if self._left <= 0:
            return False
        self._left -= 1
        part.replace(other)
        try:
            self._bind(self._query)
        except DatabaseError as error:
            said = _said(str(error))
            return said != self._message and not said.startswith("Parser Error")
        except (SqlglotError, ValueError, RecursionError):
            return False
        else:
            return True
        finally:
            other.replace(part)


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of a node that are values, or otherwise their parts, in order."""
    parts: list[exp.Expr] = []
    for child in node.iter_expressions():
        if isinstance(child, exp.Table):  # a table function is not a value
            continue
        if isinstance(child, exp.Condition) and not isinstance(child, exp.Star | exp.If):
            parts.append(child)
        else:
            parts.extend(_parts(child))
    return parts


def _said(message: str) -> str:
    """Return a message without the quoted query, which differs with each variant."""
    return message.partition("\n\nLINE ")[0]
