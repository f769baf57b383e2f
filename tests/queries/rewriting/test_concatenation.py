"""Rows that are evaluated one by one."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestConcatenation(RuleContract):
    rule = "concatenation"


class TestTopRows(RuleContract):
    rule = "top_rows"
