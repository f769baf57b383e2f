"""SQL in tests, parsed to the kind of tree that is expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp, parse_one

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import DialectType


def query_of(text: str, dialect: DialectType = "duckdb") -> exp.Query:
    query = parse_one(text, dialect=dialect)
    assert isinstance(query, exp.Query)
    return query


def select_of(text: str, dialect: DialectType = "duckdb") -> exp.Select:
    select = query_of(text, dialect)
    assert isinstance(select, exp.Select)
    return select


def value_of(text: str, dialect: DialectType = "duckdb") -> exp.Expr:
    """Return the tree of an expression, as the only item of a SELECT."""
    [value] = select_of(f"SELECT {text}", dialect).expressions
    assert isinstance(value, exp.Expr)
    return value
