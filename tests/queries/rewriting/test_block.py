"""Joins of streams with tables, and with one another."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestTableJoins(RuleContract):
    rule = "table_join"


class TestStreamJoins(RuleContract):
    rule = "stream_join"
