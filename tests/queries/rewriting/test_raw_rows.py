"""What cannot be split: the rows are kept, the whole is evaluated."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestVolatileFunctions(RuleContract):
    rule = "volatile"
