"""A plan goes by the clock of its streams."""

from __future__ import annotations

import pytest

from upstream import ManualClock, ParameterError, Stream, SystemClock
from upstream.plans import Join, Map, PlanQuery, Source
from upstream.plans.plan_clock import clock_of

from .setting import Streams, number_of


def test_a_query_that_is_given_no_clock_goes_by_that_of_its_streams() -> None:
    streams = Streams()
    query = PlanQuery(Map(Source(streams.left), number_of))
    streams.left.enqueue("IBM", 1)
    streams.clock.advance(3)
    assert query.staleness() == 3
    query.run()
    assert query.cost() == 0


def test_a_join_goes_by_the_clock_that_both_streams_have() -> None:
    streams = Streams()
    assert clock_of(Join(Source(streams.left), Source(streams.right), window=1)) is streams.clock


def test_system_clocks_do_not_differ() -> None:
    clock = clock_of(Join(Source(Stream()), Source(Stream()), window=1))
    assert isinstance(clock, SystemClock)


@pytest.mark.parametrize("clock", [ManualClock(), None])
def test_streams_of_different_clocks_need_one_to_be_given(clock: ManualClock | None) -> None:
    streams = Streams()
    plan = Join(Source(streams.left), Source(Stream(clock=clock)), window=1)
    with pytest.raises(ParameterError, match="clock must be given, as the streams have different"):
        PlanQuery(plan)
    with PlanQuery(plan, clock=streams.clock) as query:
        assert not query.is_due()
