"""Golden results: the quick table of each experiment, committed, and compared with a new one.

To write them anew after a change that is meant to change results, run
`python -m tests.simulator.experiments.golden NAME...` (all of them without names), and read the
difference before committing it.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

import pytest

from simulator.experiments.experiment import (
    Experiment,
    Row,
    Scale,
    Table,
    from_csv,
    read_csv,
    to_csv,
)

FOLDER = Path(__file__).parent / "golden"
QUICK = Scale(seed=1, is_quick=True)


@cache
def quick_table(experiment: Experiment) -> list[Row]:
    """Measure the quick points of an experiment, once."""
    return experiment.table(QUICK)


def golden_path(experiment: Experiment) -> Path:
    """Return where the golden results of an experiment are."""
    return FOLDER / f"{experiment.file_name}.csv"


def assert_golden(experiment: Experiment) -> None:
    """Compare the quick table with the committed one.

    Points and rows come back from JSON as they were: a run that is stopped keeps them as JSON.
    """
    for kept in (experiment.points(QUICK), quick_table(experiment)):
        assert json.loads(json.dumps([dict(each) for each in kept])) == kept
    assert_golden_rows(experiment, from_csv(to_csv(quick_table(experiment))))


def assert_golden_rows(experiment: Experiment, measured: Table) -> None:
    """Compare rows that were read from CSV with the committed ones, numbers up to rounding."""
    expected = read_csv(golden_path(experiment))
    assert len(measured) == len(expected)
    for number, (row, golden) in enumerate(zip(measured, expected, strict=True), start=1):
        assert list(row) == list(golden), f"columns of row {number}"
        for name, cell in row.items():
            wanted = golden[name]
            if isinstance(wanted, str):
                assert cell == wanted, f"{name} in row {number}"
            else:
                assert cell == pytest.approx(wanted, rel=1e-6, abs=1e-9), f"{name} in row {number}"


def assert_drawn(experiment: Experiment, *, x_label: str, y_label: str) -> None:
    """Draw the quick table, and check that the first panel has labelled axes and a line or bar."""
    from simulator.experiments.experiment import plot

    axes = plot(experiment, quick_table(experiment)).axes[0]
    assert axes.get_xlabel() == x_label
    assert axes.get_ylabel() == y_label
    assert axes.has_data()


def _write(names: list[str]) -> None:
    from simulator.experiments.registry import EXPERIMENTS

    FOLDER.mkdir(exist_ok=True)
    for name in names or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        golden_path(experiment).write_text(to_csv(quick_table(experiment)), encoding="utf-8")


if __name__ == "__main__":
    _write(sys.argv[1:])
