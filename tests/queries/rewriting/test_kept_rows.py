"""Rows are kept for results that depend on every value."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestKeptRows(RuleContract):
    rule = "kept_rows"


class TestCountedRows(RuleContract):
    rule = "counted_rows"
