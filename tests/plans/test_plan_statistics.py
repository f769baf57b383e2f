"""The counters of a plan account for every update."""

from __future__ import annotations

from dataclasses import replace

from upstream import QueueStatistics
from upstream.plans import Map, PlanQuery, Source

from .setting import Streams, number_of


def test_a_plan_is_balanced_if_each_operator_and_each_arc_is() -> None:
    streams = Streams()
    query = PlanQuery(Map(Source(streams.left), number_of), name="numbers")
    streams.left.enqueue("IBM", 1)
    query.run()
    statistics = query.statistics()
    assert (statistics.name, statistics.runs, statistics.is_balanced) == ("numbers", 1, True)
    [operator], [first, *others] = statistics.operators, statistics.arcs
    lost = replace(operator, delivered=0)
    assert not replace(statistics, operators=(lost,)).is_balanced
    assert isinstance(first.queue, QueueStatistics)
    arc = replace(first, queue=replace(first.queue, arrived=7))
    assert not replace(statistics, arcs=(arc, *others)).is_balanced
