"""A window knows the length of its steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.sql.window_clause import Axis, EpochCut, WindowClause, WindowKind

from .example_streams import window_of


@pytest.mark.parametrize(
    ("size", "slide", "step"), [(600, 60, 60), (600, 400, 200), (7, 5, 1), (60, 60, 60), (0, 9, 9)]
)
def test_a_step_is_the_greatest_common_divisor(size: int, slide: int, step: int) -> None:
    assert WindowClause(WindowKind.HOP, "trades", Axis.SOURCE, size, slide).step == step


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_windows_and_slides_are_whole_numbers_of_steps(size: int, slide: int) -> None:
    step = WindowClause(WindowKind.ROWS, "trades", size=size, slide=slide).step
    assert step >= 1
    assert size % step == slide % step == 0


def test_a_window_without_a_slide_has_no_steps() -> None:
    assert WindowClause(WindowKind.STREAM, "trades").step == 0
    assert WindowClause(WindowKind.LATEST, "trades", rows=3, per=("symbol",)).step == 0


def test_a_window_is_a_value() -> None:
    window = WindowClause(WindowKind.ROWS, "trades", size=2, slide=1)
    assert window == WindowClause(WindowKind.ROWS, "trades", Axis.ROWS, 2, 1)
    assert len({window, WindowClause(WindowKind.ROWS, "trades", size=2, slide=1)}) == 1
    with pytest.raises(AttributeError):
        window.size = 3  # type: ignore[misc]  # that is the mistake


def test_kinds_have_the_names_of_their_functions() -> None:
    assert [str(kind) for kind in WindowKind] == [
        *("tumble", "hop", "rows", "latest", "landmark", "session", "epochs", "stream", "view"),
    ]


@pytest.mark.parametrize(
    ("call", "keep", "cut"),
    [
        ("epochs(ticks, 10)", 1, EpochCut.TIME),
        ("epochs(news, '1 minute', by => arrival, keep => 12)", 12, EpochCut.TIME),
        ("epochs(trades, '1 month', keep => 3)", 3, EpochCut.TIME),
        ("epochs(ticks, rows => 10, keep => 2)", 2, EpochCut.COUNT),
        ("epochs(ticks, by => sensor, keep => 7)", 7, EpochCut.OBJECT),
        ("epochs(ticks, punctuation => tick > 3)", 1, EpochCut.PUNCTUATION),
    ],
)
def test_epochs_say_what_cuts_them_and_how_many_chunks_are_kept(
    call: str, keep: int, cut: EpochCut
) -> None:
    clause = window_of(call)
    assert (clause.keep, clause.cut) == (keep, cut)
    assert clause.step == clause.slide
