"""Files are written, renamed and removed, and kept names can be seen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from upstream.disk import Disk


def test_a_file_is_written_read_renamed_and_removed(tmp_path: Path) -> None:
    disk, folder = Disk(), tmp_path / "a" / "b"
    disk.make_folder(folder)
    disk.make_folder(folder)
    one, other = folder / "one", folder / "other"
    disk.write(one, b"12345")
    disk.write(one, memoryview(b"67"))
    disk.write(other, b"old")
    disk.sync(one)
    assert disk.names(folder) == ["one", "other"]
    disk.rename(one, other)
    disk.sync_names(folder)
    assert (disk.names(folder), disk.read(other)) == (["other"], b"67")
    assert (disk.exists(one), disk.exists(other)) == (False, True)
    disk.remove(other)
    disk.remove(other)
    assert disk.names(folder) == []


def test_a_file_that_cannot_be_synced_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened = tmp_path / "a", []

    def full(file: int) -> None:
        opened.append(file)
        raise OSError(28, "No space left on device")

    Disk().write(path, b"1")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Disk().sync(path)
    with pytest.raises(OSError, match="No space left"):
        Disk().sync_names(tmp_path)
    assert len(opened) == 2
    for file in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(file)


def test_a_file_is_locked_by_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = Disk().lock(path)
    assert lock is not None
    assert Disk().lock(path) is None
    lock.release()
    lock.release()
    again = Disk().lock(path)
    assert again is not None
    del again  # as an owner that is forgotten
    assert Disk().lock(path) is not None
