"""What leaves a window buffer, whichever the semantics: marks, ends, and what is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import EagerWindowBuffer, LazyWindowBuffer, WindowSpecification
from upstream.windows import WindowBuffer, WindowEnd, WindowMark
from upstream.windows.key_transitions import REFUSED

from .contract import BEGINNINGS, FULL_AT, SPECIFICATIONS, STEPS, Script, Step

BOTH = pytest.mark.parametrize("kind", [LazyWindowBuffer, EagerWindowBuffer])


@BOTH
def test_the_first_tuple_leaves_with_the_end_of_its_window(kind: type[WindowBuffer]) -> None:
    script = Script(kind, WindowSpecification(4, 2, tick=2))
    script.feed(-4, -2)
    script.commit()
    first = script.buffer.take()
    assert first is not None
    mark = first.mark
    assert isinstance(mark, WindowEnd)
    start = {LazyWindowBuffer: -4.0, EagerWindowBuffer: -2.0}[kind]
    assert (float(mark), mark.start, mark.last) == (start + 4.0, start, start + 2.0)


@BOTH
def test_an_end_of_zero_or_less_is_no_other_mark(kind: type[WindowBuffer]) -> None:
    for begin in (-3, -4):
        script = Script(kind, WindowSpecification(3, 1))
        script.feed(*(begin + step for step in range(4)))
        script.commit()
        first = script.buffer.take()
        assert first is not None
        assert isinstance(first.mark, WindowEnd)


@BOTH
def test_a_window_starts_where_it_starts_even_if_its_first_tuple_comes_later(
    kind: type[WindowBuffer],
) -> None:
    script = Script(kind, WindowSpecification(10, 10))
    script.feed(0, 13)
    script.buffer.windows.close_until(20)
    script.commit()
    script.take(1)
    script.serve()
    first, *_ = script.windows[-1:]
    assert first == (1, [13])


@BOTH
def test_a_tuple_that_leaves_twice_is_used_once(kind: type[WindowBuffer]) -> None:
    script = Script(kind, WindowSpecification(3, 1, tick=1))
    for time in range(20):
        script.arrive(time)
        script.serve()
    assert script.counts.used <= 20
    assert sum(len(times) for _, times in script.windows) > script.counts.used


@BOTH
def test_nothing_is_available_before_a_commit_and_after_the_end(kind: type[WindowBuffer]) -> None:
    script = Script(kind, WindowSpecification(3, 3, tick=1))
    assert script.buffer.take() is None
    script.feed(0, 1, 2)
    assert not script.buffer.is_available
    script.commit()
    assert script.buffer.is_available
    script.take()
    assert not script.buffer.is_available
    assert script.buffer.take() is None


@BOTH
def test_a_window_is_not_committed_to_before_the_last_one_has_left(
    kind: type[WindowBuffer],
) -> None:
    script = Script(kind, WindowSpecification(3, 3))
    script.feed(*range(4))
    script.commit()
    script.feed(*range(4, 8))
    with pytest.raises(AssertionError, match="previous committed window has not left"):
        script.buffer.commit()


@BOTH
def test_clearing_drops_all_tuples(kind: type[WindowBuffer]) -> None:
    script = Script(kind, WindowSpecification(3, 3))
    script.feed(*range(8))
    script.buffer.clear()
    assert script.tuples.enqueued_count() == script.tuples.committed_count() == 0


@BOTH
def test_an_ending_knows_its_key(kind: type[WindowBuffer]) -> None:
    script = Script(kind, WindowSpecification(3, 3))
    script.feed(0)
    script.buffer.windows.close_until(3)
    script.commit()
    script.buffer.take()
    ending = script.buffer.take()
    assert ending is not None
    assert (ending.mark, ending.key) == (WindowMark.CLOSE, "IBM")


@BOTH
def test_a_buffer_shows_its_kind_and_what_it_holds(kind: type[WindowBuffer]) -> None:
    buffer = kind(WindowSpecification(2, 2), key="IBM")
    for time in (0.0, 1.0, 2.0):
        buffer.arrive(("IBM", 24.0, time))
    windows, tuples = {LazyWindowBuffer: (2, 3), EagerWindowBuffer: (1, 1)}[kind]
    assert repr(buffer) == (
        f"<{kind.__name__} of 'IBM': windows held: {windows}, tuples held: {tuples}>"
    )
    assert repr(kind()) == f"{kind.__name__}()"


@BOTH
@given(st.sampled_from(SPECIFICATIONS), BEGINNINGS, STEPS)
def test_windows_leave_whole_and_in_order(
    kind: type[WindowBuffer], specification: WindowSpecification, begin: float, steps: list[Step]
) -> None:
    script = Script(kind, specification)
    for _ in script.play(begin, steps):
        pass
    script.serve_rest()
    indices = [index for index, _ in script.windows]
    assert indices == sorted(set(indices)), "an older window after a newer one"
    assert script.counts.committed == len(script.windows)
    assert script.buffer.held_windows == script.buffer.held_tuples == 0


@BOTH
@given(st.sampled_from(SPECIFICATIONS), BEGINNINGS, STEPS, FULL_AT)
def test_no_window_that_leaves_lacks_a_tuple_that_was_refused(
    kind: type[WindowBuffer],
    specification: WindowSpecification,
    begin: float,
    steps: list[Step],
    full_at: set[float],
) -> None:
    script = Script(kind, specification, full_at=full_at)
    refused = {
        time for time, triggers in script.play(begin, steps) if triggers > 0 and triggers & REFUSED
    }
    script.serve_rest()
    for index, _ in script.windows:
        start, end = specification.start(index), specification.end(index)
        assert not any(start <= time < end for time in refused)
