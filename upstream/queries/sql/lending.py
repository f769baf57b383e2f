"""Prepares queries, which are trees, to run on tables that are lent to them.

The database knows texts only. This module writes a tree as text, with the tables of some names
replaced by relations that can be changed for each run. Text of a user is never inserted into other
text.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ...database.duck import Duck
from ...database.engine_clock import CLOCK_CALLS
from ...database.failure import DatabaseError
from ...database.prepared import Prepared, Written
from ...database.result_schema import ResultSchema
from .dialect import DIALECT
from .duck_messages import error_of

if TYPE_CHECKING:
    from ...database.prepared import NameOf, Write

_CLOCK_WORDS: Mapping[type[exp.Expr], str] = {
    getattr(exp, name): function for name, function in CLOCK_CALLS.items()
}
"""sqlglot's nodes for words such as `current_date`, with the functions that they call."""


def prepare(duck: Duck, query: exp.Expr, lent: Mapping[str, pa.Schema]) -> Prepared:
    """Prepare a query in which the tables of these names are lent for each run.

    A name that the query does not read may be lent, too. The query is written as text when the
    statement is first needed, and must not be changed until then.
    """
    return duck.prepare(_writing(query, lent), lent)


def written(duck: Duck, query: exp.Query, lent: Mapping[str, pa.Schema]) -> Written:
    """Write a query as text, to ask DuckDB about it; the caller has to close it."""
    return duck.written(_writing(query, lent))


def _writing(query: exp.Expr, lent: Mapping[str, pa.Schema]) -> Write:
    """Return a function that writes a query, given DuckDB's names of the lent tables."""

    def write(name_of: NameOf) -> str:
        copy = query.copy()
        for node in list(copy.find_all(exp.Table, *_CLOCK_WORDS)):
            if not isinstance(node, exp.Table):
                # Write a call. For a word, DuckDB first looks for a column, and a column without an
                # alias is named after its text, so the word would find itself.
                given = [each.copy() for each in node.iter_expressions()]
                node.replace(exp.Anonymous(this=_CLOCK_WORDS[type(node)], expressions=given))
            elif node.name in lent and not node.db and isinstance(node.this, exp.Identifier):
                name = name_of(node.name, lent[node.name])
                if not node.alias:
                    alias = exp.to_identifier(node.name, quoted=True)
                    node.set("alias", exp.TableAlias(this=alias))
                node.set("this", exp.to_identifier(name, quoted=True))
        return copy.sql(DIALECT, copy=False)

    return write


def run_once(duck: Duck, query: exp.Expr, tables: Mapping[str, pa.Table]) -> pa.Table:
    """Run a query that reads these tables as well as those of the database."""
    with closing(prepare(duck, query, _schemas(tables))) as prepared:
        return prepared.run(**tables)


def answer_once(
    duck: Duck, statement: exp.Expr, text: str, tables: Mapping[str, pa.Table]
) -> pa.Table:
    """Run a user's statement that reads these tables as well as those of the database.

    Raises QueryError if it fails; `text` is what the user wrote.
    """
    try:
        with closing(prepare(duck, statement, _schemas(tables))) as prepared:
            table = prepared.run(**tables)
    except DatabaseError as error:
        raise error_of(str(error), text) from error
    return ResultSchema.of(table.schema, prepared.types).handed_out(table, text)


def _schemas(tables: Mapping[str, pa.Table]) -> dict[str, pa.Schema]:
    return {name: each.schema for name, each in tables.items()}
