"""The windows of a query on one grid, against the windows that their clauses mean."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import StatementError, WindowError
from upstream.queries.choices import Choices
from upstream.queries.chunks.grid import EvenGrid, MonthGrid
from upstream.queries.chunks.windows import Schedule, Windows
from upstream.queries.evaluation.planned_windows import (
    check_steps,
    check_together,
    grid_of,
    refuse_choices_of_windows,
    refuse_epochs_in_view,
    refuse_leaving_out,
    refuse_unfitting,
    schedule_of,
)
from upstream.queries.sql import ParsedQuery, read_query
from upstream.queries.sql.window_clause import Axis, Unit, WindowClause, WindowKind
from upstream.rows.stream_definition import StreamDefinition

from ..sql.example_streams import STREAMS, shown

if TYPE_CHECKING:
    from typing import Any

TICKS = STREAMS["ticks"]
MILLISECONDS = StreamDefinition("ms", pa.schema({"at": pa.timestamp("ms")}), (), "at")
ALL_STREAMS = {**STREAMS, "ms": MILLISECONDS}

clauses = st.builds(
    WindowClause,
    st.just(WindowKind.HOP),
    st.just("ticks"),
    st.just(Axis.SOURCE),
    size=st.integers(1, 12),
    slide=st.integers(1, 12),
    offset=st.integers(0, 11),
)


@given(several=st.lists(clauses, min_size=1, max_size=3), time=st.integers(-40, 40))
def test_windows_in_chunks_begin_and_end_where_their_clauses_say(
    several: list[WindowClause], time: int
) -> None:
    grid = grid_of(several, TICKS)
    schedule = schedule_of(several, grid)
    assert schedule is not None
    for clause, windows in zip(several, schedule.windows, strict=True):
        span = windows.at(windows.end_after(grid.chunk_of(time)))
        start, end = grid.start_of(span.first), grid.start_of(span.end)
        assert end - start == clause.size
        assert (start - clause.offset) % clause.slide == 0
        assert end - clause.slide <= time < end


@given(st.lists(clauses, min_size=2, max_size=3))
def test_chunks_are_as_long_as_they_can_be(several: list[WindowClause]) -> None:
    grid = grid_of(several, TICKS)
    assert isinstance(grid, EvenGrid)
    edges = {each.offset + extra for each in several for extra in (0, each.size, each.slide)}
    lengths = range(grid.length + 1, 25)
    assert all(len({edge % length for edge in edges}) > 1 for length in lengths)


def clause(
    kind: WindowKind, axis: Axis = Axis.SOURCE, *, size: int = 0, slide: int = 0
) -> WindowClause:
    return WindowClause(kind, "ticks", axis, size, slide)


def test_the_first_window_over_rows_is_full() -> None:
    several = [clause(WindowKind.ROWS, Axis.ROWS, size=6, slide=4)]
    schedule = schedule_of(several, grid_of(several, TICKS))
    assert schedule is not None
    assert schedule.windows == (Windows(3, 2, 0, 3),)


def test_a_landmark_is_answered_at_each_slide_if_it_has_one() -> None:
    slides, grows = clause(WindowKind.LANDMARK, slide=10), clause(WindowKind.LANDMARK)
    schedule = schedule_of([slides], grid_of([slides], TICKS))
    assert schedule is not None
    assert schedule.windows == (Windows(1, 1),)
    assert schedule_of([grows], grid_of([grows], TICKS)) is None


@pytest.mark.parametrize(
    ("stream", "axis", "unit"),
    [
        ("trades", Axis.SOURCE, "us"),
        ("ms", Axis.SOURCE, "ms"),
        ("days", Axis.SOURCE, "D"),
        ("days", Axis.ARRIVAL, "us"),
    ],
)
def test_months_are_counted_in_the_unit_of_the_axis(stream: str, axis: Axis, unit: str) -> None:
    months = WindowClause(WindowKind.HOP, stream, axis, 6, 4, unit=Unit.MONTHS, zone="UTC")
    grid = grid_of([months, replace(months, size=12)], ALL_STREAMS[stream])
    assert grid == MonthGrid(2, unit, "UTC", 0)
    schedule = schedule_of([months], grid)
    assert schedule is not None
    assert schedule.windows == (Windows(3, 2),)


# What one query cannot have together


def parsed(*windows: str) -> ParsedQuery:
    return read_query(f"SELECT 1 FROM {', '.join(windows)}", ALL_STREAMS)


def check(query: ParsedQuery) -> None:
    numbers = range(len(query.windows))
    definitions = [ALL_STREAMS[window.stream] for window in query.windows]
    check_together(query, numbers, definitions)


@pytest.mark.parametrize(
    "windows",
    [
        ("tumble(ticks, 10)", "hop(ticks, 30, 7)"),
        ("tumble(ticks, 10)", "hop(ticks, 3, 10, offset => 2)"),
        ("rows(ticks, 10, 5)", "rows(trades, 3)"),
        ("tumble(trades, INTERVAL '1 hour')", "tumble(trades, INTERVAL '2 days')"),
        (
            "tumble(trades, INTERVAL '1 month')",
            "hop(trades, INTERVAL '1 year', INTERVAL '1 month')",
        ),
        ("landmark(ticks, 10)", "landmark(ticks, 10)"),
        (
            "tumble(trades, INTERVAL '1 hour', by => arrival)",
            "tumble(news, INTERVAL '7 minutes', by => arrival)",
        ),
        ("tumble(ticks, 10, empty => true)", "hop(ticks, 20, 10)"),
    ],
    ids=" and ".join,
)
def test_windows_over_times_of_one_kind_go_together(windows: tuple[str, ...]) -> None:
    check(parsed(*windows))


@pytest.mark.parametrize(
    ("windows", "why"),
    [
        (("tumble(ticks, 10)", "landmark(ticks)"), "another window"),
        (("landmark(ticks)", "rows(ticks, 3)"), "another window"),
        (("landmark(ticks, 10)", "landmark(ticks, 20)"), "have the same slide"),
        (("landmark(ticks, 10)", "landmark(ticks)"), "have the same slide"),
        (("tumble(ticks, 10)", "rows(ticks, 10)"), "times of one kind"),
        (
            ("tumble(trades, INTERVAL '1 hour')", "tumble(ms, INTERVAL '1 hour')"),
            "times of one kind",
        ),
        (
            ("tumble(ms, INTERVAL '1 s')", "tumble(ms, INTERVAL '1 s', by => arrival)"),
            "times of one kind",
        ),
        (
            ("tumble(trades, INTERVAL '1 month')", "tumble(trades, INTERVAL '1 day')"),
            "windows of months",
        ),
        (
            ("tumble(ticks, 10, empty => true)", "tumble(ticks, 20)"),
            "need the same slide and offset",
        ),
        (
            ("tumble(ticks, 10)", "tumble(ticks, 10, offset => 3, empty => true)"),
            "need the same slide and offset",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else " and ".join(each),
)
def test_other_windows_are_refused_where_the_last_of_them_is(
    windows: tuple[str, ...], why: str
) -> None:
    with pytest.raises(WindowError, match=why) as caught:
        check(parsed(*windows))
    assert caught.value.hint
    assert shown(caught) == windows[-1]


def test_epochs_consist_of_the_chunks_that_are_kept() -> None:
    query = parsed("epochs(ticks, 10, keep => 3, offset => 4)", "epochs(ticks, 10, offset => 4)")
    grid = grid_of(query.windows, TICKS)
    assert grid == EvenGrid(10, 4)
    schedule = schedule_of(query.windows, grid)
    assert schedule is not None
    assert schedule.windows == (Windows(3, 1), Windows(1, 1))


@pytest.mark.parametrize("cut", ["rows => 7", "by => sensor", "punctuation => tick > 3"])
def test_epochs_that_are_not_cut_by_time_are_counted(cut: str) -> None:
    windows = parsed(f"epochs(ticks, {cut}, keep => 4)").windows
    grid = grid_of(windows, TICKS)
    assert grid == EvenGrid(1)
    schedule = schedule_of(windows, grid)
    assert schedule is not None
    assert schedule.windows == (Windows(4, 1),)


@pytest.mark.parametrize(
    "windows",
    [
        ("epochs(ticks, 10)", "epochs(ticks, 10, keep => 3, pairing => 'window')"),
        (
            "epochs(ticks, 10, pairing => 'newest')",
            "epochs(ticks, 10)",
            "epochs(ticks, 10, pairing => 'NEWEST')",
        ),
        ("epochs(ticks, rows => 3)", "epochs(trades, rows => 5, keep => 2)"),
        ("epochs(ticks, by => sensor)", "epochs(trades, by => (symbol, size))"),
        ("epochs(ticks, punctuation => tick > 3)", "epochs(trades, punctuation => price > 3)"),
        (
            "epochs(trades, INTERVAL '1 month', zone => 'Asia/Tokyo')",
            "epochs(trades, INTERVAL '1 month', keep => 12, zone => 'Asia/Tokyo')",
        ),
        (
            "epochs(ms, INTERVAL '1 s', by => arrival)",
            "epochs(news, INTERVAL '1 s', by => arrival)",
        ),
    ],
    ids=" and ".join,
)
def test_epochs_that_are_cut_alike_go_together(windows: tuple[str, ...]) -> None:
    check(parsed(*windows))


@pytest.mark.parametrize(
    ("windows", "why"),
    [
        (("epochs(ticks, 10)", "tumble(ticks, 10)"), "combined with another window"),
        (("rows(ticks, 10)", "epochs(ticks, rows => 10)"), "combined with another window"),
        (("epochs(ticks, 10)", "epochs(ticks, rows => 10)"), "cut in the same way"),
        (("epochs(ticks, by => sensor)", "epochs(ticks, rows => 10)"), "cut in the same way"),
        (("epochs(ticks, by => tick)", "epochs(ticks, punctuation => true)"), "in the same way"),
        (("epochs(ticks, 10)", "epochs(ticks, 20)"), "the same length and offset"),
        (("epochs(ticks, 10)", "epochs(ticks, 10, offset => 3)"), "the same length and offset"),
        (
            ("epochs(ms, INTERVAL '1 s')", "epochs(trades, INTERVAL '1 ms')"),
            "^the epochs of one query must be over times of one kind",
        ),
        (
            ("epochs(ms, INTERVAL '1 s')", "epochs(ms, INTERVAL '1 s', by => arrival)"),
            "^the epochs of one query .*[^$]*give both streams epochs of one kind",
        ),
        (
            (
                "epochs(ms, INTERVAL '1 month')",
                "epochs(ms, INTERVAL '1 month', zone => 'Asia/Tokyo')",
            ),
            "^epochs of months can only be combined with epochs of months of the same zone",
        ),
        (("epochs(ticks, 10, pairing => 'window')",), "needs epochs of two streams"),
        (
            (
                "epochs(ticks, 10, pairing => 'window')",
                "epochs(ticks, 10)",
                "epochs(ticks, 10, pairing => 'newest')",
            ),
            "have one pairing, not 'window' and 'newest'",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else " and ".join(each),
)
def test_epochs_that_are_cut_differently_are_refused(windows: tuple[str, ...], why: str) -> None:
    with pytest.raises(WindowError, match=why) as caught:
        check(parsed(*windows))
    assert caught.value.hint
    assert shown(caught) == windows[-1]


def test_windows_that_would_be_made_of_too_many_chunks_are_refused() -> None:
    query = parsed("tumble(ticks, 10)")
    check_steps(query, 0, Schedule([Windows(1_000_000, 1)]))
    with pytest.raises(WindowError, match="1,000,001 chunks"):
        check_steps(query, 0, Schedule([Windows(1, 1), Windows(1_000_001, 1)]))


# What windows cannot have of what is chosen


def query_over(window: str) -> ParsedQuery:
    return read_query(f"SELECT count(*) AS n FROM {window}", STREAMS)


@pytest.mark.parametrize(
    ("window", "name", "why"),
    [
        ("rows(trades, 9)", "allowed_lateness", "no row is late"),
        ("rows(trades, 9)", "close_after", "when they are full"),
        ("landmark(trades)", "allowed_lateness", "late rows anyway"),
        ("landmark(trades, INTERVAL '1 day')", "allowed_lateness", "late rows anyway"),
        ("landmark(trades)", "close_after", "never closes"),
        ("landmark(news)", "close_after", "never closes"),
        ("hop(ticks, 9, 3)", None, ""),
        ("tumble(news, INTERVAL '1 day', by => arrival)", "allowed_lateness", "no row is late"),
        ("tumble(news, INTERVAL '1 day', by => arrival)", "close_after", "by the clock"),
    ],
)
def test_a_choice_that_a_window_cannot_have_is_refused(
    window: str, name: str | None, why: str
) -> None:
    query = query_over(window)
    if name is None:
        refuse_unfitting(query, 0, Choices(allowed_lateness=1, close_after=1))
        return
    choice: dict[str, Any] = {name: 1}
    with pytest.raises(WindowError, match=f"^{name} applies to .*{why}") as caught:
        refuse_unfitting(query, 0, Choices(**choice))
    assert shown(caught) == window
    refuse_unfitting(query, 0, Choices())


@pytest.mark.parametrize(
    ("window", "name", "hint"),
    [
        (
            "epochs(ticks, 9)",
            "allowed_lateness",
            r"leave it out, or read tumble\(ticks, …\), whose",
        ),
        ("epochs(trades, rows => 9)", "allowed_lateness", "leave it out$"),
        ("epochs(news, INTERVAL '1 day', by => arrival)", "allowed_lateness", "leave it out$"),
        ("epochs(news, INTERVAL '1 day', by => arrival)", "close_after", "leave it out$"),
    ],
)
def test_a_choice_that_epochs_cannot_have_is_refused(window: str, name: str, hint: str) -> None:
    choice: dict[str, Any] = {name: 1}
    with pytest.raises(WindowError, match=f"^epochs .*cannot have {name}: .*[^$]*{hint}") as caught:
        refuse_unfitting(query_over(window), 0, Choices(**choice))
    assert shown(caught) == window


def test_a_landmark_with_a_slide_closes_after_silence() -> None:
    refuse_unfitting(query_over("landmark(trades, INTERVAL '1 day')"), 0, Choices(close_after=1))


@pytest.mark.parametrize("cut", ["10", "rows => 9", "by => sensor", "punctuation => tick > 3"])
def test_epochs_close_after_silence(cut: str) -> None:
    refuse_unfitting(query_over(f"epochs(ticks, {cut})"), 0, Choices(close_after=1))


def test_without_a_window_nothing_is_late_or_closed() -> None:
    refuse_choices_of_windows(query_over("trades"), Choices())
    with pytest.raises(WindowError, match="allowed_lateness applies to windows") as caught:
        refuse_choices_of_windows(query_over("trades"), Choices(allowed_lateness=1))
    assert shown(caught) == "trades"


def test_the_query_of_a_view_reads_no_epochs() -> None:
    refuse_epochs_in_view(query_over("tumble(ticks, 10)"))
    with pytest.raises(WindowError, match="a view cannot read epochs") as caught:
        refuse_epochs_in_view(query_over("epochs(ticks, 10)"))
    assert shown(caught) == "epochs(ticks, 10)"
    assert "epochs(ticks, …) with CREATE STREAM … AS" in caught.value.hint


def test_no_row_that_arrives_once_is_left_out() -> None:
    with pytest.raises(StatementError, match="each row once") as caught:
        refuse_leaving_out(query_over("trades"), 0)
    assert shown(caught) == "trades"
