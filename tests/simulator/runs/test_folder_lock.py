"""One run at a time in a folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from simulator.errors import FolderInUseError
from simulator.runs.folder_lock import locked

ROOT = Path(__file__).resolve().parents[3]
HOLD = """
import sys
from pathlib import Path
from simulator.runs.folder_lock import locked

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
