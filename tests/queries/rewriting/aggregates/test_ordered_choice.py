"""First, last, and the value at an extreme."""

from __future__ import annotations

from ..rule_contract import RuleContract


class TestOrderedChoice(RuleContract):
    rule = "ordered_choice"
