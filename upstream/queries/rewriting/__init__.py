"""Query rewriting: a query over chunks as a partial per step, a merge over partials, a finish."""

from .explain import explain, parts, whole
from .split import split
from .split_query import Leaf, SplitQuery, State, StateKind

__all__ = ["Leaf", "SplitQuery", "State", "StateKind", "explain", "parts", "split", "whole"]
