"""A folder of output: written under a temporary name beside its place, and renamed at the end.

So nobody ever sees one that is half-written, and a job that fails leaves nothing behind.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import BadFileError, FolderExistsError


@contextmanager
def output_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder to write to, which becomes `target` when the body ends well.

    FolderExistsError, before anything is written, if there is something at `target`.

    >>> with tempfile.TemporaryDirectory() as place:
    ...     with output_folder(Path(place) / "day") as folder:
    ...         _ = (folder / "prices.csv").write_text("time,key,value")
    ...     [path.name for path in (Path(place) / "day").iterdir()]
    ['prices.csv']
    """
    target = target.absolute()
    _check_free(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise BadFileError(target, f"cannot be written: {error.strerror}") from error
    try:
        yield folder
        folder.chmod(0o755)
        _check_free(target)
        folder.rename(target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _check_free(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise FolderExistsError(target)
