"""Plans use every kind of arc alike, and windows stay complete."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream import (
    POLICIES,
    EagerWindowBuffer,
    LazyWindowBuffer,
    Update,
    WindowBuffer,
    WindowResult,
    WindowSpecification,
)
from upstream.plans.arc_queue import AnyArc, TupleArc, WindowArc

from .setting import Streams, values_of

Make = Callable[[Streams, str], AnyArc]


def tuple_arc(streams: Streams, policy: str, capacity: int | None = None) -> TupleArc:
    return TupleArc(policy, streams.clock, capacity)


def window_arc(streams: Streams, policy: str) -> WindowArc:
    return WindowArc(policy, WindowSpecification(1, 1), LazyWindowBuffer, streams.clock)


def put(arc: AnyArc, *times: int, key: str = "IBM") -> None:
    """Put an update for each time, with the time as its value."""
    for time in times:
        arc.put(Update(key, time, float(time)))


@pytest.mark.parametrize("make", [tuple_arc, window_arc])
@pytest.mark.parametrize("policy", ["append", "fifo", "in-place", "linecutting", "index"])
class TestAnyArc:
    def test_an_operator_may_feed_it(self, streams: Streams, make: Make, policy: str) -> None:
        arc = make(streams, policy)
        put(arc, 0, 1)
        assert len(arc) == (2 if policy == "append" and make is tuple_arc else 1)
        assert arc.take(None)

    def test_a_stream_may_feed_it(self, streams: Streams, make: Make, policy: str) -> None:
        arc = make(streams, policy)
        streams.left.enqueue("IBM", 0, 0)
        arc.attach(streams.left, snapshot=True)
        assert arc.has_more
        streams.left.enqueue("IBM", 1, 1)
        assert arc.take(None)
        assert not arc.has_more

    def test_it_is_empty_when_it_is_closed(self, streams: Streams, make: Make, policy: str) -> None:
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

    def test_its_label_names_the_policy(self, streams: Streams, make: Make, policy: str) -> None:
        arc = make(streams, policy)
        assert arc.policy == policy
        assert arc.label.startswith(f"{policy} queue")


@pytest.mark.parametrize("policy", POLICIES)
def test_an_update_can_be_taken_once(policy: str) -> None:
    arc = tuple_arc(Streams(), policy)
    assert not arc.has_more
    arc.put(Update("IBM", 24, 0.0))
    assert arc.has_more
    assert arc.take(None) == [Update("IBM", 24, 0.0)]
    assert arc.take(None) == []
    assert not arc.has_more


def test_update_arcs_conflate_and_append_arcs_do_not() -> None:
    taken = {}
    for policy in ("in-place", "append"):
        arc = tuple_arc(Streams(), policy)
        put(arc, *range(3))
        taken[policy] = values_of(arc.take(None))
    assert taken == {"in-place": [2], "append": [0, 1, 2]}


def test_a_limit_bounds_what_is_taken() -> None:
    arc = tuple_arc(Streams(), "append")
    put(arc, *range(3))
    assert values_of(arc.take(2)) == [0, 1]
    assert arc.has_more
    assert len(arc) == 1


def test_staleness_is_how_long_the_oldest_has_waited(streams: Streams) -> None:
    arc = TupleArc("in-place", streams.clock)
    arc.attach(streams.left, snapshot=False)
    assert arc.staleness() == 0.0
    streams.left.enqueue("IBM", 1)
    streams.clock.advance(2)
    streams.left.enqueue("IBM", 2)
    streams.clock.advance(1)
    assert arc.staleness() == 3.0
    arc.take(None)
    assert arc.staleness() == 0.0


def test_taken_updates_are_delivered_when_the_arc_settles(streams: Streams) -> None:
    arc = tuple_arc(streams, "in-place")
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
    arc = tuple_arc(Streams(), "append", capacity=2)
    put(arc, *range(3))
    assert values_of(arc.take(None)) == [0, 1]
    assert arc.queue.statistics().rejected == 1
    assert arc.label == "append queue of at most 2"


def test_a_closed_arc_is_empty(streams: Streams) -> None:
    arc = TupleArc("append", streams.clock)
    arc.attach(streams.left, snapshot=False)
    streams.left.enqueue("IBM", 1)
    streams.left.enqueue("IBM", 2)
    arc.take(1)
    streams.left.close()
    assert (len(arc), arc.has_more, arc.staleness(), arc.take(None)) == (0, False, 0.0, [])
    arc.settle()
    assert arc.queue.statistics().waiting == 1


def windows_of_two(streams: Streams, policy: str = "in-place") -> WindowArc:
    return WindowArc(policy, WindowSpecification(2, 2), LazyWindowBuffer, streams.clock)


def times_of(arc: WindowArc, limit: int | None = None) -> list[float | None]:
    """Return the times of what is taken, None for the end of a window."""
    return [each.update.time if each.update else None for each in arc.take(limit)]


def test_the_most_recent_window_leaves_whole() -> None:
    arc = windows_of_two(Streams())
    put(arc, *range(5))
    assert times_of(arc) == [2.0, 3.0, None]


def test_append_keeps_every_window() -> None:
    arc = windows_of_two(Streams(), "append")
    put(arc, *range(5))
    assert times_of(arc) == [0.0, 1.0, None, 2.0, 3.0, None, 4.0]


def test_there_is_more_until_all_was_taken(streams: Streams) -> None:
    arc = windows_of_two(streams)
    arc.attach(streams.left, snapshot=False)
    assert not arc.has_more
    for time in range(3):
        streams.left.enqueue("IBM", time, time)
    assert arc.has_more
    assert times_of(arc, 2) == [0.0, 1.0]
    assert arc.has_more
    assert times_of(arc, 2) == [None]
    assert not arc.has_more


@pytest.mark.parametrize(
    ("policy", "buffer", "after_each"),
    [
        ("in-place", LazyWindowBuffer, [False, False, True]),
        ("in-place", EagerWindowBuffer, [True, True, True]),
        ("append", LazyWindowBuffer, [True, True, True]),
    ],
)
def test_there_is_something_to_take_when_a_window_may_be_begun(
    streams: Streams, policy: str, buffer: type[WindowBuffer], after_each: list[bool]
) -> None:
    arc = WindowArc(policy, WindowSpecification(2, 2), buffer, streams.clock)
    arc.attach(streams.left, snapshot=False)
    for time, expected in enumerate(after_each):
        streams.left.enqueue("IBM", time, time)
        assert arc.has_more is expected
        assert bool(arc.take(None)) is expected
        assert not arc.has_more


def test_an_eager_window_that_waits_for_the_one_before_is_not_there_yet(streams: Streams) -> None:
    arc = WindowArc("in-place", WindowSpecification(3, 2), EagerWindowBuffer, streams.clock)
    arc.attach(streams.left, snapshot=False)
    for time in (0, 2):  # window 0 to 3 is begun and lacks its end; 2 to 5 waits for that
        streams.left.enqueue("IBM", time, time)
        assert times_of(arc) == [time]
    assert len(arc) == 1
    assert not arc.has_more
    streams.left.enqueue("IBM", 3, 3)
    assert arc.has_more
    assert times_of(arc) == [None, 2.0, 3.0]


def test_windows_that_time_closes_wait_as_well() -> None:
    arc = windows_of_two(Streams())
    put(arc, 0)
    assert times_of(arc) == []
    arc.advance(2)
    assert arc.has_more
    assert times_of(arc) == [0.0, None]
    assert not arc.has_more


def test_staleness_is_how_long_a_window_has_waited(streams: Streams) -> None:
    arc = windows_of_two(streams)
    put(arc, 0)
    streams.clock.advance(5)
    assert arc.staleness() == 0.0  # the window is open
    put(arc, 2)
    streams.clock.advance(3)
    put(arc, 0, 2, key="GM")
    streams.clock.advance(1)
    assert arc.staleness() == 4.0


def test_results_are_delivered_when_they_are_settled() -> None:
    arc = windows_of_two(Streams())
    put(arc, *range(3))
    arc.take(None)
    arc.note_result(WindowResult("IBM", 0.0, 2.0, "whatever"))
    assert arc.queue.statistics().in_process == 1
    arc.settle()
    assert arc.queue.statistics().in_process == 0
    assert arc.queue.statistics().delivered == 1


def test_the_label_tells_the_windows(streams: Streams) -> None:
    eager = WindowArc("fifo", WindowSpecification(2.5, 1), EagerWindowBuffer, streams.clock)
    assert eager.label == "fifo queue of EAGER windows of 2.5 s every 1 s"
    assert windows_of_two(streams, "append").label == (
        "append queue of all windows of 2 s every 2 s"
    )
