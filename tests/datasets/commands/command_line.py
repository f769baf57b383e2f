"""Call commands as a user does, on the Spark session of the tests, and look at what they write."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner, Result

from datasets.cli import app

FAILED = 1
USAGE_ERROR = 2


def invoke(*words: object) -> Result:
    """Call `python -m datasets` with these words."""
    # Wide, as an error in a box is cut into lines otherwise.
    environment = {"COLUMNS": "300", "NO_COLOR": "1"}
    return CliRunner().invoke(app, [str(word) for word in words], env=environment)


def assert_refused(result: Result, *words: str, status: int = USAGE_ERROR) -> None:
    """Check that a command ended with this status, with these words, and without a traceback."""
    assert result.exit_code == status, result.output
    output = " ".join(result.stderr.replace("│", " ").split())
    for word in words:
        assert word in output
    assert "Traceback" not in result.output


def generate(out: Path, *words: object) -> Path:
    """Generate a stream that must succeed, and return its folder."""
    result = invoke(*words, "--out", out)
    assert result.exit_code == 0, result.output
    return out


def table_of(folder: Path) -> pa.Table:
    """Return the rows of a folder, file after file in the order of their names."""
    return pa.concat_tables(pq.read_table(path) for path in data_files(folder))


def data_files(folder: Path) -> list[Path]:
    """Return the files with data."""
    return sorted(folder.glob("*.parquet"))


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return all that is in a folder, by the names of the files."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
