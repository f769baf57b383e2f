"""The stream to look at: files of Parquet or CSV, read as columns `time` in seconds and `key`."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from ..errors import BadFileError
from ..spark.paths import path_to_read
from .times import TimeColumn, as_seconds, is_of_nanoseconds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ENDINGS: Final = {".parquet": "parquet", ".csv": "csv", ".csv.gz": "csv"}
NANOSECONDS_AS_NUMBERS: Final = "spark.sql.legacy.parquet.nanosAsLong"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a stream is, and what its columns are called."""

    path: Path
    time: TimeColumn
    key: str
    files: tuple[Path, ...]
    kind: str

    @classmethod
    def find(cls, path: Path, *, time: TimeColumn, key: str) -> Source:
        """Look which files there are, and whether they have the columns; BadFileError if not."""
        files = _files(path)
        kinds = {_kind(file) for file in files}
        if len(kinds) > 1:
            raise BadFileError(path, "there are both Parquet and CSV files in it; name one kind")
        source = cls(path, time, key, files, kinds.pop())
        source._check_columns()
        return source

    def read(self, session: SparkSession) -> DataFrame:
        """Return `time`, `key`, and `file` and `block`, which say from where a row is.

        BadFileError names the first row that has no time or no key.
        """
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        paths = [path_to_read(file) for file in self.files]
        if self.kind == "csv":
            # One line is one row, or blocks of a file could not be read side by side.
            frame = session.read.csv(paths, header=True, escape='"', mode="PERMISSIVE")
            is_nanoseconds = False
        else:
            session.conf.set(NANOSECONDS_AS_NUMBERS, "true")
            frame = session.read.parquet(*paths)
            is_nanoseconds = is_of_nanoseconds(self.files[0], self.time.name)
        rows = frame.select(
            as_seconds(frame, self.time, is_nanoseconds=is_nanoseconds).alias("time"),
            F.col(quoted(self.key)).alias("key"),
            F.col(quoted(self.time.name)).cast("string").alias("text"),
            F.col("_metadata.file_path").alias("path"),
            F.xxhash64("_metadata.file_path").alias("file"),
            F.col("_metadata.file_block_start").alias("block"),
        )
        self._check_rows(rows)
        return rows.select("time", "key", "file", "block")

    def _check_columns(self) -> None:
        """Raise BadFileError unless each file has both columns."""
        for file in self.files:
            names = _csv_header(file) if self.kind == "csv" else _parquet_names(file)
            for option, name in (("--time", self.time.name), ("--key", self.key)):
                if name not in names:
                    known = ", ".join(names)
                    reason = f"there is no column {name}, but {known}; name it by {option}"
                    raise BadFileError(file, reason, line=1 if self.kind == "csv" else None)

    def _check_rows(self, rows: DataFrame) -> None:
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        is_bad = F.col("time").isNull() | F.isnan("time") | F.col("key").isNull()
        is_bad |= F.abs("time") == float("inf")
        bad = rows.where(is_bad).select("path", "text", F.col("key").isNull().alias("no_key"))
        row = bad.first()
        if row is None:
            return
        file = next((each for each in self.files if each.name == _name(row["path"])), self.path)
        text = row["text"]
        if text is None:
            reason = "a row has no time"
        elif row["no_key"]:
            reason = f"the row of time {text} has no key"
        else:
            reason = f"time {text!r} is not a number, nor a time of the kind of the first row"
        raise BadFileError(file, reason, line=self._line_of(file, text))

    def _line_of(self, file: Path, text: str | None) -> int | None:
        """Return the first line of a CSV file that has this time, or none."""
        if self.kind != "csv" or (file == self.path and not file.is_file()):
            return None
        with _opened(file) as lines:
            reader = csv.reader(lines)
            header = next(reader)
            place = header.index(self.time.name)
            for row in reader:
                if (row[place].strip() if place < len(row) else "") == (text or "").strip():
                    return reader.line_num
        return None


def quoted(name: str) -> str:
    """Return a column's name as Spark takes any name."""
    return f"`{name.replace('`', '``')}`"


def _files(path: Path) -> tuple[Path, ...]:
    if not path.exists():
        raise BadFileError(path, "there is no such file")
    files = tuple(_files_below(path)) if path.is_dir() else (path,)
    if not files:
        raise BadFileError(path, "there are no files in this folder")
    return files


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and its folders; a leading dot or underscore means no data."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            yield from _files_below(path)
        else:
            yield path


def _kind(file: Path) -> str:
    for ending, kind in ENDINGS.items():
        if file.name.lower().endswith(ending):
            return kind
    raise BadFileError(file, f"its name ends in none of {', '.join(ENDINGS)}")


def _parquet_names(file: Path) -> Sequence[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return [str(name) for name in pq.read_schema(file).names]
    except (pa.ArrowException, OSError) as error:
        raise BadFileError(file, "it is no Parquet file") from error


def _csv_header(file: Path) -> Sequence[str]:
    try:
        with _opened(file) as lines:
            return next(csv.reader(lines), [])
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError, csv.Error) as error:
        raise BadFileError(file, f"it cannot be read as CSV: {error}", line=1) from error


def _opened(file: Path) -> IO[str]:
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _name(url: str) -> str:
    from urllib.parse import unquote

    return unquote(url.rpartition("/")[2])
