"""What every window buffer does, whichever window it takes for the most recent one.

Subclasses say which buffer it is. Tuples are named by their times; values are running numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import strategies as st

from upstream import PagePoolFullError, WindowSpecification
from upstream.windows import ObjectTuples, WindowBuffer, WindowCounts, WindowMark
from upstream.windows.buffered_tuples import Row
from upstream.windows.key_transitions import (
    CLOSES,
    IS_UPDATE,
    OUTSIDE,
    REFUSED,
    SHOULD_PROMOTE,
    WITHDRAWS,
)

SPECIFICATIONS = (
    WindowSpecification(3, 3),
    WindowSpecification(3, 1),
    WindowSpecification(3, 1, tick=1),
    WindowSpecification(5, 2, tick=1),
    WindowSpecification(5, 2),
    WindowSpecification(2, 5),
    WindowSpecification(2, 5, tick=1),
    WindowSpecification(0.5, 0.25),
)

Step = tuple[float, bool, int]
"""Seconds until a tuple, whether to commit then if that can be, and how many tuples to take."""

BEGINNINGS = st.sampled_from([-9.0, 0.0, 0.5, 3.0])
STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.25, 1.0, 1.0, 1.0, 2.0, 4.0, 11.0]),
        st.booleans(),
        st.integers(0, 4),
    ),
    max_size=60,
)
TICKS: st.SearchStrategy[list[Step]] = st.lists(
    st.tuples(st.integers(1, 4).map(float), st.booleans(), st.integers(0, 2)), max_size=60
)
FULL_AT = st.sets(st.integers(-9, 60).map(float))


class Scarce(ObjectTuples):
    """Tuples for which there is no room at certain times."""

    def __init__(self, full_at: Iterable[float]) -> None:
        super().__init__()
        full = set(full_at)

        def guarded(append: object) -> object:
            def append_if_room(row: Row) -> None:
                if row[2] in full:
                    raise PagePoolFullError(0)
                append(row)  # type: ignore[operator]

            return append_if_room

        self.append = guarded(self.append)  # type: ignore[assignment]
        self.append_committed = guarded(self.append_committed)  # type: ignore[assignment]
        self.append_to_both = guarded(self.append_to_both)  # type: ignore[assignment]


class Script:
    """One buffer, and a plain list of what it was given."""

    def __init__(
        self,
        kind: type[WindowBuffer],
        specification: WindowSpecification,
        *,
        full_at: Iterable[float] = (),
    ) -> None:
        self.counts = WindowCounts()
        self.tuples = Scarce(full_at)
        self.specification = specification
        self.buffer = kind(specification, self.tuples, self.counts, "IBM")
        self.accepted: list[float] = []
        self.left: list[float] = []
        """What has left of the window under processing."""
        self.windows: list[tuple[int, list[float]]] = []
        """The windows that have left, with their tuples."""

    def feed(self, *times: float) -> list[int]:
        """Let tuples arrive; return their triggers, -1 for late ones."""
        return [self.arrive(time) for time in times]

    def arrive(self, time: float) -> int:
        buffer = self.buffer
        self.counts.arrived += 1
        if time < buffer.windows.late_before:
            self.counts.late += 1
            return -1
        is_update, should_promote = buffer.is_update(time), buffer.should_promote(time)
        triggers = buffer.arrive(("IBM", len(self.accepted), time))
        if not triggers & REFUSED:
            self.accepted.append(time)
            assert bool(triggers & IS_UPDATE) == is_update
        if not triggers & (OUTSIDE | REFUSED):
            assert bool(triggers & SHOULD_PROMOTE) == should_promote
        self.check()
        return triggers

    def take(self, most: int = 1_000) -> list[float]:
        """Take what is there, at most so many; return the times."""
        taken = []
        for _ in range(most):
            window_tuple = self.buffer.take()
            if window_tuple is None:
                break
            if window_tuple.update is not None:
                taken.append(window_tuple.update.time)
            self.left += taken[-1:] if window_tuple.update is not None else []
            if self.buffer.is_finished:
                if window_tuple.mark is not WindowMark.ABORT:
                    self.windows.append((self.buffer.committed_index, self.left))
                self.left = []
                break
        self.check()
        return taken

    def commit(self) -> None:
        self.buffer.commit()
        self.check()

    def serve(self) -> None:
        """Let everything leave that can."""
        self.take()
        while self.buffer.is_waiting and self.buffer.is_finished:
            self.commit()
            self.take()

    def serve_rest(self) -> None:
        """Let everything leave, and compare each window with a plain list."""
        self.serve()
        self.buffer.windows.close_until(1e9)
        self.serve()
        for index, times in self.windows:
            assert times == self.held_by(index)

    def play(self, begin: float, steps: list[Step]) -> Iterator[tuple[float, int]]:
        """Play a random script; yield each arrival."""
        time = begin
        for step, wants_commit, most in steps:
            time += step
            yield time, self.arrive(time)
            if wants_commit and self.buffer.is_waiting and self.buffer.is_finished:
                self.commit()
                self.take(1)
            self.take(most)

    def held_by(self, index: int) -> list[float]:
        """Return what a plain list says that a window holds."""
        start, end = self.specification.start(index), self.specification.end(index)
        return [time for time in self.accepted if start <= time < end]

    def check(self) -> None:
        """Hold the laws."""
        self.buffer._check()
        counts, buffer = self.counts, self.buffer
        fates = counts.committed + counts.superseded + counts.shed + counts.rejected
        assert counts.opened == fates + buffer.held_windows
        tuples = counts.used + counts.dropped + counts.outside + counts.late + counts.refused
        assert counts.arrived == tuples + buffer.held_tuples


class WindowBufferContract:
    """Tests of any window buffer."""

    kind: type[WindowBuffer]

    @pytest.fixture(params=SPECIFICATIONS, ids=str)
    def specification(self, request: pytest.FixtureRequest) -> WindowSpecification:
        chosen = request.param
        assert isinstance(chosen, WindowSpecification)
        return chosen

    def script(
        self, specification: WindowSpecification, *, full_at: Iterable[float] = ()
    ) -> Script:
        return Script(self.kind, specification, full_at=full_at)

    def test_nothing_is_done_for_a_late_tuple(self, specification: WindowSpecification) -> None:
        script = self.script(specification)
        script.feed(0, 1, 2, 3)
        before = script.buffer.held_tuples
        assert script.feed(2) == [-1]
        assert script.buffer.held_tuples == before
        assert script.counts.late == 1

    def test_times_that_are_equal_are_all_kept(self) -> None:
        script = self.script(WindowSpecification(3, 3))
        script.feed(0, 0, 1, 1, 1, 3)
        assert script.held_by(0) == [0, 0, 1, 1, 1]
        assert script.buffer.held_tuples == (6 if script.counts.dropped == 0 else 1)

    def test_a_tick_that_was_closed_takes_no_further_tuple(self) -> None:
        script = self.script(WindowSpecification(3, 3, tick=1))
        triggers = script.feed(0, 1, 2, 2, 2.5, 3)
        assert [found >= 0 and bool(found & CLOSES) for found in triggers[:3]] == [
            False,
            False,
            True,
        ]
        assert triggers[3:5] == [-1, -1]
        assert triggers[5] >= 0

    def test_a_tuple_between_windows_is_outside(self) -> None:
        script = self.script(WindowSpecification(2, 5))
        triggers = script.feed(0, 1, 3, 4, 5)
        assert [bool(found & OUTSIDE) for found in triggers] == [False, False, True, True, False]
        assert script.counts.outside == 2

    def test_a_tuple_before_the_first_window_of_its_key_is_outside(self) -> None:
        script = self.script(WindowSpecification(4, 4))
        script.feed(1, 2, 4)
        assert (script.counts.outside, script.counts.opened) == (2, 1)

    def test_a_gap_in_the_data_loses_no_later_window(self) -> None:
        script = self.script(WindowSpecification(3, 1))
        script.feed(0)
        script.feed(7)  # starts the windows from 5, 6 and 7 at once
        assert script.counts.opened == 4

    def test_advance_closes_what_no_tuple_will(self) -> None:
        script = self.script(WindowSpecification(3, 3))
        script.feed(0, 1)
        assert script.buffer.windows.close_until(2.9) == 0
        assert script.buffer.windows.close_until(3) & CLOSES
        script.check()
        assert script.feed(2) == [-1], "in a window that was closed"
        script.commit()
        assert script.take() == [0, 1]
        assert script.windows == [(0, [0, 1])]

    def test_a_window_that_is_closed_has_a_greater_version_than_those_before(self) -> None:
        script = self.script(WindowSpecification(3, 1))
        versions = [
            script.buffer.windows.closed_version
            for time in range(8)
            if script.arrive(time) & CLOSES
        ]
        assert versions == [1, 2, 3, 4, 5]

    def test_the_tuple_of_two_committed_windows_leaves_in_both(self) -> None:
        script = self.script(WindowSpecification(4, 2, tick=1))
        for times in (range(4), (4, 5), (6, 7)):
            script.feed(*times)
            script.serve()
        self.check_shared(script)

    def check_shared(self, script: Script) -> None:
        """Say which windows have left, with which tuples."""
        raise NotImplementedError

    def test_forgetting_the_key_leaves_nothing_but_what_is_complete(
        self, specification: WindowSpecification
    ) -> None:
        script = self.script(specification)
        script.feed(*range(7))
        script.buffer.drop_uncommitted()
        script.check()
        assert script.buffer.held_windows == script.buffer.held_tuples == 0
        assert not script.buffer.is_waiting

    def test_erasing_never_touches_a_committed_window(self) -> None:
        script = self.script(WindowSpecification(3, 1, tick=1))
        script.feed(0, 1, 2)
        script.commit()
        first = script.buffer.committed_index
        assert script.take(1) == [first]
        script.feed(*range(3, 30))
        script.take()
        assert script.windows == [(first, [first, first + 1, first + 2])]

    def test_the_waiting_tuples_can_be_read(self) -> None:
        script = self.script(WindowSpecification(3, 3))
        assert script.buffer.waiting() == []
        script.feed(0, 1, 2, 3)
        waiting = [update.time for update in script.buffer.waiting()]
        assert waiting in ([0, 1, 2], [3])
        script.check()

    def test_a_newer_window_supersedes_the_one_that_waits(self) -> None:
        script = self.script(WindowSpecification(3, 3))
        updates = [found for found in script.feed(*range(10)) if found & IS_UPDATE]
        assert script.counts.superseded == len(updates) - 1 >= 2
        assert not any(found & WITHDRAWS for found in updates)
