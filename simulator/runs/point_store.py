"""The rows of the points that are measured so far, in a file, so that a run can be resumed.

Each point is one line of JSON, with a fingerprint of the code and the points that it belongs to, so
that a resumed run mixes nothing. A line that was cut off when a run was killed is ignored, and its
point is measured again. Only one run at a time may write to a folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Final

import upstream

from ..errors import FolderInUseError
from ..experiments.experiment import Experiment, Row, Scale, Table


class PointStore:
    """Rows by the number of their point; rows of other code or other points are removed."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path = path
        self._fingerprint = fingerprint
        self.rows: dict[int, list[Row]] = _read(path, fingerprint)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w", encoding="utf-8")
        for number, rows in sorted(self.rows.items()):
            self._write(number, rows)

    def add(self, number: int, rows: Table) -> None:
        """Store the rows of a point, at once."""
        self.rows[number] = list(rows)
        self._write(number, rows)

    def remove(self) -> None:
        """Delete the file, when the table is written."""
        self._file.close()
        self._path.unlink()
        if not any(self._path.parent.iterdir()):
            self._path.parent.rmdir()

    def _write(self, number: int, rows: Table) -> None:
        cells = [dict(row) for row in rows]
        line = {"fingerprint": self._fingerprint, "point": number, "rows": cells}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def __enter__(self) -> PointStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()


def _read(path: Path, fingerprint: str) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            stored = json.loads(line)
        except ValueError:
            continue
        if isinstance(stored, dict) and stored.get("fingerprint") == fingerprint:
            found[stored["point"]] = stored["rows"]
    return found


_PACKAGES: Final = (Path(upstream.__file__).parent, Path(__file__).parents[1])


def fingerprint(experiment: Experiment, scale: Scale) -> str:
    """Return a digest of the experiment's points, the scale, and all code that measures."""
    points = [dict(point) for point in experiment.points(scale)]
    text = json.dumps([experiment.name, scale.seed, scale.is_quick, points])
    return hashlib.sha256((text + digest_of_code()).encode()).hexdigest()[:16]


@cache
def digest_of_code() -> str:
    """Return a digest of the code and of its dependencies, as they were at the first call."""
    versions = [sys.version, *(version(name) for name in ("numpy", "simpy"))]
    digest = hashlib.sha256(json.dumps(versions).encode())
    for package in _PACKAGES:
        for path in sorted(package.rglob("*.py")):
            digest.update(str(path.relative_to(package)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


FILE_NAME = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder if it does not exist, and lock it; FolderInUseError if another run has it.

    The system releases the lock when the process ends, however it ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FILE_NAME).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUseError(folder) from None
        yield
