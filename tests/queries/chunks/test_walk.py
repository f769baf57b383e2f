"""A walk over windows against a simple one, which goes through every window."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.ring import Ring
from upstream.queries.chunks.walk import Due, Walk
from upstream.queries.chunks.windows import Schedule, Span, Windows

MUCH = 1_000
"""So many windows are kept of a silence that none is left out."""
FAR = 10**12


class PlainWalk:
    """What a walk does, with all chunks remembered and every window looked at."""

    def __init__(self, schedule: Schedule, *, answers_empty: bool) -> None:
        self.schedule = schedule
        self.answers_empty = answers_empty
        self.chunks: list[set[int]] = [set() for _ in schedule.windows]
        self.open: int | None = None
        self.amended: dict[int, float] = {}
        self.answers: dict[int, int] = {}
        self.last: int | None = None

    def is_occupied(self, end: int) -> bool:
        spans = zip(self.chunks, self.schedule.at(end), strict=True)
        return any(span.first <= chunk < span.end for chunks, span in spans for chunk in chunks)

    def add(self, number: int, chunk: int, moment: float) -> None:
        self.chunks[number].add(chunk)
        for end in range(chunk, chunk + 60):
            span = self.schedule.at(end)[number]
            is_end = self.schedule.end_after(end - 1) == end
            if is_end and span.first <= chunk < span.end and self.open and end < self.open:
                self.amended.setdefault(end, moment)

    def begin(self, passed: int) -> None:
        """Open the first window that holds a row, or has not ended."""
        if self.open is None:
            end = self.schedule.end_after(-500)
            while not self.is_occupied(end) and end <= passed:
                end = self.schedule.end_after(end)
            self.open = end

    def due(self, passed: int) -> list[Due]:
        found = []
        for end in sorted(self.amended):
            moment = self.amended[end]
            found.append(Due(end, self.schedule.at(end), is_occupied=True, amended=moment))
            self._pass(end)
            after = self.schedule.end_after(end)
            is_told = after in self.answers or after in self.amended
            if after != self.open and not is_told and not self.is_occupied(after):
                spans = self.schedule.at(after)
                found.append(Due(after, spans, is_occupied=False, amended=moment))
        self.amended.clear()
        while self.open is not None and self.open <= passed:
            is_occupied = self.is_occupied(self.open)
            if is_occupied or self.answers_empty or self._follows_rows(self.open):
                found.append(Due(self.open, self.schedule.at(self.open), is_occupied))
            if is_occupied:
                self._pass(self.open)
            self.open = self.schedule.end_after(self.open)
        for each in found:
            self.answers[each.end] = self.answers.get(each.end, -1) + 1
        return found

    def due_from(self) -> int | None:
        """Return the end of the next window that is to be answered if no row comes."""
        end = self.open
        while end is not None and end < 500:
            if self.answers_empty or self.is_occupied(end) or self._follows_rows(end):
                return end
            end = self.schedule.end_after(end)
        return None

    def _follows_rows(self, end: int) -> bool:
        """Tell whether the window before holds a row; none is before the first there is."""
        before = end - 1
        while self.schedule.end_after(before - 1) != before and before > -600:
            before -= 1
        return self.schedule.newest_end(before) == before and self.is_occupied(before)

    def _pass(self, end: int) -> None:
        self.last = end if self.last is None else max(end, self.last)


sizes = st.integers(1, 5)


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Draw the windows of one input or two; over times, or over rows."""
    is_over_rows = draw(st.booleans())
    found = []
    for _ in range(draw(st.integers(1, 2))):
        size, slide, phase = draw(sizes), draw(sizes), draw(st.integers(-5, 5))
        found.append(Windows(size, slide, 0, size) if is_over_rows else Windows(size, slide, phase))
    return Schedule(found)


MOVES = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(0, 1), st.integers(-12, 5)), max_size=4),
        st.integers(0, 14),
    ),
    max_size=10,
)


class Both:
    """A walk, and the plain one, which are given the same rows."""

    def __init__(self, schedule: Schedule, *, answers_empty: bool = False) -> None:
        self.schedule = schedule
        self.occupied = [Ring[float]() for _ in schedule.windows]
        self.walk = Walk(schedule, self.occupied, answers_empty=answers_empty)
        self.plain = PlainWalk(schedule, answers_empty=answers_empty)

    def add(self, number: int, chunk: int, moment: float) -> None:
        """Let a row come, late for windows that were passed."""
        windows = self.schedule.windows[number]
        if not windows.covers(chunk) or (windows.earliest is not None and chunk < 0):
            return
        self.occupied[number].add_first(chunk, moment)
        self.walk.amend(number, chunk, moment)
        self.plain.add(number, chunk, moment)

    def begin(self, passed: int) -> None:
        self.walk.begin(passed)
        self.plain.begin(passed)

    def check(self) -> None:
        """Both are as far."""
        assert self.walk.last == self.plain.last
        if self.walk.open is None:
            return
        assert self.walk.due_from() == self.plain.due_from()
        for end, answers in self.plain.answers.items():
            assert self.walk.revision(end) == answers
        assert self.walk.spans == self.schedule.at(self.walk.open)


def counted(walk: Walk, passed: int, keep: int) -> tuple[list[Due], int]:
    """Pass windows, and count their answers."""
    found, skipped = walk.due(passed, keep)
    walk.count([each.end for each in found])
    return found, skipped


