"""Rules for aggregates: which states a partial keeps of each, and what the finish makes of them."""

from .rules import split_aggregate

__all__ = ["split_aggregate"]
