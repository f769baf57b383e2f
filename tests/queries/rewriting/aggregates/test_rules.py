"""Which aggregates have a rule."""

from __future__ import annotations

import pytest

from upstream.queries.rewriting.aggregates.rules import split_aggregate
from upstream.queries.rewriting.not_incremental import NotIncrementalError
from upstream.queries.rewriting.partial_columns import PartialColumns

from ...parsed import value_of
from ..rule_contract import RuleContract


@pytest.mark.parametrize("sql", ["median(x)", "list(x)", "sum(x ORDER BY y)", "arg_min(x, y, 2)"])
def test_an_aggregate_without_a_rule_is_named_in_the_reason(sql: str) -> None:
    with pytest.raises(NotIncrementalError, match="needs every value") as error:
        split_aggregate(value_of(sql), PartialColumns())
    assert sql.partition("(")[0].upper().replace("LIST", "ARRAY_AGG") in error.value.reason


def test_aggregates_share_the_states_they_have_in_common() -> None:
    columns = PartialColumns()
    for sql in ("avg(x)", "sum(x)", "count(x)", "avg(x)"):
        split_aggregate(value_of(sql), columns)
    assert [item.alias for item in columns.items()] == ["__s0", "__s1"]


def test_the_same_aggregate_with_another_condition_has_a_state_of_its_own() -> None:
    columns = PartialColumns()
    for sql in ("sum(x)", "sum(x) FILTER (WHERE y)"):
        split_aggregate(value_of(sql), columns)
    assert len(columns.states) == 2


class TestDistinctValues(RuleContract):
    rule = "distinct_values"
