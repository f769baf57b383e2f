"""What an experiment is made of."""

from __future__ import annotations

from simulator.experiments.experiment import Row, Scale, column, number, where

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
