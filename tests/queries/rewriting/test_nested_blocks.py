"""Blocks within blocks."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestNestedBlocks(RuleContract):
    rule = "nested_blocks"
