"""First, last, the value at an extreme, and the n greatest or least values."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.explain import parts
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from ..fixture_files import parts_of, split_of
from ..rule_contract import RuleContract


class TestOrderedChoice(RuleContract):
    rule = "ordered_choice"


class TestTopValues(RuleContract):
    rule = "top_values"


@pytest.mark.parametrize(
    "aggregate", ["max(x, k)", "max(DISTINCT x, 2)", "max(x, 1 + 1)", "arg_max(x, k, 2)"]
)
def test_choices_that_a_merge_could_make_differently_are_not_split(
    aggregate: str, tables: Duck
) -> None:
    assert "needs every value" in parts_of(f"SELECT {aggregate} FROM chunk_0 s", tables)


@pytest.mark.parametrize("name", ["arg_max", "arg_min", "max_by", "min_by", "argmax", "argmin"])
def test_values_at_extremes_are_split_on_landmarks_only(name: str, tables: Duck) -> None:
    sql = f"SELECT g, {name}(x, k, 2) FROM chunk_0 s GROUP BY g"
    landmark = split_of(sql, tables, (WindowClause(WindowKind.LANDMARK, "s"),))
    assert not landmark.leaves[0].reason, parts(landmark)
    assert "needs every value" in parts_of(sql, tables)


@pytest.mark.parametrize(
    ("aggregate", "is_split"), [("any_value", True), ("first", False), ("last", False)]
)
def test_of_a_join_any_value_is_split_on_landmarks_only(
    aggregate: str, is_split: bool, tables: Duck
) -> None:
    # A join does not define which row is first.
    sql = f"SELECT name, {aggregate}(x) FROM chunk_0 s JOIN names ON k = id GROUP BY name"
    landmark = split_of(sql, tables, (WindowClause(WindowKind.LANDMARK, "s"),))
    assert (not landmark.leaves[0].reason) == is_split
    assert "needs the rows in their order" in parts_of(sql, tables)
