"""The files of a result: written whole, read back, and not taken for whole when one is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.experiments.experiment import Scale
from simulator.runs import results
from simulator.runs.results import Result, read_result, write_result

from .coin_experiment import Coins

QUICK = Scale(seed=7, is_quick=True)


def write(out: Path) -> Result:
    experiment = Coins().experiment
    return write_result(experiment, experiment.table(QUICK), QUICK, out=out, fingerprint="code")


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    result = write(tmp_path / "new" / "folder")
    assert read_result(Coins().experiment, tmp_path / "new" / "folder") == result
    assert (result.seed, result.is_quick, result.rows, result.held) == (7, True, 3, True)
    assert (result.table, result.plot) == ("figure_9.csv", "figure_9.png")


def test_nothing_unfinished_is_left(tmp_path: Path) -> None:
    write(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["figure_9.csv", "figure_9.json", "figure_9.png"]


@pytest.mark.parametrize("name", ["figure_9.csv", "figure_9.json", "figure_9.png"])
def test_without_one_of_its_files_there_is_no_result(name: str, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / name).unlink()
    assert read_result(Coins().experiment, tmp_path) is None


def test_a_run_that_is_killed_while_it_writes_leaves_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    write(tmp_path)
    monkeypatch.setattr(results, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path)
    assert read_result(Coins().experiment, tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "9"}'])
def test_a_broken_file_is_no_result(text: str, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "figure_9.json").write_text(text)
    assert read_result(Coins().experiment, tmp_path) is None
