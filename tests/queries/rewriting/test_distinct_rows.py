"""SELECT DISTINCT."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestDistinctRows(RuleContract):
    rule = "distinct_rows"
