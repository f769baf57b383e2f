"""A block divided."""

from __future__ import annotations

from sqlglot import exp

from upstream.queries.rewriting.division import Division


def test_a_division_is_of_rows_unless_it_says_otherwise() -> None:
    query = exp.select("x").from_("chunk_0")
    division = Division("rows", query, query, query)
    assert division.groups is None
    assert division.direct is None
    assert not division.row_wise
