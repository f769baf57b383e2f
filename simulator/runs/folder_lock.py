"""One run at a time in a folder: two of them would write over one another's files."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import FolderInUseError

FILE_NAME = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder if there is none, and hold it; FolderInUseError if another run does.

    The system lets go of the lock when the process ends, however it ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FILE_NAME).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUseError(folder) from None
        yield
