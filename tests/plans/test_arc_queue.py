"""Whatever is on an arc, plans use it alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream import LazyWindowBuffer, Update, WindowSpecification
from upstream.plans import Arc, Source
from upstream.plans.arc_queue import AnyArc
from upstream.plans.tuple_arc import TupleArc
from upstream.plans.window_arc import WindowArc

from .setting import Streams


def tuple_arc(streams: Streams, policy: str) -> AnyArc:
    return TupleArc(Arc(Source(streams.left)), policy, streams.clock)


def window_arc(streams: Streams, policy: str) -> AnyArc:
    return WindowArc(policy, WindowSpecification(1, 1), LazyWindowBuffer, streams.clock)


@pytest.mark.parametrize("make", [tuple_arc, window_arc])
@pytest.mark.parametrize("policy", ["append", "fifo", "in-place", "linecutting", "index"])
class TestAnyArc:
    def test_an_operator_may_feed_it(
        self, make: Callable[[Streams, str], AnyArc], policy: str
    ) -> None:
        arc = make(Streams(), policy)
        for time in range(2):
            arc.put(Update("IBM", time, float(time)))
        assert len(arc) == (2 if policy == "append" and make is tuple_arc else 1)
        assert arc.take(None)

    def test_a_stream_may_feed_it(
        self, make: Callable[[Streams, str], AnyArc], policy: str
    ) -> None:
        streams = Streams()
        arc = make(streams, policy)
        streams.left.enqueue("IBM", 0, 0)
        arc.attach(streams.left, snapshot=True)
        assert arc.has_more
        streams.left.enqueue("IBM", 1, 1)
        assert arc.take(None)
        assert not arc.has_more

    def test_it_is_empty_when_it_is_closed(
        self, make: Callable[[Streams, str], AnyArc], policy: str
    ) -> None:
        streams = Streams()
        arc = make(streams, policy)
        arc.attach(streams.left, snapshot=False)
        for time in range(2):
            streams.left.enqueue("IBM", time, time)
        arc.queue.close()
        assert (len(arc), arc.has_more, arc.take(None), arc.staleness()) == (0, False, [], 0.0)
        arc.settle()
        if isinstance(arc, WindowArc):
            arc.advance(9)
            assert not arc.has_more

    def test_its_label_names_the_policy(
        self, make: Callable[[Streams, str], AnyArc], policy: str
    ) -> None:
        arc = make(Streams(), policy)
        assert arc.policy == policy
        assert arc.label.startswith(f"{policy} queue")
