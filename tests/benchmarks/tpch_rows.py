"""The rows of TPC-H at a scale, made by tpchgen-cli and kept for the process."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pyarrow.parquet as pq


@cache
def folder_of(scale: float) -> Path:
    """Return a folder with a Parquet file for each relation. Scale 1 takes some seconds."""
    folder = Path(mkdtemp(prefix="tpch-"))
    made = [str(Path(sys.executable).parent / "tpchgen-cli"), "parquet", "-s", f"{scale:g}"]
    subprocess.run([*made, "-o", str(folder)], check=True, capture_output=True)
    return folder


def rows_of(relation: str, scale: float) -> pa.Table:
    """Return the rows of a relation; texts are plain strings."""
    table = pq.read_table(folder_of(scale) / f"{relation}.parquet")
    fields = [
        field.with_type(pa.string()) if "string" in str(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def batches_of(rows: pa.Table, size: int) -> list[pa.Table]:
    """Return rows in batches, each in one piece."""
    return [rows.slice(i, size).combine_chunks() for i in range(0, rows.num_rows, size)]
