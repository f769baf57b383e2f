"""The arithmetic of windows against windows that are enumerated one by one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.grid import EvenGrid
from upstream.queries.chunks.windows import EndTimes, Schedule, Span, Windows

MANY = range(-120, 121)
"""Windows that reach beyond all chunks that are drawn."""

sizes = st.integers(1, 9)
chunks = st.integers(-30, 30)


@st.composite
def windows(draw: st.DrawFn, *, has_earliest: bool = False) -> Windows:
    """Draw windows of any size, slide and phase; some begin at an earliest one."""
    size, slide, phase = draw(sizes), draw(sizes), draw(st.integers(-9, 9))
    earliest = phase + size + slide * draw(st.integers(-3, 3)) if has_earliest else None
    return Windows(size, slide, phase, earliest)


any_windows = st.one_of(windows(), windows(has_earliest=True))
schedules = st.lists(windows(), min_size=1, max_size=3)


def enumerated(of: Windows) -> list[Span]:
    """Return all windows there can be, the oldest first."""
    starts = (of.phase + number * of.slide for number in MANY)
    spans = [Span(start, start + of.size) for start in starts]
    return [span for span in spans if of.earliest is None or span.end >= of.earliest]


def ends_of(several: Sequence[Windows]) -> list[int]:
    """Return when a query over these windows is answered."""
    first = max(enumerated(each)[0].end for each in several)
    return sorted({span.end for each in several for span in enumerated(each) if span.end >= first})


def newest(of: Windows, end: int) -> Span:
    """Return the newest window that has ended."""
    return max(span for span in enumerated(of) if span.end <= end)


def test_a_window_is_identified_by_the_chunk_after_its_last_one() -> None:
    # chunks   |0 |1 |2 |3 |4 |5 |6 |
    # windows  [--------)        size 3, slide 2
    #                [--------)
    hops = Windows(3, 2)
    assert [hops.at(end) for end in (3, 4, 5)] == [(0, 3), (0, 3), (2, 5)]
    assert [hops.end_after(chunk) for chunk in (1, 2, 3, 4)] == [3, 3, 5, 5]
    assert [hops.leaving(chunk) for chunk in (0, 1, 2)] == [5, 5, 7]


def test_a_chunk_between_two_windows_is_in_neither() -> None:
    # chunks   |0 |1 |2 |3 |4 |5 |
    # windows  [--)        [--)        size 1, slide 4
    sparse = Windows(1, 4)
    assert [sparse.covers(chunk) for chunk in range(6)] == [True, False, False, False, True, False]
    assert sparse.end_after(2) == sparse.leaving(2) == 5
    assert Schedule([sparse]).ends_with(0, 2) == []


def test_there_is_no_window_before_the_earliest() -> None:
    of = Windows(3, 1, earliest=3)
    assert (of.end_after(-7), of.newest_end(2), of.newest_end(3)) == (3, None, 3)


@given(of=any_windows, chunk=chunks)
def test_windows_are_those_that_are_enumerated(of: Windows, chunk: int) -> None:
    spans = enumerated(of)
    assert of.end_after(chunk) == min(span.end for span in spans if span.end > chunk)
    assert of.newest_end(chunk) == max(
        (span.end for span in spans if span.end <= chunk), default=None
    )
    assert of.leaving(chunk) == min(span.end for span in spans if span.first > chunk)
    if of.earliest is None:
        assert of.at(chunk) == newest(of, chunk)
        assert of.covers(chunk) == any(span.first <= chunk < span.end for span in spans)


def test_inputs_of_different_windows_are_answered_at_each_end_of_either() -> None:
    # chunks       |0 |1 |2 |3 |4 |5 |
    # ends at 3    [--------)             size 3, slide 1
    #              [-----)                size 2, slide 2
    # ends at 4       [--------)
    #                    [-----)
    both = Schedule([Windows(3, 1), Windows(2, 2)])
    assert not both.is_even
    assert both.at(3) == ((0, 3), (0, 2))
    assert both.at(4) == ((1, 4), (2, 4))
    assert both.ends_with(0, 2) == [3, 4, 5]
    assert both.ends_with(1, 2) == [4, 5]


@given(several=schedules, chunk=chunks)
def test_a_query_is_answered_at_every_end_over_the_newest_windows(
    several: list[Windows], chunk: int
) -> None:
    schedule, ends = Schedule(several), ends_of(several)
    assert schedule.is_even == (len(set(several)) == 1)
    end = schedule.end_after(chunk)
    assert end == min(each for each in ends if each > chunk)
    assert schedule.newest_end(chunk) == max(each for each in ends if each <= chunk)
    assert schedule.at(end) == tuple(newest(each, end) for each in several)


@given(several=schedules, chunk=chunks, data=st.data())
def test_a_chunk_counts_at_the_ends_whose_windows_hold_it(
    several: list[Windows], chunk: int, data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(several) - 1))
    schedule = Schedule(several)
    ends = [end for end in ends_of(several) if abs(end) < 70]
    at = {end: newest(several[number], end) for end in ends}
    counts = [end for end in ends if at[end].first <= chunk < at[end].end]
    assert schedule.ends_with(number, chunk) == counts
    covering = schedule.end_covering(number, chunk)
    assert covering == min(end for end in ends if at[end].end > chunk)
    assert not counts or covering == counts[0]


@given(
    several=st.lists(st.tuples(sizes, sizes), min_size=1, max_size=3),
    chunk=st.integers(0, 30),
    data=st.data(),
)
def test_windows_over_rows_are_answered_once_all_inputs_have_one(
    several: list[tuple[int, int]], chunk: int, data: st.DataObject
) -> None:
    of = [Windows(size, slide, 0, size) for size, slide in several]
    number = data.draw(st.integers(0, len(of) - 1))
    schedule, ends = Schedule(of), [end for end in ends_of(of) if end < 70]
    assert schedule.end_after(-50) == ends[0] == max(size for size, _ in several)
    assert schedule.end_after(chunk) == min(end for end in ends if end > chunk)
    assert schedule.newest_end(chunk) == max((end for end in ends if end <= chunk), default=None)
    at = {end: newest(of[number], end) for end in ends}
    assert schedule.ends_with(number, chunk) == [
        end for end in ends if at[end].first <= chunk < at[end].end
    ]
    assert schedule.end_covering(number, chunk) == min(end for end in ends if at[end].end > chunk)


@given(of=windows(), first=st.integers(-9, 9), count=st.integers(1, 20))
def test_ends_between_two_ends_are_counted(of: Windows, first: int, count: int) -> None:
    schedule = Schedule([of, of])
    ends = [schedule.end_after(first)]
    for _ in range(count):
        ends.append(schedule.end_after(ends[-1]))
    assert schedule.ends_between(ends[0], ends[-1]) == count - 1


@pytest.mark.parametrize("slide", [1, 2, 3, 7])
def test_the_distance_does_not_matter_to_the_time_that_it_takes(slide: int) -> None:
    far = 1 << 60
    schedule = Schedule([Windows(3, slide), Windows(5, 4, 1)])
    end = schedule.end_after(far)
    assert far < end <= far + 4
    assert schedule.newest_end(end) == end


@given(of=windows(), time=st.integers(-99, 99), length=st.integers(1, 5), origin=chunks)
def test_ends_as_times_are_where_the_chunks_begin_by_whose_numbers_windows_end(
    of: Windows, time: int, length: int, origin: int
) -> None:
    ends = EndTimes(EvenGrid(length, origin), Schedule([of]))
    times = [span.end * length + origin for span in enumerated(of)]
    assert ends.after(time) == min(end for end in times if end > time)
    newest = ends.newest(time)
    assert newest is not None
    assert newest * length + origin == max(end for end in times if end <= time)
