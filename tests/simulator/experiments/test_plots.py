"""Plots: drawn by the experiment, headed with its name, written as PNG."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.experiments.experiment import Scale
from simulator.experiments.plots import plot, save

from ..runs.coin_experiment import Coins


@pytest.mark.parametrize(("name", "heading"), [("9", "Figure 9"), ("weights", "weights")])
def test_a_plot_says_what_it_is(name: str, heading: str) -> None:
    experiment = Coins(name).experiment
    figure = plot(experiment, experiment.table(Scale()))
    assert figure.get_suptitle() == f"{heading}: {experiment.title}"
    [line] = figure.axes[0].lines
    assert len(line.get_xdata()) == 6  # type: ignore[arg-type]  # an array, here


def test_a_plot_is_written_as_png(tmp_path: Path) -> None:
    experiment = Coins().experiment
    path = tmp_path / "plot.png"
    save(plot(experiment, experiment.table(Scale())), path)
    assert path.read_bytes().startswith(b"\x89PNG")
