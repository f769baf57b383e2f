"""An arc of updates conflates, or not, as its policy says."""

from __future__ import annotations

import pytest

from upstream import POLICIES, Update
from upstream.plans import Arc, Source
from upstream.plans.tuple_arc import TupleArc

from .setting import Streams, values_of


def arc_of_policy(streams: Streams, policy: str, capacity: int | None = None) -> TupleArc:
    arc = Arc(Source(streams.left), policy, capacity)
    return TupleArc(arc, policy, streams.clock)


@pytest.mark.parametrize("policy", POLICIES)
def test_what_was_put_in_can_be_taken_once(policy: str) -> None:
    arc = arc_of_policy(Streams(), policy)
    assert not arc.has_more
    arc.put(Update("IBM", 24, 0.0))
    assert arc.has_more
    assert arc.take(None) == [Update("IBM", 24, 0.0)]
    assert arc.take(None) == []
    assert not arc.has_more


def test_update_arcs_conflate_and_append_arcs_do_not() -> None:
    taken = {}
    for policy in ("in-place", "append"):
        arc = arc_of_policy(Streams(), policy)
        for value in range(3):
            arc.put(Update("IBM", value, float(value)))
        taken[policy] = values_of(arc.take(None))
    assert taken == {"in-place": [2], "append": [0, 1, 2]}


def test_a_limit_bounds_what_is_taken() -> None:
    arc = arc_of_policy(Streams(), "append")
    for value in range(3):
        arc.put(Update("IBM", value, float(value)))
    assert values_of(arc.take(2)) == [0, 1]
    assert arc.has_more
    assert len(arc) == 1


def test_staleness_is_how_long_the_oldest_has_waited() -> None:
    streams = Streams()
    arc = TupleArc(Arc(Source(streams.left)), "in-place", streams.clock)
    arc.attach(streams.left, snapshot=False)
    assert arc.staleness() == 0.0
    streams.left.enqueue("IBM", 1)
    streams.clock.advance(2)
    streams.left.enqueue("IBM", 2)
    streams.clock.advance(1)
    assert arc.staleness() == 3.0
    arc.take(None)
    assert arc.staleness() == 0.0


def test_what_was_taken_is_delivered_when_it_is_settled() -> None:
    streams = Streams()
    arc = arc_of_policy(streams, "in-place")
    arc.put(Update("IBM", 1, 0.0))
    arc.take(None)
    streams.clock.advance(2)
    assert arc.queue.statistics().in_process == 1
    assert arc.queue.application_staleness("IBM") == 1.0  # 0 to 2
    arc.settle()
    assert arc.queue.statistics().delivered == 1
    streams.clock.advance(2)
    assert arc.queue.application_staleness("IBM") == 0.5


def test_a_capacity_bounds_what_waits() -> None:
    arc = arc_of_policy(Streams(), "append", capacity=2)
    for value in range(3):
        arc.put(Update("IBM", value, float(value)))
    assert values_of(arc.take(None)) == [0, 1]
    assert arc.queue.statistics().rejected == 1
    assert arc.label == "append queue of at most 2"


def test_a_closed_arc_is_empty() -> None:
    streams = Streams()
    arc = TupleArc(Arc(Source(streams.left)), "append", streams.clock)
    arc.attach(streams.left, snapshot=False)
    streams.left.enqueue("IBM", 1)
    streams.left.enqueue("IBM", 2)
    arc.take(1)
    streams.left.close()
    assert (len(arc), arc.has_more, arc.staleness(), arc.take(None)) == (0, False, 0.0, [])
    arc.settle()
    assert arc.queue.statistics().waiting == 1
