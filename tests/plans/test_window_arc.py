"""An arc of windows carries whole windows."""

from __future__ import annotations

import pytest

from upstream import (
    EagerWindowBuffer,
    LazyWindowBuffer,
    ParameterError,
    UnknownPolicyError,
    Update,
    WindowBuffer,
    WindowResult,
    WindowSpecification,
)
from upstream.plans import Arc, Source
from upstream.plans.window_arc import WindowArc, check_window_arc

from .setting import Streams


def windows_of_two(streams: Streams, policy: str = "in-place") -> WindowArc:
    return WindowArc(policy, WindowSpecification(2, 2), LazyWindowBuffer, streams.clock)


def times_of(arc: WindowArc, limit: int | None = None) -> list[float | None]:
    """Return the times of what is taken, None for the end of a window."""
    return [each.update.time if each.update else None for each in arc.take(limit)]


def test_the_most_recent_window_leaves_whole() -> None:
    arc = windows_of_two(Streams())
    for time in range(5):
        arc.put(Update("IBM", time, float(time)))
    assert times_of(arc) == [2.0, 3.0, None]


def test_append_keeps_every_window() -> None:
    arc = windows_of_two(Streams(), "append")
    for time in range(5):
        arc.put(Update("IBM", time, float(time)))
    assert times_of(arc) == [0.0, 1.0, None, 2.0, 3.0, None, 4.0]


def test_there_is_more_until_all_was_taken() -> None:
    streams = Streams()
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
    policy: str, buffer: type[WindowBuffer], after_each: list[bool]
) -> None:
    streams = Streams()
    arc = WindowArc(policy, WindowSpecification(2, 2), buffer, streams.clock)
    arc.attach(streams.left, snapshot=False)
    for time, expected in enumerate(after_each):
        streams.left.enqueue("IBM", time, time)
        assert arc.has_more is expected
        assert bool(arc.take(None)) is expected
        assert not arc.has_more


def test_an_eager_window_that_waits_for_the_one_before_is_not_there_yet() -> None:
    streams = Streams()
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
    arc.put(Update("IBM", 0, 0.0))
    assert times_of(arc) == []
    arc.advance(2)
    assert arc.has_more
    assert times_of(arc) == [0.0, None]
    assert not arc.has_more


def test_staleness_is_how_long_a_window_has_waited() -> None:
    streams = Streams()
    arc = windows_of_two(streams)
    arc.put(Update("IBM", 0, 0.0))
    streams.clock.advance(5)
    assert arc.staleness() == 0.0  # the window is open
    arc.put(Update("IBM", 2, 2.0))
    streams.clock.advance(3)
    arc.put(Update("GM", 0, 0.0))
    arc.put(Update("GM", 2, 2.0))
    streams.clock.advance(1)
    assert arc.staleness() == 4.0


def test_results_are_delivered_when_they_are_settled() -> None:
    arc = windows_of_two(Streams())
    for time in range(3):
        arc.put(Update("IBM", time, float(time)))
    arc.take(None)
    arc.note_result(WindowResult("IBM", 0.0, 2.0, "whatever"))
    assert arc.queue.statistics().in_process == 1
    arc.settle()
    assert arc.queue.statistics().in_process == 0
    assert arc.queue.statistics().delivered == 1


def test_the_label_tells_the_windows() -> None:
    streams = Streams()
    eager = WindowArc("fifo", WindowSpecification(2.5, 1), EagerWindowBuffer, streams.clock)
    assert eager.label == "fifo queue of EAGER windows of 2.5 s every 1 s"
    assert windows_of_two(streams, "append").label == (
        "append queue of all windows of 2 s every 2 s"
    )


def test_only_arcs_that_can_carry_windows_are_allowed() -> None:
    source = Source(Streams().left)
    check_window_arc(Arc(source))
    check_window_arc(Arc(source, "append"))
    with pytest.raises(UnknownPolicyError):
        check_window_arc(Arc(source, "adaptive"))
    with pytest.raises(ParameterError, match="capacity"):
        check_window_arc(Arc(source, "in-place", 5))
