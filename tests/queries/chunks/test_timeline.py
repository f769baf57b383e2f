"""The arithmetic of windows, held against windows that are enumerated one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.timeline import ClosingLog, OccupiedSteps, Timeline
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

sizes = st.integers(1, 12)
steps = st.integers(-40, 40)
MANY = range(-60, 61)  # windows that reach beyond all steps that are drawn


def timeline(size: int, slide: int, *, first: int | None = None) -> Timeline:
    return Timeline.of(WindowClause(WindowKind.HOP, "s", Axis.SOURCE, size, slide), first=first)


def windows_with(step: int, line: Timeline, slide: int, size: int) -> list[int]:
    """Return the windows that hold the times of a step, found by trying all."""
    time = step * line.step
    return [
        window
        for window in MANY
        if window * slide <= time < window * slide + size
        and (line.first is None or window >= line.first)
    ]


def test_a_window_is_made_of_steps_as_long_as_size_and_slide_have_in_common() -> None:
    # time      0    5    10   15   20   25
    # step      | 0  | 1  | 2  | 3  | 4  |
    # window 0  [--------------)
    # window 1            [--------------)
    line = timeline(15, 10)
    assert (line.step, line.per_size, line.per_slide) == (5, 3, 2)
    assert line.steps_of(1) == (2, 5)
    assert line.end_of(1) == 25
    assert [list(line.covering(step)) for step in (1, 2, 3)] == [[0], [0, 1], [1]]


def test_a_step_between_two_windows_is_in_none_and_the_next_is_the_oldest_from_there() -> None:
    # time      0  1  2  3  4  5
    # window    [0----)     [1----)
    line = timeline(2, 4)
    assert list(line.covering(1)) == []  # the steps are two long: 1 is the times 2 and 3
    assert line.oldest_covering(1) == 1


def test_there_is_no_window_before_the_first() -> None:
    line = timeline(3, 1, first=0)
    assert list(line.covering(1)) == [0, 1]
    assert line.oldest_covering(-7) == 0


@given(size=sizes, slide=sizes, step=steps, first=st.none() | st.integers(-3, 3))
def test_the_windows_that_cover_a_step_are_those_that_hold_its_times(
    size: int, slide: int, step: int, first: int | None
) -> None:
    line = timeline(size, slide, first=first)
    assert list(line.covering(step)) == windows_with(step, line, slide, size)


@given(size=sizes, slide=sizes, step=steps, first=st.none() | st.integers(-3, 3))
def test_the_oldest_window_for_a_step_is_the_first_that_ends_after_it(
    size: int, slide: int, step: int, first: int | None
) -> None:
    line = timeline(size, slide, first=first)
    ends_after = (
        window
        for window in range(-60 if first is None else first, 61)
        if window * slide + size > step * line.step
    )
    assert line.oldest_covering(step) == next(ends_after)


@given(size=sizes, slide=sizes, window=steps)
def test_the_steps_of_a_window_are_its_times(size: int, slide: int, window: int) -> None:
    line = timeline(size, slide)
    first, end = line.steps_of(window)
    assert (first * line.step, end * line.step) == (window * slide, window * slide + size)
    assert line.end_of(window) == window * slide + size


actions = st.lists(st.tuples(st.sampled_from(["add", "forget"]), st.integers(-20, 20)), max_size=40)


@given(actions=actions, first=st.integers(-25, 25), length=st.integers(0, 10))
def test_occupied_steps_are_a_set_of_which_one_can_ask_for_the_next(
    actions: list[tuple[str, int]], first: int, length: int
) -> None:
    occupied, model = OccupiedSteps(), set[int]()
    for action, step in actions:
        if action == "add":
            occupied.add(step)
            model.add(step)
        else:
            occupied.forget(step)
            model = {each for each in model if each >= step}
    assert len(occupied) == len(model)
    assert occupied.has_any(first, first + length) == any(
        first <= step < first + length for step in model
    )
    assert occupied.first_from(first) == min(
        (step for step in model if step >= first), default=None
    )


def test_a_window_was_closed_when_time_first_passed_its_end() -> None:
    log = ClosingLog()
    log.note(10, 1.0)
    log.note(25, 2.0)
    log.note(25, 3.0)  # time did not move
    log.note(20, 4.0)  # nor does it go back
    log.note(40, 5.0)
    assert [log.moment_of(end) for end in (5, 10, 11, 25, 26, 40)] == [1, 1, 2, 2, 5, 5]
    assert log.moment_of(41) is None


@given(
    passed=st.lists(st.integers(0, 50), min_size=1, max_size=20),
    before=st.integers(0, 60),
    end=st.integers(0, 60),
)
def test_what_is_forgotten_changes_no_answer_for_later_ends(
    passed: list[int], before: int, end: int
) -> None:
    log, whole = ClosingLog(), ClosingLog()
    for moment, each in enumerate(passed):
        log.note(each, moment)
        whole.note(each, moment)
    log.forget(before)
    expected = next((i for i, each in enumerate(passed) if each >= end), None)
    assert whole.moment_of(end) == expected
    if end >= before:
        assert log.moment_of(end) == expected


@pytest.mark.parametrize("slide", [1, 2, 3, 7])
def test_every_step_of_a_window_is_covered_by_it(slide: int) -> None:
    line = timeline(6, slide)
    for window in range(-5, 5):
        assert all(window in line.covering(step) for step in range(*line.steps_of(window)))
