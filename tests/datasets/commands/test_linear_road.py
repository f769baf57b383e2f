"""`python -m datasets linear-road`: what it writes, shows and refuses, and who takes it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from simulator.workloads.trace_file import read_trace

from .command_line import FAILED, assert_refused, invoke

SHORT = ["linear-road", "--minutes", "2", "--rate", "20", "--requests", "0.2"]


@pytest.mark.usefixtures("spark")
def test_the_folder_is_a_trace_with_its_card_and_a_history(tmp_path: Path) -> None:
    out, history = tmp_path / "road", tmp_path / "tolls"
    run = invoke(*SHORT, "--out", out, "--history", history, "--json")
    assert run.exit_code == 0, run.output
    shown = json.loads(run.stdout)
    trace = read_trace(out)
    assert shown["folder"] == str(out)
    assert shown["updates"] == len(trace.times) == pq.read_table(out).num_rows
    assert shown["keys"] == len(trace.keys) == pq.read_table(history).num_rows / 69
    assert (shown["seed"], shown["parameters"]["minutes"]) == (1, 2.0)
    assert {key: shown[key] for key in shown if key != "folder"} == json.loads(
        (out / "_data_card.json").read_text(encoding="utf-8")
    )
    assert "position reports" in (out / "_data_card.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["road", "tolls"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--minutes", "0"], "--minutes 0"),
        (["--rate", "nan"], "--rate nan"),
        (["--requests", "2"], "--requests 2"),
        (["--xways", "0"], "--xways"),
        (["--history", "road/tolls"], "--history"),
    ],
)
def test_invalid_options_are_usage_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(invoke(*SHORT, "--out", "road", *words), says)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("taken", ["--out", "--history"])
def test_a_folder_that_exists_is_refused_before_spark_starts(tmp_path: Path, taken: str) -> None:
    places = {"--out": tmp_path / "road", "--history": tmp_path / "tolls"}
    places[taken].mkdir()
    run = invoke(*SHORT, *(word for option in places.items() for word in option))
    said = f"Error: {places[taken]} already exists; choose another folder or remove it first"
    assert_refused(run, said, status=FAILED)
    assert run.stderr == f"{said}\n"
    assert list(tmp_path.iterdir()) == [places[taken]]
