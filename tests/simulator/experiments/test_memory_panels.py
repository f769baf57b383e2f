"""How Figures 16 and 17 are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simulator.experiments.figure_16a import EXPERIMENT
from simulator.experiments.memory_panels import LABELS, draw_panels
from simulator.experiments.memory_runs import EFFECTIVE_USAGE, THETAS, TUPLES_PER_PAGE
from simulator.experiments.memory_verdicts import LOAD, SKEW, Axis

from .golden import quick_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawn_over(axis: Axis) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    draw_panels(quick_table(EXPERIMENT), figure, axis=axis, metric=EFFECTIVE_USAGE)
    return figure


@pytest.fixture(name="figure")
def drawn_over_theta() -> Figure:
    return drawn_over(SKEW)


def test_there_is_a_panel_by_tuple_and_one_for_each_page_size(figure: Figure) -> None:
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["by tuple", *(f"by page of {size} tuples" for size in TUPLES_PER_PAGE)]


def test_each_panel_has_a_line_and_a_band_for_each_memory_and_a_line_more(figure: Figure) -> None:
    for axes in figure.axes:
        assert len(axes.lines) == len(LABELS) + 1
        assert len(axes.collections) == len(LABELS)
        assert all(np.array_equal(line.get_xdata(), THETAS) for line in axes.lines)


def test_all_panels_share_an_axis_that_starts_at_0_and_shows_everything(figure: Figure) -> None:
    for axes in figure.axes:
        low, high = axes.get_ylim()
        assert low == 0.0
        assert high >= 1.0


def test_the_x_axis_is_marked_where_it_was_measured(figure: Figure) -> None:
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == [
        f"{theta:g}" for theta in THETAS
    ]


def test_loads_are_drawn_on_a_logarithmic_axis() -> None:
    assert drawn_over(LOAD).axes[0].get_xscale() == "log"
