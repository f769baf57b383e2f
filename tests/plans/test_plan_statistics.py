"""Every row that an operator takes has one fate, and a plan's counters account for all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from upstream import QueueStatistics
from upstream.plans import Map, PlanQuery, Source
from upstream.plans.plan_statistics import FAILED, Tally

from .setting import Streams, number_of


def test_rows_balance_if_each_has_one_fate() -> None:
    tally = Tally()
    tally.taken, tally.made = 15, 1
    tally.delivered, tally.filtered, tally.dropped, tally.failed, tally.absorbed = 1, 2, 4, 8, 1
    assert tally.statistics("any").is_balanced
    tally.filtered += 1
    assert not tally.statistics("any").is_balanced


def test_statistics_are_of_their_moment() -> None:
    tally = Tally()
    before = tally.statistics("any")
    tally.evicted += 1
    assert (before.name, before.evicted, tally.statistics("any").evicted) == ("any", 0, 1)


def test_the_first_error_is_kept() -> None:
    tally = Tally()
    assert tally.attempt(int, "7") == 7
    assert tally.error is None
    assert tally.attempt(int, "seven") is FAILED
    assert tally.attempt(int, None) is FAILED  # type: ignore[arg-type]  # wrong on purpose
    assert isinstance(tally.error, ValueError)


def test_an_interrupt_is_not_counted_but_raised() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Tally().attempt(interrupt)


def test_a_plan_is_balanced_if_each_operator_and_each_arc_is(streams: Streams) -> None:
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
