"""What an experiment is made of: its table, which reads back as it was written, and its plot."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from simulator.experiments.experiment import (
    Row,
    Scale,
    column,
    from_csv,
    number,
    plot,
    read_csv,
    save,
    to_csv,
    where,
)

from ..runs.coin_experiment import Coins

TABLE: list[Row] = [
    {"policy": "fifo", "load": 1, "staleness": 2.0},
    {"policy": "fifo", "load": 5, "staleness": 8},
    {"policy": "index", "load": 5, "staleness": 3.0},
]


def test_rows_are_found_by_their_cells() -> None:
    assert where(TABLE, policy="fifo") == TABLE[:2]
    assert where(TABLE, policy="fifo", load=5) == [TABLE[1]]
    assert where(TABLE, policy="append") == []


def test_a_column_is_a_list_of_floats() -> None:
    assert column(TABLE, "staleness") == [2.0, 8.0, 3.0]
    assert number(TABLE[1], "staleness") == 8.0


def test_a_scale_chooses() -> None:
    assert Scale().choose(full=2, quick=1) == 2
    assert Scale(is_quick=True).choose(full=2, quick=1) == 1


def test_the_table_has_the_rows_of_all_points() -> None:
    table = Coins().experiment.table(Scale())
    assert column(table, "coins") == [1, 2, 3, 4, 5, 6]


def test_figures_and_our_own_are_told_apart_by_their_names() -> None:
    figure, ours = Coins("13a").experiment, Coins("changing-rates").experiment
    assert (figure.is_figure, figure.file_name) == (True, "figure_13a")
    assert (ours.is_figure, ours.file_name) == (False, "changing_rates")


WRITTEN: list[Row] = [
    {"name": "in-place", "load": 5, "staleness": 0.1 + 0.2, "note": 'a "quoted", text'},
    {"name": "append", "load": 20, "staleness": 1e-300, "note": ""},
]


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(to_csv(WRITTEN), encoding="utf-8")
    assert read_csv(path) == from_csv(to_csv(WRITTEN)) == WRITTEN


def test_numbers_keep_their_type() -> None:
    [row, _] = from_csv(to_csv(WRITTEN))
    assert type(row["load"]) is int
    assert type(row["staleness"]) is float


def test_infinity_stays_infinity() -> None:
    [row] = from_csv(to_csv([{"x": math.inf}]))
    assert row["x"] == math.inf


def test_a_row_with_another_column_raises_an_error() -> None:
    with pytest.raises(ValueError, match="staleness"):
        to_csv([{"load": 1}, {"load": 1, "staleness": 2.0}])


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
