"""A trace on disk: Parquet files with `time, key, value…`, in order of time by their names.

The frame that is written has its rows in order of time already, partition after partition. Each
partition becomes a file, or several of at most `ROWS_PER_FILE`, so that a replay reads one after
the other. Their names number them and do not depend on how the frame was partitioned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..errors import BadFileError
from ..spark.paths import path_to_read
from .card import Column, Skew, Trace

ROWS_PER_FILE: Final = 1 << 20

_PART: Final = re.compile(r"part-(\d+)-[0-9a-f-]+-c(\d+)\.snappy\.parquet")


def write_trace(frame: DataFrame, folder: Path) -> None:
    """Write a frame whose rows are in order of time, partition after partition, into a folder."""
    assert frame.columns[:2] == ["time", "key"], "the columns of a trace are time, key, value…"
    assert frame.columns[2:], "the service takes no updates without values"
    files = folder / ".files"
    writer = frame.write.option("maxRecordsPerFile", ROWS_PER_FILE)
    writer.option("compression", "snappy").parquet(str(files))
    for number, path in enumerate(sorted(files.glob("part-*.parquet"), key=_place)):
        path.rename(folder / f"part-{number:05d}.snappy.parquet")
    for path in files.iterdir():
        path.unlink()
    files.rmdir()


def measure_trace(
    session: SparkSession, folder: Path, meanings: Mapping[str, str] | None = None
) -> Trace:
    """Read a folder of updates and measure its content; BadFileError if it is empty."""
    frame = session.read.parquet(path_to_read(folder))
    by_key = frame.groupBy("key").agg(
        F.count("*").alias("updates"), F.min("time").alias("first"), F.max("time").alias("last")
    )
    # By their updates, as keys can be too many for the driver; of numbers of updates there are few.
    alike = by_key.groupBy("updates").agg(
        F.count("*").alias("keys"), F.min("key"), F.min("first"), F.max("last")
    )
    rows = sorted(alike.collect(), reverse=True)
    if not rows:
        raise BadFileError(folder, "there are no updates in it")
    counts = [(int(updates), int(keys)) for updates, keys, *_ in rows]
    updates = sum(updates * keys for updates, keys in counts)
    keys = sum(keys for _, keys in counts)
    said = meanings or {}
    kinds = ((field.name, field.dataType.simpleString()) for field in frame.schema)
    return Trace(
        updates=updates,
        keys=keys,
        first_time=float(min(row[3] for row in rows)),
        last_time=float(max(row[4] for row in rows)),
        columns=tuple(Column(name, kind, said.get(name, "")) for name, kind in kinds),
        skew=Skew(
            busiest_key=str(rows[0][2]),
            busiest_updates=counts[0][0],
            slowest_updates=counts[-1][0],
            share_of_busiest_1_percent=_of_busiest(counts, -(-keys // 100)) / updates,
            share_of_busiest_10_percent=_of_busiest(counts, -(-keys // 10)) / updates,
        ),
    )


def _place(path: Path) -> tuple[int, int]:
    """Return the partition of a file, and the place of the file in it."""
    found = _PART.fullmatch(path.name)
    assert found is not None, path.name
    return int(found[1]), int(found[2])


def _of_busiest(counts: list[tuple[int, int]], busiest: int) -> int:
    """Return the updates of the busiest keys, from how many keys have how many, descending."""
    found = 0
    for updates, keys in counts:
        taken = min(keys, busiest)
        found += taken * updates
        busiest -= taken
    return found
