"""UNION ALL and its like, and aggregates over it."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestSetOperations(RuleContract):
    rule = "set_operations"
