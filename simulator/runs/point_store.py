"""The rows of the points that are measured so far, in a file, so that a run can be resumed.

One line of JSON for each point, after a first line that tells what the points belong to. A line
that was cut off when a run was killed is ignored, and its point is measured again.
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
        self.rows: dict[int, list[Row]] = _read(path, fingerprint)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"fingerprint": fingerprint})]
        lines += [_line(number, rows) for number, rows in sorted(self.rows.items())]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._file = path.open("a", encoding="utf-8")

    def add(self, number: int, rows: Table) -> None:
        """Store the rows of a point, at once."""
        self.rows[number] = list(rows)
        self._file.write(_line(number, rows) + "\n")
        self._file.flush()

    def remove(self) -> None:
        """Delete the file, when the table is written."""
        self._file.close()
        self._path.unlink()
        if not any(self._path.parent.iterdir()):
            self._path.parent.rmdir()

    def __enter__(self) -> PointStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()


def _line(number: int, rows: Table) -> str:
    return json.dumps({"point": number, "rows": [dict(row) for row in rows]})


def _read(path: Path, fingerprint: str) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    if not path.exists():
        return found
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines()):
        try:
            stored = json.loads(line)
        except ValueError:
            continue
        if number == 0 and stored != {"fingerprint": fingerprint}:
            return {}
        if "point" in stored:
            found[stored["point"]] = stored["rows"]
    return found
