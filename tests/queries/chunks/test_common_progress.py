"""How far inputs have got together if idle ones delay nothing: by timelines and at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.common_progress import CommonProgress
from upstream.queries.chunks.grid import EvenGrid
from upstream.queries.chunks.progress import Progress
from upstream.queries.chunks.windows import EndTimes, Schedule, Windows
from upstream.queries.sql.window_clause import Axis

GRID = EvenGrid(10)
ENDS = EndTimes(GRID, Schedule([Windows(1, 1)]))


@dataclass
class Inputs:
    """Inputs of chunks of ten seconds, which are idle after five; rows come one by one."""

    count: int = 2
    late: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.each = [Progress(Axis.SOURCE, ENDS, close_after=5.0) for _ in range(self.count)]
        self.common = CommonProgress(self.each)

    def come(self, number: int, arrival: float, *times: int) -> None:
        """Let a batch arrive at an input; rows behind what was passed are late."""
        progress = self.each[number]
        self.common.arrives(number, arrival)
        progress.passed(arrival)
        newest, accepted = progress.newest, None
        for time in times:
            if newest is not None and GRID.chunk_of(time) < GRID.chunk_of(newest):
                self.late.append(time)
                continue
            newest = time if newest is None else max(time, newest)
            accepted = time if accepted is None else max(time, accepted)
        progress.came(newest, accepted, arrival)

    def passed(self, now: float) -> int | None:
        return self.common.passed(now)


def test_an_idle_input_delays_nothing() -> None:
    # clock   0    1    5    6
    # one     3        (idle)
    # other        42             the other input goes on alone at 5
    inputs = Inputs()
    inputs.come(0, 0.0, 3)
    inputs.come(1, 1.0, 42)
    assert [inputs.passed(now) for now in (1.0, 4.9, 5.0)] == [3, 3, 42]
    assert inputs.common.passes_at(40) == 5.0
    assert inputs.common.passed_at(40, 9.0) == 5.0


def test_the_clock_goes_on_once_all_inputs_are_idle() -> None:
    inputs = Inputs()
    inputs.come(0, 0.0, 3)
    inputs.come(1, 0.0, 8)
    assert [inputs.passed(now) for now in (4.0, 5.0, 9.0)] == [3, 10, 12]


def test_progress_never_falls() -> None:
    inputs = Inputs()
    inputs.come(0, 0.0, 3)
    inputs.come(1, 3.0, 42)
    assert inputs.passed(7.9) == 42
    assert inputs.passed(8.0) == 42  # by the clock, the first input would be at 11
    assert inputs.passed(60.0) == 63


def test_rows_behind_what_was_passed_without_their_input_are_late() -> None:
    inputs = Inputs()
    inputs.come(0, 0.0, 3)
    inputs.come(1, 1.0, 42)
    inputs.come(0, 6.0, 12, 41, 38)
    assert inputs.late == [12, 38]
    assert inputs.passed(6.0) == 42  # progress never falls
    inputs.come(1, 6.5, 55)
    assert inputs.passed(6.5) == 42  # the first input is waited for again
    inputs.come(0, 7.0, 53)
    assert inputs.passed(7.0) == 53


def test_an_input_that_never_began_is_idle_some_time_after_the_query_was_made() -> None:
    inputs = Inputs()
    inputs.come(0, 1.0, 25)
    assert [inputs.passed(now) for now in (4.9, 5.0)] == [None, 25]
    assert inputs.common.passes_at(20) == 5.0
    assert Inputs().passed(60.0) is None


def test_batches_of_one_moment_do_not_make_one_another_late() -> None:
    # one stream in two inputs, which were idle
    inputs = Inputs()
    for number in (0, 1):
        inputs.come(number, 0.0, 3)
    for number in (0, 1):
        inputs.come(number, 9.0, 21, 95)
    assert inputs.late == []
    assert inputs.passed(9.0) == 95


def test_no_time_passes_at_a_moment_that_is_over() -> None:
    # clock   1    6    11   12   16
    # one     15   (idle)         30 by the clock
    # other        20   (idle)
    inputs = Inputs()
    inputs.come(0, 1.0, 15)
    inputs.come(1, 6.0, 20)
    inputs.come(1, 12.0, 0)  # a late row does not end a silence
    assert inputs.passed(12.0) == 26
    assert inputs.common.passes_at(30) == 16.0


events = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 2), st.lists(st.integers(0, 60), min_size=1)),
    max_size=8,
)


@given(events=events, polls=st.lists(st.integers(0, 80), max_size=10))
def test_the_answer_does_not_depend_on_when_it_is_asked_for(
    events: Sequence[tuple[int, int, list[int]]], polls: list[int]
) -> None:
    def run(polls: Sequence[float]) -> tuple[list[int], list[int | None]]:
        inputs, now, waiting = Inputs(3), 0.0, sorted(polls)
        for pause, number, times in events:
            now += pause / 2
            while waiting and waiting[0] < now:
                inputs.passed(waiting.pop(0))
            inputs.come(number, now, *times)
        return inputs.late, [inputs.passed(now + later) for later in (0.0, 4.5, 5.0, 9.0)]

    assert run([poll / 2 for poll in polls]) == run([])


@given(events=events)
def test_time_passes_at_the_moment_that_was_said_and_not_before(
    events: Sequence[tuple[int, int, list[int]]],
) -> None:
    inputs, now = Inputs(3), 0.0
    for pause, number, times in events:
        now += pause / 2
        inputs.come(number, now, *times)
    passed = inputs.passed(now)
    if passed is None:
        return
    end = GRID.start_of(GRID.chunk_of(passed) + 1)
    moment = inputs.common.passes_at(end)
    for tick in range(1, 60):
        found = inputs.passed(now + tick / 2)
        assert found is not None
        assert (found >= end) == (moment is not None and now + tick / 2 >= moment)