@given(schedule=schedules(), moves=MOVES, answers_empty=st.booleans())
def test_a_walk_passes_windows_as_if_it_went_one_by_one(
    schedule: Schedule, moves: list[tuple[list[tuple[int, int]], int]], answers_empty: bool
) -> None:
    answers_empty = answers_empty and schedule.is_even
    both = Both(schedule, answers_empty=answers_empty)
    passed = 0
    for moment, (rows, forward) in enumerate(moves):
        for number, ahead in rows:
            both.add(number % len(schedule.windows), passed + ahead, float(moment))
        if rows:
            both.begin(passed)
        passed += forward
        is_due = both.plain.open is not None and both.plain.open <= passed
        assert (both.walk.forked(passed) is not None) == (is_due or bool(both.plain.amended))
        found, skipped = counted(both.walk, passed, MUCH)
        assert (found, skipped) == (both.plain.due(passed), 0)
        both.check()


@given(moves=MOVES, size=sizes, slide=sizes, keep=st.integers(0, 3))
def test_after_a_silence_only_the_newest_windows_are_returned_and_all_are_counted(
    moves: list[tuple[list[tuple[int, int]], int]], size: int, slide: int, keep: int
) -> None:
    both = Both(Schedule([Windows(size, slide)]), answers_empty=True)
    passed = 0
    for rows, forward in moves:
        for _, ahead in rows:
            both.add(0, passed + max(0, ahead), 0.0)
        if rows:
            both.begin(passed)
        passed += forward
        expected = both.plain.due(passed)
        found, skipped = both.walk.due(passed, keep)
        assert len(found) + skipped == len(expected)
        assert newest(found, keep) == newest(expected, keep)
        assert [each for each in found if each.is_occupied] == [
            each for each in expected if each.is_occupied
        ]


def newest(found: list[Due], keep: int) -> list[Due]:
    return found[max(0, len(found) - keep) :]


@pytest.mark.parametrize("answers_empty", [False, True])
def test_the_length_of_a_silence_costs_nothing(answers_empty: bool) -> None:
    # chunks   |0 |1 |2 |3 | …   |FAR|        size 3, slide 1
    # rows       *                 *
    both = Both(Schedule([Windows(3, 1)]), answers_empty=answers_empty)
    for chunk in (0, FAR):
        both.occupied[0].add(chunk, 0.0)
    both.walk.begin(0)
    found, skipped = both.walk.due(FAR + 2, 2)
    ends = [each.end for each in found]
    with_rows = [end for end in ends if both.walk.is_occupied(both.schedule.at(end))]
    assert with_rows == [1, 2, 3, FAR + 1, FAR + 2]
    if answers_empty:
        assert [end for end in ends if end not in with_rows] == [4, FAR - 1, FAR]
        assert len(ends) + skipped == FAR + 2
    else:
        assert [end for end in ends if end not in with_rows] == [4]
        assert skipped == 0
    assert both.walk.open == FAR + 3


def test_nothing_is_open_before_the_first_row() -> None:
    walk = Walk(Schedule([Windows(3, 1)]), [Ring[float]()], answers_empty=True)
    walk.begin(None)
    assert (walk.open, walk.due_from(), walk.forked(FAR)) == (None, None, None)
    assert walk.due(FAR, 9) == ([], 0)
    walk.amend(0, 5, 1.0)
    assert walk.forked(FAR) is None


def test_the_clock_may_open_the_first_window_once_a_row_is_there() -> None:
    ring = Ring[float]()
    walk = Walk(Schedule([Windows(2, 1)] * 2), [ring, Ring[float]()])
    ring.add(5, 0.0)
    walk.begin(None)
    assert (walk.open, walk.due_from()) == (None, 6)
    walk.begin(6)
    assert (walk.open, walk.due_from()) == (6, 6)


def test_a_copy_goes_on_by_itself() -> None:
    both = Both(Schedule([Windows(2, 1)]))
    both.add(0, 0, 0.0)
    both.begin(0)
    counted(both.walk, 3, MUCH)
    both.add(0, 1, 5.0)
    before = both.walk
    one, other = before.forked(5), before.forked(5)
    assert one is not None
    assert other is not None
    assert counted(one, 5, MUCH) == counted(other, 5, MUCH)
    assert (before.open, before.last, before.forked(3) is not None) == (4, 2, True)
    assert (before.revision(2), one.revision(2)) == (0, 1)
    assert counted(before, 5, MUCH)[0][0] == Due(2, (Span(0, 2),), is_occupied=True, amended=5.0)


def test_late_rows_are_known_since_the_first_of_them_came() -> None:
    both = Both(Schedule([Windows(2, 2)]))
    both.add(0, 0, 0.0)
    both.begin(0)
    counted(both.walk, 4, MUCH)
    for moment in (7.0, 8.0):
        both.add(0, 1, moment)
    assert both.walk.due(4, MUCH) == ([Due(2, (Span(0, 2),), is_occupied=True, amended=7.0)], 0)


def test_revisions_that_cannot_be_asked_for_are_forgotten_now_and_then() -> None:
    both = Both(Schedule([Windows(1, 1)]))
    walk = both.walk
    for chunk in range(5_000):
        both.occupied[0].add(chunk, 0.0)
        walk.begin(chunk)
        counted(walk, chunk, MUCH)
        both.occupied[0].forget(chunk - 5)
        walk.forget(chunk - 5)
        assert len(walk._revisions) <= 1_001
    walk.count([4_999])
    assert walk.revision(4_999) == 1
