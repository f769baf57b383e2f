"""Rows of points in a file: kept over a stop, dropped when they are of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize("text", ["", "\0\0\n", "7\n", "[]\n", "{}\n", '{"point": 1}\n', "é"])
def test_what_is_no_row_of_this_code_is_ignored(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with PointStore(path, "code") as store:
        store.add(2, ROWS)
    path.write_bytes(text.encode("latin-1") + path.read_bytes())
    with PointStore(path, "code") as again:
        assert again.rows in ({2: ROWS}, {})  # what follows half a line is lost with it
    path.write_text(text)
    with PointStore(path, "code") as empty:
        assert empty.rows == {}


def test_rows_of_two_codes_in_one_file_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with PointStore(path, "code") as store, PointStore(path, "other code") as other:
        store.add(1, ROWS)
        other.add(2, ROWS)
    with PointStore(path, "code") as again:
        assert 2 not in again.rows


def test_it_removes_its_file_and_an_empty_folder(tmp_path: Path) -> None:
    one, two = (PointStore(tmp_path / "folder" / name, "code") for name in ("one", "two"))
    one.remove()
    assert (tmp_path / "folder").exists()
    two.remove()
    assert not (tmp_path / "folder").exists()
