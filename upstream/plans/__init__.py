"""Continuous queries of Python operators under update semantics (report, section 3.2)."""

from .aggregate import Aggregate
from .join import Join
from .plan_query import Delivery, PlanQuery
from .plan_statistics import ArcStatistics, OperatorStatistics, PlanStatistics
from .plan_tree import Arc, Operator, Source
from .row_operators import Filter, Map
from .union import Union

__all__ = [
    "Aggregate",
    "Arc",
    "ArcStatistics",
    "Delivery",
    "Filter",
    "Join",
    "Map",
    "Operator",
    "OperatorStatistics",
    "PlanQuery",
    "PlanStatistics",
    "Source",
    "Union",
]
