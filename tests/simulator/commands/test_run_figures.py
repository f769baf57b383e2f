"""`figure` and `all`: experiments into files, from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from simulator.experiments.experiment import Experiment, Point, Scale, Table, read_csv
from simulator.experiments.registry import EXPERIMENTS
from simulator.runs import runner

from ..experiments.golden import assert_golden_rows, golden_path
from .command_line import assert_refused, invoke

ROOT = Path(__file__).resolve().parents[3]


def test_a_figure_is_written_and_its_verdict_is_told(tmp_path: Path) -> None:
    result = invoke("figure", "2", "--out", str(tmp_path), "--quick", "--jobs", "1")
    assert result.exit_code == 0
    assert "Seed 1, quick scale" in result.output
    assert "Figure 2: The claim held." in result.output
    for name in ("figure_2.csv", "figure_2.png", "figure_2.json"):
        assert (tmp_path / name).stat().st_size > 0


def test_the_result_is_json_if_wanted(tmp_path: Path) -> None:
    options = ("--out", str(tmp_path), "--quick", "--seed", "5", "--jobs", "1", "--json")
    [result] = json.loads(invoke("figure", "2", *options).stdout)
    assert (result["name"], result["held"], result["seed"]) == ("2", True, 5)
    assert result["plot"] == "figure_2.png"


def test_several_figures_may_be_named(tmp_path: Path) -> None:
    options = ("--out", str(tmp_path), "--quick", "--jobs", "1", "--json")
    results = json.loads(invoke("figure", "2", "12a", *options).stdout)
    assert {result["name"] for result in results} == {"2", "12a"}


def test_a_second_run_from_another_seed_replaces_the_first(tmp_path: Path) -> None:
    tables = []
    for seed in ("5", "6", "5"):
        options = ("--out", str(tmp_path), "--quick", "--seed", seed, "--jobs", "1", "--json")
        [result] = json.loads(invoke("figure", "4", *options).stdout)
        assert result["seed"] == int(seed)
        tables.append((tmp_path / result["table"]).read_text())
    assert tables[0] == tables[2] != tables[1]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("figure", "nine", "--out", "out"), "expected one of 2, 4"),
        (("figure", "--out", "out"), "NAME"),
        (("figure", "9"), "--out"),
        (("all",), "--out"),
        (("figure", "2", "--out", "out", "--seed", "-1"), "--seed"),
        (("figure", "2", "--out", "out", "--jobs", "0"), "--jobs"),
    ],
)
def test_bad_arguments_are_refused_by_name(
    arguments: tuple[str, ...], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(invoke(*arguments), word)
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    assert_refused(invoke("figure", "2", "--out", str(path)), "--out")
    result = invoke("figure", "2", "--out", str(path / "folder"))
    assert result.exit_code == 1
    assert result.stderr == f"Error: [Errno 20] Not a directory: '{path / 'folder'}'\n"


def test_all_writes_every_experiment_and_the_page_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are the golden ones; that each experiment measures its own is tested with it."""
    monkeypatch.setattr(
        runner, "EXPERIMENTS", {name: recalled(each) for name, each in EXPERIMENTS.items()}
    )
    result = invoke("all", "--quick", "--jobs", "1", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    for each in EXPERIMENTS.values():
        assert f"{each.file_name}.png" in page
        for ending in ("csv", "png", "json"):
            assert (tmp_path / f"{each.file_name}.{ending}").stat().st_size > 0
    assert str(tmp_path / "index.html") in result.output


def recalled(experiment: Experiment) -> Experiment:
    """Return the experiment as one of a single point, at which it gives its golden table."""

    def measure(point: Point, scale: Scale) -> Table:
        return read_csv(golden_path(experiment))

    return replace(experiment, points=lambda _: [{}], measure=measure)


@pytest.mark.slow
def test_a_run_may_be_stopped_and_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "simulator", "figure", "2", "policies", "--quick"]
    command += ["--jobs", "2", "--out", str(tmp_path)]
    finished, unfinished = tmp_path / "figure_2.json", tmp_path / ".unfinished" / "policies.jsonl"
    with subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        wait_for(lambda: finished.exists() and unfinished.stat().st_size > 0, running)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "continues from here" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "policies.json").exists()
    before = finished.stat().st_mtime_ns

    again = subprocess.run([*command, "--json"], cwd=ROOT, check=True, capture_output=True)
    assert [result["name"] for result in json.loads(again.stdout)] == ["2", "policies"]
    assert finished.stat().st_mtime_ns == before, "what was finished is not measured again"
    assert_golden_rows(EXPERIMENTS["policies"], read_csv(tmp_path / "policies.csv"))


def wait_for(is_there: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    """Wait until something is there, as long as the process runs."""
    while not is_there():
        assert running.poll() is None, "it ended before it could be stopped"
        time.sleep(0.02)


def test_every_experiment_is_listed() -> None:
    result = invoke("list")
    assert result.exit_code == 0
    for each in EXPERIMENTS.values():
        assert (f"figure {each.name} " if each.is_figure else each.name) in result.output


def test_the_list_is_json_if_wanted() -> None:
    found = json.loads(invoke("list", "--json").stdout)
    assert [each["name"] for each in found] == list(EXPERIMENTS)
    assert all(each["title"] and each["claim"] for each in found)
