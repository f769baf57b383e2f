"""Folders that appear complete or not at all, whatever happens while they are written."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from datasets.errors import BadFileError, FolderExistsError
from datasets.output.folder import output_folder


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_folder_is_not_there_until_it_is_complete(tmp_path: Path) -> None:
    with output_folder(tmp_path / "day") as folder:
        (folder / "a").write_text("1")
        assert not (tmp_path / "day").exists()
    assert entries(tmp_path) == ["day"]
    assert (tmp_path / "day" / "a").read_text() == "1"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_job_that_fails_leaves_nothing_behind_not_even_parents(
    tmp_path: Path, error: type[BaseException]
) -> None:
    def write() -> None:
        with output_folder(tmp_path / "new" / "newer" / "day") as folder:
            (folder / "deep").mkdir()
            (folder / "deep" / "a").write_text("1")
            raise error

    with pytest.raises(error):
        write()
    assert entries(tmp_path) == []


def test_a_parent_that_others_use_meanwhile_stays(tmp_path: Path) -> None:
    def write() -> None:
        with output_folder(tmp_path / "new" / "day"):
            (tmp_path / "new" / "theirs").write_text("1")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        write()
    assert entries(tmp_path / "new") == ["theirs"]


@pytest.mark.parametrize("kind", ["folder", "file", "link to nothing"])
def test_an_existing_target_is_refused_and_kept(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "day"
    if kind == "folder":
        target.mkdir()
    elif kind == "file":
        target.write_text("mine")
    else:
        target.symlink_to("nowhere")
    with pytest.raises(FolderExistsError, match="day already exists"), output_folder(target):
        raise AssertionError("the body must not run")
    assert entries(tmp_path) == ["day"]


def test_a_folder_that_appears_while_the_job_runs_is_kept(tmp_path: Path) -> None:
    def write() -> None:
        with output_folder(tmp_path / "day") as folder:
            (folder / "a").write_text("ours")
            (tmp_path / "day").mkdir()
            (tmp_path / "day" / "a").write_text("theirs")

    with pytest.raises(FolderExistsError):
        write()
    assert entries(tmp_path) == ["day"]
    assert (tmp_path / "day" / "a").read_text() == "theirs"


def test_a_parent_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    target = tmp_path / "file" / "day"
    with pytest.raises(BadFileError, match="day: cannot be written: "), output_folder(target):
        raise AssertionError("the body must not run")


def test_a_name_too_long_is_refused_and_the_parents_made_for_it_are_gone(tmp_path: Path) -> None:
    target = tmp_path / "new" / ("x" * 300)
    with (
        pytest.raises((BadFileError, OSError), match="name too long"),
        output_folder(target) as folder,
    ):
        folder.rename(target)
    assert entries(tmp_path) == []


def test_a_name_as_long_as_names_may_be_is_taken(tmp_path: Path) -> None:
    with output_folder(tmp_path / ("x" * 255)):
        pass
    assert entries(tmp_path) == ["x" * 255]


def test_a_relative_path_goes_below_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with output_folder(Path("days") / ".." / "day") as folder:
        assert folder.is_absolute()
    assert "day" in entries(tmp_path)


def test_a_parent_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with output_folder(tmp_path / "link" / "day"):
        pass
    assert entries(tmp_path / "real") == ["day"]


def test_the_permissions_are_those_that_the_user_gives_to_folders(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with output_folder(tmp_path / "day"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "day").stat().st_mode) == 0o750


def test_a_task_that_writes_for_a_moment_yet_leaves_nothing_behind(tmp_path: Path) -> None:
    until = time.monotonic() + 0.5

    def write_on(folder: Path) -> None:
        while time.monotonic() < until:
            try:
                (folder / "deep").mkdir(parents=True, exist_ok=True)
                (folder / "deep" / "part").write_text("1")
            except OSError:
                pass

    writers: list[threading.Thread] = []

    def fail() -> None:
        with output_folder(tmp_path / "day") as folder:
            writers.append(threading.Thread(target=write_on, args=(folder,)))
            writers[0].start()
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    writers[0].join()
    assert entries(tmp_path) == []
