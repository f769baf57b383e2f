"""ORDER BY with LIMIT."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestTopRows(RuleContract):
    rule = "top_rows"
