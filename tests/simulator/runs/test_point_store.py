"""Rows of points in a file: kept over a stop, dropped when they are of something else."""

from __future__ import annotations

from pathlib import Path

from simulator.experiments.experiment import Row
from simulator.runs.point_store import PointStore

ROWS: list[Row] = [{"policy": "index", "load": 5, "staleness": 0.1}]


def test_stored_rows_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "x.jsonl"
    with PointStore(path, "code") as store:
        store.add(3, ROWS)
        store.add(1, [])
    with PointStore(path, "code") as again:
        assert again.rows == {1: [], 3: ROWS}


def test_rows_of_other_code_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with PointStore(path, "code") as store:
        store.add(3, ROWS)
    with PointStore(path, "other code") as other:
        assert other.rows == {}
    with PointStore(path, "code") as again:
        assert again.rows == {}


def test_a_line_that_was_cut_off_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with PointStore(path, "code") as store:
        store.add(1, ROWS)
        store.add(2, ROWS)
    path.write_text(path.read_text()[:-20])
    with PointStore(path, "code") as again:
        assert again.rows == {1: ROWS}
        again.add(2, ROWS)
    with PointStore(path, "code") as whole:
        assert whole.rows == {1: ROWS, 2: ROWS}


def test_an_empty_file_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.touch()
    with PointStore(path, "code") as store:
        assert store.rows == {}


def test_it_removes_its_file_and_an_empty_folder(tmp_path: Path) -> None:
    one, two = (PointStore(tmp_path / "folder" / name, "code") for name in ("one", "two"))
    one.remove()
    assert (tmp_path / "folder").exists()
    two.remove()
    assert not (tmp_path / "folder").exists()
