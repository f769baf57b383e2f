"""Sums of sums, least minima, sums of counts."""

from __future__ import annotations

from ..rule_contract import RuleContract


class TestCompensation(RuleContract):
    rule = "compensation"
