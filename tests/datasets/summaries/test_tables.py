"""Tables of the summary, as CSV, Parquet and JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from datasets.summaries.comparison import interval
from datasets.summaries.tables import _interval, as_json, bucket_rows, run_row, write_tables

from . import hand_written as by_hand
from .conftest import Summarized


def test_csv_and_parquet_say_the_same_and_there_is_a_row_for_each_run(
    summarized: Summarized, tmp_path: Path
) -> None:
    write_tables(summarized.summary, tmp_path)
    runs = summarized.summary.runs
    for name, rows in (("runs", len(runs)), ("by_time", 10 * len(runs))):
        columns = pq.read_table(tmp_path / f"{name}.parquet")
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        assert len(lines) == columns.num_rows == rows
        for line, row in zip(lines, columns.to_pylist(), strict=True):
            told = {key: "" if cell is None else str(cell) for key, cell in row.items()}
            assert line == told
    assert (tmp_path / "comparisons.csv").exists()


def test_the_row_of_a_run_has_its_figures(summarized: Summarized) -> None:
    row = run_row(summarized.run("by hand/returned"))
    assert row["name"] == "returned"
    assert row["queue_staleness"] == pytest.approx(by_hand.RETURNED_QUEUE)
    assert (row["events"], row["keys"], row["accepted"], row["superseded"]) == (12, 1, 3, 1)
    assert row["superseded_share"] == pytest.approx(1 / 3)
    assert (row["is_described"], row["is_confirmed"]) == (False, None)
    assert row["queue_lower_bound_memoryless"] is not None


def test_the_json_is_strict_and_has_everything(summarized: Summarized) -> None:
    found = json.loads(json.dumps(as_json(summarized.summary), allow_nan=False))
    assert len(found["runs"]) == len(summarized.summary.runs)
    expired = next(run for run in found["runs"] if run["name"] == "expired")
    assert expired["queue_staleness"] is None
    assert expired["not_told"]["queue"] == ["3 updates expired"]
    assert expired["worst_keys"][0]["key"] == "k"
    assert found["by_time"] == bucket_rows(summarized.summary)
    assert {"setting", "name", "is_seeded", "mean", "mean_low", "ratio"} <= found["comparisons"][
        0
    ].keys()


def test_a_missing_interval_has_its_columns() -> None:
    assert _interval("ratio", None).keys() == _interval("ratio", interval([1.0, 2.0])).keys()
