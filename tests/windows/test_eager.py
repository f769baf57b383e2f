"""EAGER: what waits is the window that was started last (report, Figure 11(b))."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upstream import EagerWindowBuffer, WindowSpecification
from upstream.windows import WindowMark
from upstream.windows.key_transitions import IS_UPDATE, REFUSED, SHOULD_PROMOTE, WITHDRAWS

from .contract import SPECIFICATIONS, TICKS, Script, Step, WindowBufferContract


class TestEagerWindowBuffer(WindowBufferContract):
    kind = EagerWindowBuffer

    def check_shared(self, script: Script) -> None:
        # Committed when 2 had started the second window; each window runs to its end.
        assert script.windows == [(1, [2, 3, 4, 5]), (2, [4, 5, 6, 7])]
        assert script.counts.used == 6

    def test_a_window_waits_when_it_is_started(self) -> None:
        script = self.script(WindowSpecification(3, 3))
        # time     0   1   2   3   4
        # window   [----0-----)[----1---
        # starts   0           1
        assert [bool(found & IS_UPDATE) for found in script.feed(*range(5))] == [
            True,
            False,
            False,
            True,
            False,
        ]
        assert [update.time for update in script.buffer.waiting()] == [3, 4]
        assert (script.counts.superseded, script.counts.dropped) == (1, 3)

    def test_a_new_starter_empties_the_enqueue_buffer(self) -> None:
        """Figure 11(b): only what was started last is there."""
        script = self.script(WindowSpecification(3, 1, tick=1))
        for time in range(6):
            script.arrive(time)
            assert [row[2] for row in script.tuples.enqueued()] == [time]

    def test_tuples_of_the_committed_window_go_to_both_buffers(self) -> None:
        script = self.script(WindowSpecification(3, 2, tick=1))
        script.feed(0)
        script.commit()
        triggers = script.feed(1, 2)  # 2 starts the next window and closes this one
        assert all(found & SHOULD_PROMOTE for found in triggers)
        assert script.take() == [0, 1, 2]
        assert [row[2] for row in script.tuples.enqueued()] == [2]

    def test_a_gap_ends_with_a_tuple_inside_the_window_or_one_that_closes_it(self) -> None:
        for times in ([1.0], [2.0], [7.0]):
            script = self.script(WindowSpecification(3, 3))
            script.feed(0)
            script.commit()
            assert script.take() == [0]
            assert not script.buffer.is_available
            assert script.buffer.should_promote(times[0])
            assert script.feed(*times)[0] & SHOULD_PROMOTE
            assert script.buffer.is_available

    def test_a_close_mark_ends_a_window_that_no_tuple_ends(self) -> None:
        script = self.script(WindowSpecification(3, 3, tick=1))
        script.feed(0, 1)
        script.commit()
        script.take()
        script.feed(3)
        last = script.buffer.take()
        assert last is not None
        assert (last.update, last.mark, last.key) == (None, WindowMark.CLOSE, "IBM")

    def test_the_tuple_in_the_last_tick_is_the_end_of_its_window(self) -> None:
        script = self.script(WindowSpecification(3, 3, tick=1))
        script.feed(0, 1, 2)
        script.commit()
        assert script.take() == [0, 1, 2]
        assert script.buffer.is_finished
        assert script.buffer.take() is None

    def test_only_the_newest_of_windows_started_together_waits(self) -> None:
        script = self.script(WindowSpecification(3, 1))
        script.feed(0, 9)  # starts the windows from 7, 8 and 9
        assert script.counts.superseded == 3
        script.commit()
        assert script.buffer.committed_index == 9

    def test_a_refused_tuple_takes_the_waiting_window_with_it(self) -> None:
        script = self.script(WindowSpecification(3, 3), full_at=[1])
        triggers = script.feed(0, 1, 2)
        assert triggers[1] & REFUSED
        assert triggers[1] & WITHDRAWS
        assert not script.buffer.is_waiting
        assert (script.counts.rejected, script.counts.refused, script.counts.dropped) == (1, 1, 2)

    def test_a_refused_tuple_aborts_the_committed_window(self) -> None:
        script = self.script(WindowSpecification(3, 3), full_at=[2])
        script.feed(0, 1)
        script.commit()
        assert script.take(1) == [0]
        assert script.feed(2)[0] & SHOULD_PROMOTE
        ending = script.buffer.take()
        assert ending is not None
        assert (ending.mark, ending.key) == (WindowMark.ABORT, "IBM")
        assert script.buffer.is_finished
        script.feed(3, 4, 6)
        script.commit()
        assert script.buffer.committed_index == 2


@given(st.sampled_from([one for one in SPECIFICATIONS if one.tick]), TICKS)
def test_it_holds_at_most_as_many_ticks_as_the_report_says(
    specification: WindowSpecification, steps: list[Step]
) -> None:
    script = Script(EagerWindowBuffer, specification)
    for _ in script.play(0.0, steps):
        rows = script.tuples.enqueued_count() + script.tuples.committed_count()
        assert rows <= specification.size + specification.slide - 1
