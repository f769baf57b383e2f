"""Aggregates are split into their parts."""

from __future__ import annotations

import pytest

from upstream.queries.rewriting.aggregates.aggregate_call import is_call, read_call
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.functions import name_of

from ...parsed import value_of


@pytest.mark.parametrize(
    ("sql", "name", "arguments"),
    [
        ("sum(x)", "sum", ["x"]),
        ("count(*)", "count", []),
        ("any_value(x)", "any_value", ["x"]),
        ("regr_slope(y, x)", "regr_slope", ["y", "x"]),
        ("arg_min(x, y)", "arg_min", ["x", "y"]),
        ("quantile_cont(x, 0.5)", "quantile_cont", ["x", "0.5"]),
        ("histogram(x)", "histogram", ["x"]),
    ],
)
def test_a_call_has_duckdbs_name_and_order_of_arguments(
    sql: str, name: str, arguments: list[str]
) -> None:
    call = read_call(value_of(sql, DIALECT))
    assert (call.name, [argument.sql() for argument in call.arguments]) == (name, arguments)
    assert call.is_plain
    assert not call.is_distinct


def test_distinct_and_filter_are_separated_from_the_arguments() -> None:
    call = read_call(value_of("sum(DISTINCT x) FILTER (WHERE y > 1)", DIALECT))
    assert call.is_distinct
    assert [argument.sql() for argument in call.arguments] == ["x"]
    assert call.condition is not None
    assert call.condition.sql() == "y > 1"


@pytest.mark.parametrize(
    "sql", ["list(x ORDER BY y)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"]
)
def test_an_order_within_makes_a_call_more_than_plain(sql: str) -> None:
    assert not read_call(value_of(sql, DIALECT)).is_plain


def test_a_call_is_found_under_what_is_wrapped_around_it() -> None:
    found = is_call(value_of("sum(x) FILTER (WHERE y)", DIALECT))
    assert found is not None
    assert name_of(found) == "sum"
    assert is_call(value_of("x", DIALECT)) is None
