"""The first rows of each group, over a stream of which nothing leaves."""

from __future__ import annotations

from .rule_contract import RuleContract


class TestBoundedRows(RuleContract):
    rule = "bounded_rows"
