"""Tables as CSV: what is written is read back the same."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from simulator.experiments.experiment import Row
from simulator.experiments.table import from_csv, read_csv, to_csv

TABLE: list[Row] = [
    {"name": "in-place", "load": 5, "staleness": 0.1 + 0.2, "note": 'a "quoted", text'},
    {"name": "append", "load": 20, "staleness": 1e-300, "note": ""},
]


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(to_csv(TABLE), encoding="utf-8")
    assert read_csv(path) == from_csv(to_csv(TABLE)) == TABLE


def test_numbers_keep_their_type() -> None:
    [row, _] = from_csv(to_csv(TABLE))
    assert type(row["load"]) is int
    assert type(row["staleness"]) is float


def test_infinity_stays_infinity() -> None:
    [row] = from_csv(to_csv([{"x": math.inf}]))
    assert row["x"] == math.inf


def test_a_row_with_another_column_is_our_mistake() -> None:
    with pytest.raises(ValueError, match="staleness"):
        to_csv([{"load": 1}, {"load": 1, "staleness": 2.0}])
