"""The plots of a summary: that they are drawn, and of everything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from datasets.summaries.plots import _draw_comparisons, _draw_time, _styles, draw_plots
from datasets.summaries.summary import Summary

from .conftest import Summarized


def test_three_plots_are_written(summarized: Summarized, tmp_path: Path) -> None:
    draw_plots(summarized.summary, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["by_key.png", "by_time.png", "comparisons.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in tmp_path.iterdir())


def test_each_run_has_a_line_and_each_name_one_entry_of_the_legend(summarized: Summarized) -> None:
    figure = Figure()
    _draw_time(summarized.summary, figure)
    _, application = figure.axes
    assert len(application.get_lines()) == len(summarized.summary.runs)
    _, labels = application.get_legend_handles_labels()
    assert len(labels) == len(set(labels)) == len(_styles(summarized.summary))


def test_a_mean_with_an_interval_has_a_point_and_a_bar(summarized: Summarized) -> None:
    rows = [row for row in summarized.summary.comparisons if row.value.runs == 3]
    figure = Figure()
    _draw_comparisons(replace(summarized.summary, comparisons=rows), figure)
    queue, _ = figure.axes
    assert len(queue.get_lines()) == 2 * 2 + 1  # two policies, and the bound
    names = {label.get_text() for label in queue.get_yticklabels()}
    assert names == {"index", "in-place"}


def test_an_empty_summary_is_drawn(tmp_path: Path) -> None:
    draw_plots(Summary((), (), ()), tmp_path)
    assert (tmp_path / "by_time.png").exists()
