"""Points that are stored to resume a run: which of them are used, and one run at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from simulator.errors import FolderInUseError
from simulator.experiments.experiment import Row, Scale
from simulator.runs.point_store import PointStore, fingerprint, locked

from .coin_experiment import Coins

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
def test_lines_that_are_not_rows_of_this_code_are_ignored(text: str, tmp_path: Path) -> None:
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


def test_it_is_the_same_for_the_same() -> None:
    assert fingerprint(Coins().experiment, Scale()) == fingerprint(Coins().experiment, Scale())


def test_it_differs_by_experiment_seed_and_scale() -> None:
    marks = {
        fingerprint(Coins(name).experiment, scale)
        for name in ("9", "14")
        for scale in (Scale(), Scale(seed=2), Scale(is_quick=True))
    }
    assert len(marks) == 6


ROOT = Path(__file__).resolve().parents[3]
HOLD = """
import sys
from pathlib import Path
from simulator.runs.point_store import locked

with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_folder_is_made_and_held(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    with locked(folder), pytest.raises(FolderInUseError, match="another run"), locked(folder):
        pass
    with locked(folder):
        assert folder.is_dir()


def test_folders_are_held_each_for_itself(tmp_path: Path) -> None:
    with locked(tmp_path / "one"), locked(tmp_path / "two"):
        pass


def test_a_process_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(FolderInUseError), locked(tmp_path):
            pass
        holder.kill()
        holder.wait()
        with locked(tmp_path):
            pass
