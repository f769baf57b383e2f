"""What a plan did: the exact counters of its operators and arcs."""

from __future__ import annotations

from dataclasses import dataclass

from .running_plan import ArcStatistics
from .tally import OperatorStatistics


@dataclass(frozen=True, slots=True)
class PlanStatistics:
    """The exact counters of a query at one moment."""

    name: str
    runs: int
    operators: tuple[OperatorStatistics, ...]
    """In the order in which they run; last the callback, if there is one."""
    arcs: tuple[ArcStatistics, ...]
    """The arcs, each after those that it comes from; last the results."""

    @property
    def is_balanced(self) -> bool:
        """Whether every update is accounted for."""
        operators = all(operator.is_balanced for operator in self.operators)
        return operators and all(arc.queue.is_balanced for arc in self.arcs)
