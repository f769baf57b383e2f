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
    """Return a query for ROW and IS_LAST of each row of ROWS; the condition was read before.

    Whether the condition fails on a row does not depend on other rows. AND, OR and NOT are
    evaluated from left to right, and only as far as necessary, so `note <> '' AND note::INT = 0`
    does not fail on an empty note. In WHERE, DuckDB would reorder the condition while it runs.
    """
    # sqlglot reads a statement: alone, a condition on a column named set would be SET
    select = parse_one(f"SELECT ({condition})", dialect=DIALECT)
    assert isinstance(select, exp.Select)
    [tree] = select.expressions
    is_last = _is(tree, truth=True)
    return exp.select(column(ROW), exp.alias_(is_last, IS_LAST, quoted=True)).from_(ROWS)


def _is(condition: exp.Expr, *, truth: bool) -> exp.Expr:
    """Return whether a condition is true, or is false; this is never NULL."""
    condition = condition.unnest()
    if isinstance(condition, exp.Not):
        return _is(condition.this, truth=not truth)
    if not isinstance(condition, exp.And | exp.Or):
        return exp.Is(this=exp.paren(condition), expression=exp.Boolean(this=truth))
    *parts, last = [_is(part, truth=truth) for part in condition.flatten()]
    any_decides = isinstance(condition, exp.Or) == truth
    ifs = [
        exp.If(this=part if any_decides else exp.not_(part), true=exp.Boolean(this=any_decides))
        for part in parts
    ]
    return exp.paren(exp.Case(ifs=ifs, default=last))
