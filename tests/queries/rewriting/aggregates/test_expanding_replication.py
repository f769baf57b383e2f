"""Averages from sums and counts."""

from __future__ import annotations

from ..rule_contract import RuleContract


class TestExpandingReplication(RuleContract):
    rule = "expanding_replication"
