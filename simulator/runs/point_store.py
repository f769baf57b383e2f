"""The rows of the points that are measured so far, in a file, so that a run can be resumed.

One line of JSON for each point, which also tells what the point belongs to. A line that was cut off
when a run was killed is ignored, and its point is measured again.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType

from ..experiments.experiment import Row, Table


class PointStore:
    """Rows by the number of their point; what is stored of other code or points is dropped."""

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
