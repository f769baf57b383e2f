"""Grouped aggregates."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestSynchronousReplication(RuleContract):
    rule = "synchronous_replication"
