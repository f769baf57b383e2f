"""Variances and regressions from moments."""

from __future__ import annotations

from ..rule_contract import RuleContract


class TestVariance(RuleContract):
    rule = "variance"


class TestRegression(RuleContract):
    rule = "regression"
