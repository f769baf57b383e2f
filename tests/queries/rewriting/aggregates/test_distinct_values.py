"""DISTINCT aggregates over sets of values."""

from __future__ import annotations

from ..rule_contract import RuleContract


class TestDistinctValues(RuleContract):
    rule = "distinct_values"
