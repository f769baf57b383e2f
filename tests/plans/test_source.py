"""Sources are streams, which queries share."""

from __future__ import annotations

import pytest

from upstream import ManualClock, ParameterError
from upstream.plans import Arc, Filter, Map, PlanQuery, Source

from .setting import Streams, number_of, values_of


def test_several_queries_on_a_stream_share_its_one_copy_of_each_value() -> None:
    streams = Streams()
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


def test_what_one_query_takes_the_others_still_get() -> None:
    streams = Streams()
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
    input: str,  # noqa: A002 - the report's word
    policy: str,
) -> None:
    streams = Streams()
    streams.left.enqueue("IBM", 1)
    streams.left.enqueue("IBM", 2)
    for snapshot, expected in ((True, [2]), (False, [])):
        source = Arc(Source(streams.left, snapshot=snapshot), policy)
        query = PlanQuery(Filter(source, number_of), input=input, clock=streams.clock)
        assert values_of(query.results()) == expected


def test_a_source_is_a_stream() -> None:
    with pytest.raises(ParameterError, match="a Stream"):
        Source(ManualClock())  # type: ignore[arg-type]  # wrong on purpose


def test_nobody_starts_a_source() -> None:
    streams = Streams()
    assert Source(streams.left).arcs == ()
    with pytest.raises(AssertionError, match="source"):
        Source(streams.left).start(streams.clock, ())
