"""A plan is a tree of operators with a queue on each arc, over streams that queries share."""

from __future__ import annotations

import pytest

from upstream import POLICIES, ManualClock, ParameterError, Stream, SystemClock, UnknownPolicyError
from upstream.plans import Arc, Filter, Join, Map, PlanQuery, Source, Union
from upstream.plans.plan_tree import (
    arc_from,
    check_function,
    clock_of,
    name_of_function,
    streams_of,
)

from .setting import Streams, number_of, values_of


@pytest.mark.parametrize("policy", [None, *POLICIES])
def test_an_arc_may_have_any_policy(policy: str | None) -> None:
    arc = Arc(Source(Streams().left), policy)
    assert Filter(arc, number_of).arcs == (arc,)


def test_an_operator_stands_for_an_arc_of_the_default_policy() -> None:
    source = Source(Streams().left)
    assert arc_from(source) == Arc(source, None, None)


def test_an_arc_of_no_known_policy_is_refused() -> None:
    with pytest.raises(UnknownPolicyError, match="in-place"):
        Arc(Source(Streams().left), "newest")


def test_an_arc_comes_from_an_operator() -> None:
    with pytest.raises(ParameterError, match=r"Source\(stream\)"):
        Arc(Streams().left)  # type: ignore[arg-type]  # wrong on purpose


def test_a_capacity_is_a_count() -> None:
    with pytest.raises(ParameterError, match="capacity"):
        Arc(Source(Streams().left), capacity=0)


def test_a_plan_reads_a_stream_once_even_if_it_is_several_sources(streams: Streams) -> None:
    plan = Union(Source(streams.left), Source(streams.right), Source(streams.left))
    assert streams_of(plan) == (streams.left, streams.right)


def test_functions_are_recognised_by_their_names() -> None:
    class Rule:
        def __call__(self) -> None: ...

    assert name_of_function(number_of) == "number_of"
    assert name_of_function(Rule()) == "Rule"


def test_a_value_that_cannot_be_called_is_refused_as_a_function() -> None:
    check_function("rule", number_of, "a function")
    check_function("rule", None, "a function", or_none=True)
    with pytest.raises(ParameterError, match="rule must be a function"):
        check_function("rule", None, "a function")


def test_several_queries_on_a_stream_share_its_one_copy_of_each_value(streams: Streams) -> None:
    queries = [
        PlanQuery(Map(Source(streams.left), lambda update: update.value), clock=streams.clock)
        for _ in range(3)
    ]
    price = object()
    streams.left.enqueue("IBM", price)
    assert streams.left.statistics().queues == 3
    assert [query.results()[0].value for query in queries] == [price] * 3
    newest = streams.left.read("IBM")
    assert newest is not None
    assert newest.value is price


def test_each_query_gets_its_own_updates(streams: Streams) -> None:
    first, second = (
        PlanQuery(Filter(Source(streams.left), number_of), clock=streams.clock) for _ in "ab"
    )
    streams.left.enqueue("IBM", 1)
    assert values_of(first.results()) == [1]
    streams.left.enqueue("IBM", 2)
    assert values_of(second.results()) == [2]
    assert values_of(first.results()) == [2]


@pytest.mark.parametrize("input", ["push", "pull"])
@pytest.mark.parametrize("policy", ["append", "in-place", "adaptive"])
def test_a_query_may_begin_with_what_the_stream_knows(
    streams: Streams,
    input: str,  # noqa: A002 - the report's word
    policy: str,
) -> None:
    streams.left.enqueue("IBM", 1)
    streams.left.enqueue("IBM", 2)
    for snapshot, expected in ((True, [2]), (False, [])):
        source = Arc(Source(streams.left, snapshot=snapshot), policy)
        query = PlanQuery(Filter(source, number_of), input=input, clock=streams.clock)
        assert values_of(query.results()) == expected


def test_a_source_is_a_stream() -> None:
    with pytest.raises(ParameterError, match="a Stream"):
        Source(ManualClock())  # type: ignore[arg-type]  # wrong on purpose


def test_a_source_cannot_be_started(streams: Streams) -> None:
    assert Source(streams.left).arcs == ()
    with pytest.raises(AssertionError, match="source"):
        Source(streams.left).start(streams.clock, "append")


def test_a_query_without_a_clock_uses_the_clock_of_its_streams(streams: Streams) -> None:
    query = PlanQuery(Map(Source(streams.left), number_of))
    streams.left.enqueue("IBM", 1)
    streams.clock.advance(3)
    assert query.staleness() == 3
    query.run()
    assert query.cost() == 0


def test_a_join_uses_the_clock_that_both_streams_have(streams: Streams) -> None:
    assert clock_of(Join(Source(streams.left), Source(streams.right), window=1)) is streams.clock


def test_system_clocks_do_not_differ() -> None:
    clock = clock_of(Join(Source(Stream()), Source(Stream()), window=1))
    assert isinstance(clock, SystemClock)


@pytest.mark.parametrize("clock", [ManualClock(), None])
def test_streams_with_different_clocks_need_a_given_one(
    streams: Streams, clock: ManualClock | None
) -> None:
    plan = Join(Source(streams.left), Source(Stream(clock=clock)), window=1)
    with pytest.raises(ParameterError, match="clock must be given, since the streams have differ"):
        PlanQuery(plan)
    with PlanQuery(plan, clock=streams.clock) as query:
        assert not query.is_due()
