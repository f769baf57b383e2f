"""Equal rows kept once, with their number."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestCountedRows(RuleContract):
    rule = "counted_rows"
