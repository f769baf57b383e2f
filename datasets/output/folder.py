"""A folder of output: written under a temporary name beside its place, and renamed at the end.

So a folder is never visible while it is incomplete, and a failed job leaves nothing behind.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ..errors import BadFileError, FolderExistsError

REMOVAL_TRIES: Final = 25
REMOVAL_PAUSE_SECONDS: Final = 0.2
"""A Spark job that was cancelled may write for a moment yet, into what is being removed."""
NAME_SHOWN: Final = 50
"""How much of the name the temporary one has; file systems bound the length of names."""


@contextmanager
def output_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder to write to, which becomes `target` when the body ends well.

    Raises FolderExistsError before anything is written if `target` exists.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with output_folder(Path(place) / "day") as folder:
    ...         _ = (folder / "prices.csv").write_text("time,key,value")
    ...     [path.name for path in (Path(place) / "day").iterdir()]
    ['prices.csv']
    """
    target = target.absolute()
    folder = target.with_name(f".{target.name[:NAME_SHOWN]}.{secrets.token_hex(4)}")
    made: list[Path] = []
    try:
        _check_free(target)
        _make_parents(target, made)
        folder.mkdir()  # with the permissions that the user's umask gives
    except FolderExistsError:
        raise
    except OSError as error:
        _remove_empty(made)
        raise BadFileError(target, f"cannot be written: {error.strerror}") from error
    try:
        yield folder
        _check_free(target)
        folder.rename(target)
    except BaseException:
        _remove(folder)
        _remove_empty(made)
        raise


def _check_free(target: Path) -> None:
    if target.is_symlink() or target.exists():
        raise FolderExistsError(target)


def _make_parents(target: Path, made: list[Path]) -> None:
    """Make the folders above the target that there are not yet, and list them from the top."""
    missing = [parent for parent in target.parents if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(exist_ok=True)
        made.append(parent)


def _remove(folder: Path) -> None:
    """Remove a folder, again if it has come back after a pause."""
    for _ in range(REMOVAL_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(REMOVAL_PAUSE_SECONDS)
        if not folder.exists():
            break


def _remove_empty(made: list[Path]) -> None:
    for parent in reversed(made):
        try:
            parent.rmdir()
        except OSError:  # another process has written to it
            break
