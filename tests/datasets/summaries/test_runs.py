"""Which runs there are in folders, below them, and in single files."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasets.errors import BadFileError, BadOptionError
from datasets.summaries.runs import Assumed, empty_runs, find_runs

from .logged_runs import write_log

ROWS = [(0.0, "arrival", "k", 0), (1.0, "dequeue", "k", 0)]
DESCRIBED = {"policy": "index", "seed": 1}


def test_runs_are_found_below_a_folder_each_once_and_in_order(tmp_path: Path) -> None:
    write_log(tmp_path / "b", ROWS, described=DESCRIBED, per_file=1)
    write_log(tmp_path / "a" / "deep", ROWS, file_format="csv")
    (tmp_path / "b" / ".events-000009.parquet.unfinished").write_text("not yet")
    (tmp_path / "notes.txt").write_text("nothing of ours")
    runs = find_runs([tmp_path, tmp_path / "b"], Assumed())
    assert [(run.number, run.folder.name, run.files[0].suffix) for run in runs] == [
        (0, "deep", ".csv"),
        (1, "b", ".parquet"),
    ]
    assert [path.name for path in runs[1].files] == [
        "events-000000.parquet",
        "events-000001.parquet",
    ]
    assert [run.described.is_assumed for run in runs] == [True, False]
    assert [run.described.name for run in runs] == ["deep", "index"]


def test_runs_without_events_are_left_out_and_can_be_told(tmp_path: Path) -> None:
    write_log(tmp_path / "one", ROWS, described=DESCRIBED)
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "run.json").write_text("{}")
    assert [run.folder.name for run in find_runs([tmp_path], Assumed())] == ["one"]
    assert empty_runs([tmp_path, tmp_path / "missing"]) == [tmp_path / "none"]


def test_a_single_file_is_a_run_without_a_description(tmp_path: Path) -> None:
    folder = write_log(tmp_path / "log", ROWS, file_format="csv", described=DESCRIBED)
    [run] = find_runs([folder / "events-000000.csv"], Assumed(policy="fifo", end=9.0))
    assert run.described.is_assumed
    assert (run.described.name, run.described.policy, run.described.end) == ("fifo", "fifo", 9.0)


def test_options_for_runs_without_a_description_are_refused_where_there_are_none(
    tmp_path: Path,
) -> None:
    folder = write_log(tmp_path / "log", ROWS, described=DESCRIBED)
    with pytest.raises(BadOptionError, match="--end"):
        find_runs([folder], Assumed(end=3.0))
    with pytest.raises(BadOptionError, match="--policy"):
        find_runs([folder], Assumed(policy="x"))


def test_other_files_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "described").mkdir()
    (tmp_path / "described" / "run.json").write_text("{}")
    both = write_log(tmp_path / "both", ROWS)
    (both / "events-1.csv").write_text("event,time,kind,key,number\n")
    for name, reason in {
        "empty": "not an event log",
        "missing": "no such file or folder",
        "notes.txt": "not a file of events",
        "described": "has no files of events",
        "both": "as both CSV and Parquet",
    }.items():
        with pytest.raises(BadFileError, match=reason) as error:
            find_runs([tmp_path / name], Assumed())
        assert str(tmp_path / name) in str(error.value)
