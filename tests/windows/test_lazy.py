"""LAZY: what waits is the window that was closed last (report, Figure 11(a))."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upstream import LazyWindowBuffer, WindowSpecification
from upstream.windows import WindowMark
from upstream.windows.key_transitions import IS_UPDATE, REFUSED

from .contract import SPECIFICATIONS, TICKS, Script, Step, WindowBufferContract


class TestLazyWindowBuffer(WindowBufferContract):
    kind = LazyWindowBuffer

    def check_shared(self, script: Script) -> None:
        assert script.windows == [(0, [0, 1, 2, 3]), (1, [2, 3, 4, 5]), (2, [4, 5, 6, 7])]
        assert script.counts.used == 8

    def test_a_window_waits_when_it_is_closed(self) -> None:
        script = self.script(WindowSpecification(3, 3))
        # time     0   1   2   3   4   5   6
        # window   [----0-----)[----1-----)
        # closes               0           1
        assert [bool(found & IS_UPDATE) for found in script.feed(*range(7))] == [
            *[False] * 3,
            True,
            False,
            False,
            True,
        ]
        assert [update.time for update in script.buffer.waiting()] == [3, 4, 5]
        assert script.counts.superseded == 1

    def test_the_enqueue_buffer_holds_a_structure_per_starter_in_scope(self) -> None:
        """Figure 11(a): the closed window on top, behind it the starters of open ones."""
        script = self.script(WindowSpecification(3, 1, tick=1))
        counts = []
        for time in range(6):
            script.arrive(time)
            assert isinstance(script.buffer, LazyWindowBuffer)
            counts.append(script.buffer.structure_count)
        # the overlap is 3: the closed one and the two that are open
        assert counts == [1, 2, 3, 3, 3, 3]
        assert [row[2] for row in script.tuples.enqueued()] == [3, 4, 5]

    def test_commit_flushes_the_window_and_leaves_what_open_ones_share(self) -> None:
        script = self.script(WindowSpecification(3, 1, tick=1))
        script.feed(0, 1, 2)
        script.commit()
        assert script.tuples.committed_count() == 3
        assert [row[2] for row in script.tuples.enqueued()] == [1, 2]

    def test_only_the_newest_of_windows_closed_together_waits(self) -> None:
        script = self.script(WindowSpecification(3, 1))
        script.feed(0, 1, 2, 30)
        assert script.counts.superseded == 2
        assert [update.time for update in script.buffer.waiting()] == [2]

    def test_a_closed_window_outlives_the_refusal_of_a_later_tuple(self) -> None:
        script = self.script(WindowSpecification(3, 3), full_at=[4])
        triggers = script.feed(0, 1, 3, 4, 5)
        assert triggers[3] & REFUSED
        assert (script.counts.rejected, script.counts.refused) == (1, 1)
        script.commit()
        assert script.take() == [0, 1]
        script.feed(6, 7, 9)
        script.commit()
        assert script.take() == [6, 7]

    def test_a_window_is_marked_by_what_its_tuples_start(self) -> None:
        script = self.script(WindowSpecification(4, 2))
        script.feed(0, 1, 2, 3, 4)
        script.commit()
        marks = [window_tuple.mark for _ in range(5) if (window_tuple := script.buffer.take())]
        # the window's end, nothing, a starter of another window, nothing, its end
        assert marks == [4.0, -1, 0, -1, WindowMark.CLOSE]


@given(st.sampled_from([one for one in SPECIFICATIONS if one.tick]), TICKS)
def test_it_holds_at_most_as_many_ticks_as_the_report_says(
    specification: WindowSpecification, steps: list[Step]
) -> None:
    script = Script(LazyWindowBuffer, specification)
    for _ in script.play(0.0, steps):
        within = {row[2] for row in script.tuples.enqueued()}
        assert len(within) <= specification.size + specification.slide - 1
        assert script.tuples.committed_count() <= specification.size
        assert isinstance(script.buffer, LazyWindowBuffer)
        in_scope = script.buffer.structure_count - script.buffer.is_waiting
        assert in_scope <= specification.overlap
