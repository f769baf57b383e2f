"""The files of all runs as one Spark frame, after a look at each file's header.

If a Parquet file lacks a column, Spark reads the column as empty; and it reads a CSV file by the
positions of its columns. So names and types are checked first, file by file. One scan reads all
files with the same columns, and a small table maps the path of a file to its run. A scan for each
run would be compiled run by run, which takes longer than reading most of them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import reduce
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from upstream.events import COLUMNS as ARROW_TYPES
from upstream.events import EventKind

from ..errors import BadFileError
from ..spark.paths import path_to_read, plain_path
from .runs import Run

KINDS: Final = tuple(kind.value for kind in EventKind)
COLUMNS: Final = {name: "bigint" if kind == "int64" else kind for name, kind in ARROW_TYPES.items()}
"""The columns of events that are read, with their types by Spark's names."""


def read_events(session: SparkSession, runs: Iterable[Run]) -> DataFrame:
    """Return the events of all runs, as `COLUMNS` and `run`, in any order and unchecked."""
    alike: dict[tuple[str, tuple[str, ...]], dict[Path, int]] = {}
    for run in runs:
        for path in run.files:
            names = check_header(path)
            alike.setdefault((path.suffix, names), {})[plain_path(path)] = run.number
    frames = [_read(session, *how, of) for how, of in alike.items()]
    return reduce(lambda one, other: one.union(other), frames)


def _read(
    session: SparkSession, suffix: str, names: tuple[str, ...], run_of: dict[Path, int]
) -> DataFrame:
    paths = [path_to_read(path) for path in run_of]
    if suffix == ".csv":
        frame = session.read.csv(
            paths, schema=_schema(names), header=True, escape='"', mode="PERMISSIVE"
        )
    else:
        frame = session.read.schema(_schema(tuple(COLUMNS))).parquet(*paths)
    own = [path.replace("file:///", "file:/", 1) for path in frame.inputFiles()]  # as in rows
    rows = [(path, run_of[Path(unquote(path.removeprefix("file:")))]) for path in own]
    numbers = pa.array([number for _, number in rows], pa.int32())
    # As Arrow data: Spark starts Python workers, which takes a second, to read a list.
    runs = F.broadcast(
        session.createDataFrame(pa.table({"path": [path for path, _ in rows], "run": numbers}))
    )
    events = frame.select(*COLUMNS, F.col("_metadata.file_path").alias("path"))
    return events.join(runs, "path").select(*COLUMNS, "run")


def check_header(path: Path) -> tuple[str, ...]:
    """Return the names of a file's columns; BadFileError if one that is read is missing."""
    names = csv_header(path) if path.suffix == ".csv" else _parquet_names(path)
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        found = ", ".join(names) or "none"
        line = 1 if path.suffix == ".csv" else None
        raise BadFileError(path, f"there is no column {missing[0]}; it has {found}", line=line)
    return names


def csv_header(path: Path) -> tuple[str, ...]:
    """Return the first line of a CSV file as names."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return tuple(next(csv.reader(file), ()))
    except UnicodeDecodeError as error:
        raise BadFileError(path, "is not text in UTF-8", line=1) from error


def _parquet_names(path: Path) -> tuple[str, ...]:
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise BadFileError(path, f"is not a complete Parquet file: {reason}") from error
    for name, kind in ARROW_TYPES.items():
        if name in schema.names and str(schema.field(name).type) != kind:
            found = schema.field(name).type
            reason = f"the column {name} is {found}, and should be {kind}"
            raise BadFileError(path, reason)
    return tuple(schema.names)


def _schema(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}` {COLUMNS.get(name, 'string')}" for name in names)
