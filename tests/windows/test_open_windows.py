"""Which windows are open: structures by starter, triggers, and times that make no sense."""

from __future__ import annotations

import math

import pytest

from upstream import LazyWindowBuffer, TimeNotFiniteError, TimeOutOfRangeError, WindowSpecification
from upstream.keys import NOBODY, DuePlaces, KeyCell, Place
from upstream.windows import OpenWindows, WindowCounts
from upstream.windows.key_transitions import CLOSES, OUTSIDE, REFUSED
from upstream.windows.open_windows import ALWAYS


def windows_of(size: float, slide: float, tick: float | None = None) -> OpenWindows:
    """Return the open windows of a buffer; they keep the buffer alive."""
    buffer = LazyWindowBuffer(WindowSpecification(size, slide, tick), None, WindowCounts(), "IBM")
    return buffer.windows


def feed(windows: OpenWindows, *times: float) -> list[int]:
    return [windows.arrive(("IBM", 0, time)) for time in times]


def test_windows_that_one_tuple_starts_stand_in_one_structure() -> None:
    windows = windows_of(1_000_000, 1)
    feed(windows, 0, 900_000)
    assert list(windows._open) == [(0, 0, 0, 1_000_000), (1, 900_000, 1, 1_000_001)]
    assert windows.open_count == 900_001
    assert windows.close_until(1_500_000) & CLOSES
    assert list(windows._open) == [(500_001, 900_000, 1, 1_500_001)]
    windows._check()


def test_tuples_are_quiet_until_the_next_window_starts_or_ends() -> None:
    windows = windows_of(4, 3)
    assert windows.quiet_until == ALWAYS
    feed(windows, 0)
    assert windows.quiet_until == 3
    feed(windows, 3)
    assert windows.quiet_until == 4
    feed(windows, 4)
    assert windows.quiet_until == 6


def test_windows_that_no_tuple_is_in_are_never_opened() -> None:
    windows = windows_of(2, 2)
    feed(windows, 0, 100)
    assert windows._counts.opened == 2


def test_starts_returns_the_windows_that_a_tuple_would_start() -> None:
    windows = windows_of(3, 1)
    assert list(windows.starts(0.5)) == []
    assert list(windows.starts(1)) == [1]
    feed(windows, 1)
    assert list(windows.starts(1.5)) == []
    assert list(windows.starts(9.5)) == [7, 8, 9]


@pytest.mark.parametrize("time", [math.nan, math.inf])
@pytest.mark.parametrize("before", [(), (0, 1)], ids=["first", "later"])
def test_a_time_that_is_not_finite_changes_nothing(before: tuple[float, ...], time: float) -> None:
    windows = windows_of(3, 1)
    feed(windows, *before)
    held = (list(windows._open), windows.late_before, windows._counts.opened)
    with pytest.raises(TimeNotFiniteError):
        feed(windows, time)
    assert (list(windows._open), windows.late_before, windows._counts.opened) == held
    windows._check()


def test_a_time_too_far_from_zero_changes_nothing() -> None:
    windows = windows_of(3, 1)
    feed(windows, 0, 1)
    with pytest.raises(TimeOutOfRangeError):
        feed(windows, 1e18)
    assert windows.open_count == 2
    assert not feed(windows, 2)[0] & CLOSES


def test_a_tuple_that_cannot_be_kept_takes_the_open_windows_with_it() -> None:
    windows = windows_of(3, 1)
    feed(windows, 0, 1)
    assert windows.refuse(2) & REFUSED
    counts = windows._counts
    assert (counts.opened, counts.rejected, counts.refused) == (3, 3, 1)
    assert feed(windows, 2) == [OUTSIDE], "in windows that were rejected, so it is dropped"
    assert counts.dropped == 3
    feed(windows, 3)
    assert windows.open_count == 1


def test_windows_are_followed_through_negative_and_fractional_times() -> None:
    windows = windows_of(0.5, 0.25)
    triggers = feed(windows, -0.6, -0.5, -0.3, 0.0, 0.1)
    assert [bool(found & OUTSIDE) for found in triggers] == [True, False, False, False, False]
    assert [bool(found & CLOSES) for found in triggers] == [False, False, False, True, False]


def test_a_key_is_noted_when_its_first_window_opens() -> None:
    counts = WindowCounts()
    ends = counts.ends = DuePlaces()
    places = []
    for key, time in (("IBM", 7.0), ("MSFT", 4.0)):
        buffer = LazyWindowBuffer(WindowSpecification(3, 1), None, counts, key)
        places.append(Place(KeyCell(key, 0, time=0.0, arrival=0.0), NOBODY))
        buffer.windows.place = places[-1]
        for later in (0.0, 1.0, 2.0):
            buffer.arrive((key, 0, time + later))
    assert len(list(ends)) == 2
    assert ends.first() == (7.0, places[1])
