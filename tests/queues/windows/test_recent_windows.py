"""The states of the keys of a window queue: waiting and processing, side by side."""

from __future__ import annotations

import pytest

from upstream import (
    ManualClock,
    WindowMark,
    WindowQueue,
    WindowSpecification,
)
from upstream.windows import KeyState

from ..window_kinds import SLIDING, TUMBLING, eager, feed, lazy


def state_of(queue: object, key: object) -> tuple[KeyState, KeyState]:
    assert isinstance(queue, WindowQueue)
    progress = queue._intake.places_by_key[key].progress
    return progress.waiting_state, progress.processing_state


class TestStates:
    def test_a_lazy_key_waits_is_ready_and_is_done(self) -> None:
        queue = lazy(TUMBLING)
        feed(queue, "IBM", [0, 1])
        assert state_of(queue, "IBM") == (KeyState.ENQ, KeyState.DONE)
        feed(queue, "IBM", [3])
        assert state_of(queue, "IBM") == (KeyState.WAIT, KeyState.DONE)
        queue.dequeue()
        assert state_of(queue, "IBM") == (KeyState.ENQ, KeyState.READY)
        queue.dequeue_many(2)
        assert state_of(queue, "IBM") == (KeyState.ENQ, KeyState.DONE)

    def test_an_eager_key_is_idle_in_a_gap_and_may_wait_meanwhile(self) -> None:
        queue = eager(SLIDING)
        feed(queue, "IBM", [0])
        queue.dequeue_many(2)
        assert state_of(queue, "IBM") == (KeyState.ENQ, KeyState.IDLE)
        feed(queue, "IBM", [1])
        assert state_of(queue, "IBM") == (KeyState.WAIT, KeyState.READY)
        queue.dequeue_many(2)
        assert state_of(queue, "IBM") == (KeyState.WAIT, KeyState.IDLE)
        assert queue.statistics().idle == len(queue) == 1
        feed(queue, "IBM", [2])
        queue.dequeue()
        assert state_of(queue, "IBM") == (KeyState.WAIT, KeyState.DONE)

    @pytest.mark.parametrize("time", [1.0, 2.0, 3.0, 50.0])
    def test_an_idle_key_is_promoted_to_the_tail(self, time: float) -> None:
        queue = eager(TUMBLING)
        feed(queue, "a", [0])
        feed(queue, "b", [0])
        assert [one.key for one in queue.dequeue_many(9)] == ["a", "b"]  # and both are idle
        feed(queue, "b", [1])
        feed(queue, "a", [time])
        assert [one.key for one in queue.dequeue_many(2)] == ["b", "a"]

    def test_advance_promotes_an_idle_key(self) -> None:
        queue = eager(TUMBLING)
        feed(queue, "IBM", [0])
        queue.dequeue_many(2)
        queue.advance(3)
        ending = queue.dequeue()
        assert ending is not None
        assert (ending.mark, ending.key) == (WindowMark.CLOSE, "IBM")

    def test_a_key_is_committed_to_one_window_at_a_time(self) -> None:
        queue = eager(WindowSpecification(10, 1, tick=1))
        feed(queue, "a", [0, 1])
        assert queue.dequeue_many(3) != []
        feed(queue, "a", [2, 3])
        feed(queue, "b", [0])
        # "a" waits, but its window from 1 is not complete, so it is only served on
        assert [one.key for one in queue.dequeue_many(9)] == ["a", "a", "b"]
        assert queue.statistics().windows.committed == 2

    def test_a_key_that_stood_back_gets_its_place_again(self, clock: ManualClock) -> None:
        queue = eager(SLIDING, clock=clock)
        feed(queue, "a", [0], clock=clock)
        queue.dequeue_many(2)
        feed(queue, "a", [1], clock=clock)  # from now on it waits
        queue.dequeue_many(2)  # its turn comes while it is idle
        clock.set(5)
        feed(queue, "b", [5], clock=clock)
        feed(queue, "a", [5], clock=clock)  # ends its window
        assert len(queue) == 2
        keys = [one.key for one in queue.dequeue_many(3)]
        assert keys == ["a", "a", "b"], "the end of a window, then by how long they have waited"
        queue._check()
