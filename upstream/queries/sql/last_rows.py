"""The query that finds the rows which end their chunk, by the condition of `punctuation =>`."""

from __future__ import annotations

from sqlglot import exp, parse_one

from .dialect import DIALECT
from .trees import Query, column

ROWS = "chunk_0"
"""The table that the query reads: the columns of a stream, and ROW."""
ROW = "__row_0"
"""The column with the places of rows."""
IS_LAST = "__last_0"
"""The column that tells whether the condition is true; it is never NULL."""


def last_rows_query(condition: str) -> Query:
    """Return a query for ROW and IS_LAST of each row of ROWS.

    Whether the condition fails on a row does not depend on other rows. AND and OR are evaluated
    from left to right, and only as far as necessary, so `note <> '' AND note::INT = 0` does not
    fail on an empty note. As a filter, DuckDB would reorder such a condition while it runs.
    """
    is_last = _in_order(parse_one(condition, dialect=DIALECT))
    return exp.select(column(ROW), exp.alias_(is_last, IS_LAST, quoted=True)).from_(ROWS)


def _in_order(condition: exp.Expr) -> exp.Expr:
    """Return whether a condition is true, evaluated from left to right; it is never NULL."""
    condition = condition.unnest()
    if not isinstance(condition, exp.And | exp.Or):
        return exp.Is(this=exp.paren(condition), expression=exp.true())
    *parts, last = [_in_order(part) for part in condition.flatten()]
    decides = exp.true() if isinstance(condition, exp.Or) else exp.false()
    if isinstance(condition, exp.And):
        parts = [exp.not_(part) for part in parts]
    ifs = [exp.If(this=part, true=decides.copy()) for part in parts]
    return exp.paren(exp.Case(ifs=ifs, default=last))
