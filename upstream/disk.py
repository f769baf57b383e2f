"""What the library does with files of its own: each step by itself, so that each can fail alone.

Code that keeps files takes a `Disk`, as code that needs the time takes a `Clock`. So tests can let
any step fail, or stop in the middle of one.
"""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]


class Disk:
    """The files of this machine.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Disk().write(Path(folder) / "a", b"1")
    ...     Disk().names(Path(folder))
    ['a']
    """

    __slots__ = ()

    def make_folder(self, folder: Path) -> None:
        """Create a folder, with those around it, unless it exists."""
        folder.mkdir(parents=True, exist_ok=True)

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder, sorted."""
        return sorted(each.name for each in folder.iterdir())

    def exists(self, path: Path) -> bool:
        """Tell whether there is a file."""
        return path.exists()

    def read(self, path: Path) -> bytes:
        """Return the content of a file."""
        return path.read_bytes()

    def write(self, path: Path, content: bytes | memoryview) -> None:
        """Write a file, in place of an older one. A crash of the machine may still lose it."""
        path.write_bytes(content)

    def sync(self, path: Path) -> None:
        """Let the content of a file survive a crash of the machine."""
        _sync(path, os.O_RDWR)

    def sync_names(self, folder: Path) -> None:
        """Let the names in a folder survive a crash of the machine, if the system can do that."""
        if hasattr(os, "O_DIRECTORY"):
            _sync(folder, os.O_RDONLY | os.O_DIRECTORY)

    def rename(self, path: Path, new: Path) -> None:
        """Give a file another name, at once; a file of that name is replaced."""
        path.replace(new)

    def lock(self, path: Path) -> Lock | None:
        """Lock a file, which is created if need be; return None if another lock has it.

        The system releases the lock if the process ends. Systems without such locks lock nothing.
        """
        opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            is_free = _is_locked_now(opened)
        except BaseException:
            os.close(opened)
            raise
        if not is_free:
            os.close(opened)
            return None
        return Lock(opened)

    def remove(self, path: Path) -> None:
        """Remove a file, if it exists."""
        path.unlink(missing_ok=True)


class Lock:
    """The lock of a file, until it is released."""

    __slots__ = ("_opened",)

    def __init__(self, opened: int) -> None:
        self._opened: int | None = opened

    def release(self) -> None:
        """Let others lock the file."""
        opened, self._opened = self._opened, None
        if opened is not None:
            os.close(opened)

    def __del__(self) -> None:
        """Release it if its owner was forgotten."""
        self.release()


def _is_locked_now(opened: int) -> bool:
    """Lock an open file; tell whether it was free."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sync(path: Path, flags: int) -> None:
    opened = os.open(path, flags)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
