"""Continuous queries of Python operators under update semantics (report, section 3.2)."""

from .aggregate import Aggregate
from .filter import Filter
from .join import Join
from .map import Map
from .plan_query import Delivery, PlanQuery
from .plan_statistics import PlanStatistics
from .plan_tree import Arc, Operator
from .running_plan import ArcStatistics
from .source import Source
from .tally import OperatorStatistics
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
