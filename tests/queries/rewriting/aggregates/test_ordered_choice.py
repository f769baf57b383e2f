"""First, last, the value at an extreme, and the n greatest or least values."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from upstream.queries.rewriting.explain import parts
from upstream.queries.rewriting.split import split
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from ..fixture_files import new_duck, parts_of
from ..random_steps import SCHEMAS
from ..rule_contract import RuleContract


class TestOrderedChoice(RuleContract):
    rule = "ordered_choice"


class TestTopValues(RuleContract):
    rule = "top_values"


@pytest.mark.parametrize(
    "aggregate", ["max(x, k)", "max(DISTINCT x, 2)", "max(x, 1 + 1)", "arg_max(x, k, 2)"]
)
def test_what_merging_could_choose_otherwise_is_not_split(aggregate: str) -> None:
    duck = new_duck()
    assert "needs every value" in parts_of(f"SELECT {aggregate} FROM chunk_0 s", duck)
    duck.close()


@pytest.mark.parametrize("name", ["arg_max", "arg_min", "max_by", "min_by", "argmax", "argmin"])
def test_values_at_extremes_are_split_on_landmarks_only(name: str) -> None:
    duck = new_duck()
    sql = f"SELECT g, {name}(x, k, 2) FROM chunk_0 s GROUP BY g"
    query = parse_one(sql, dialect=DIALECT)
    assert isinstance(query, exp.Query)
    landmark = split(query, (WindowClause(WindowKind.LANDMARK, "s"),), SCHEMAS, duck)
    assert not landmark.leaves[0].reason, parts(landmark)
    assert "needs every value" in parts_of(sql, duck)
    duck.close()
