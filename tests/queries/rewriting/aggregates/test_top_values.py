"""The n greatest or least values."""

from __future__ import annotations

import pytest

from ..fixture_files import new_duck, parts_of
from ..rule_contract import RuleContract


class TestTopValues(RuleContract):
    rule = "top_values"


@pytest.mark.parametrize(
    "aggregate", ["max(x, k)", "max(DISTINCT x, 2)", "max(x, 1 + 1)", "arg_max(x, k, 2)"]
)
def test_what_merging_could_choose_otherwise_is_not_split(aggregate: str) -> None:
    duck = new_duck()
    assert "needs every value" in parts_of(f"SELECT {aggregate} FROM chunk_0 s", duck)
    duck.close()
