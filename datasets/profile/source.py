"""The stream to look at: files of Parquet or CSV, read as columns `time` in seconds and `key`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..errors import BadFileError, JobFailedError
from ..output.card import Cell
from ..spark.failure import failures_named, gzip_fault
from ..spark.paths import path_to_read
from .csv_lines import csv_header, encoding_fault, line_with
from .times import TimeColumn, as_seconds, is_of_nanoseconds, kind_of_times

ENDINGS: Final = {".parquet": "parquet", ".csv": "csv", ".csv.gz": "csv"}
NANOSECONDS_AS_NUMBERS: Final = "spark.sql.legacy.parquet.nanosAsLong"
REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class StreamRows:
    """The rows of a stream, and how far they go."""

    frame: DataFrame
    """`time` in seconds, `key`, and `file` and `block`, which say from where a row is."""
    updates: int
    first_time: float
    """Not a number where there are no updates."""
    last_time: float

    @classmethod
    def counted(cls, frame: DataFrame, totals: Row) -> StreamRows:
        """Return the rows of a frame that have been counted."""
        first, last = totals["first"], totals["last"]
        return cls(
            frame, totals["updates"], nan if first is None else first, nan if last is None else last
        )


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
            raise BadFileError(path, "the folder has both Parquet and CSV files; give one kind")
        source = cls(path, time, key, files, kinds.pop())
        source._check_columns()
        return source

    @property
    def bytes(self) -> int:
        """How large the files are; a file that is compressed counts as ten times its size."""
        return sum(
            file.stat().st_size * (10 if file.suffix.lower() == ".gz" else 1) for file in self.files
        )

    def parameters(self) -> dict[str, Cell]:
        """Return what a data card says of the files that were read."""
        return {
            "path": str(self.path),
            "files": len(self.files),
            "format": self.kind,
            "time": self.time.name,
            "time-unit": self.time.unit,
            "key": self.key,
        }

    @contextmanager
    def read(self, session: SparkSession) -> Iterator[StreamRows]:
        """Read, check and count the rows; they are for the body only.

        BadFileError names the first row that has no time or no key, and a file that is broken.
        """
        is_nanoseconds = self.kind == "parquet" and is_of_nanoseconds(self.files[0], self.time.name)
        settings = {NANOSECONDS_AS_NUMBERS: "true"} if is_nanoseconds else {}
        with _set_for_now(session, settings), self._broken_files_named():
            frame = self._frame(session)
            rows = frame.select(
                as_seconds(frame, self.time, is_nanoseconds=is_nanoseconds).alias("time"),
                F.col(quoted(self.key)).alias("key"),
                F.col(quoted(self.time.name)).cast("string").alias("text"),
                F.col("_metadata.file_path").alias("path"),
                F.xxhash64("_metadata.file_path").alias("file"),
                F.col("_metadata.file_block_start").alias("block"),
            )
            totals = self._checked_totals(rows)
            yield StreamRows.counted(rows.select("time", "key", "file", "block"), totals)

    def _frame(self, session: SparkSession) -> DataFrame:
        """Return the files as they are, with the two columns by their names."""
        paths = [path_to_read(file) for file in self.files]
        if self.kind == "parquet":
            return session.read.parquet(*paths)
        # The columns are known, so that Spark need not read the files for them.
        names = csv_header(self.files[0])
        kinds = ", ".join(f"`{place}` string" for place in range(len(names)))
        # One line is one row, or blocks of a file could not be read side by side.
        frame = session.read.csv(paths, kinds, header=True, escape='"', mode="PERMISSIVE")
        wanted = {name: str(names.index(name)) for name in (self.time.name, self.key)}
        return frame.withColumnsRenamed({place: name for name, place in wanted.items()})

    def _check_columns(self) -> None:
        """Raise BadFileError unless each file has both columns, and all have them alike."""
        first: tuple[object, ...] | None = None
        for file in self.files:
            names = csv_header(file) if self.kind == "csv" else _parquet_names(file)
            for option, name in (("--time", self.time.name), ("--key", self.key)):
                if name not in names:
                    known = ", ".join(names)
                    reason = (
                        f"there is no column {name}; the columns are {known}; choose with {option}"
                    )
                    raise BadFileError(file, reason, line=1 if self.kind == "csv" else None)
                if names.count(name) > 1:
                    reason = f"{names.count(name)} columns are called {name}"
                    raise BadFileError(file, reason, line=1 if self.kind == "csv" else None)
            alike = self._of_all_files(file, names)
            first = first or alike
            if alike != first:
                raise self._differs(file, alike, first)

    def _of_all_files(self, file: Path, names: Sequence[str]) -> tuple[object, ...]:
        """Return what must be the same in all files, or Spark would take one thing for another.

        It finds columns of CSV by the places that they have in one of the files, and takes times
        of Parquet for what they are in one of them.
        """
        if self.kind == "csv":
            return tuple(names.index(name) + 1 for name in (self.time.name, self.key))
        return (kind_of_times(file, self.time.name),)

    def _differs(
        self, file: Path, here: tuple[object, ...], there: tuple[object, ...]
    ) -> BadFileError:
        if self.kind == "csv":
            names = (self.time.name, self.key)
            places = zip(names, here, there, strict=True)
            name, place, other = next(each for each in places if each[1] != each[2])
            what = f"column {name} is number {place} here, and number {other} in {self.files[0]}"
            reason = f"{what}; give all files the same header or profile each alone"
            return BadFileError(file, reason, line=1)
        what = f"the times are {here[0]} here, and {there[0]} in {self.files[0]}"
        return BadFileError(file, f"{what}; use one type of times or profile each file alone")

    def _checked_totals(self, rows: DataFrame) -> Row:
        """Count the rows; BadFileError for the first bad one."""
        is_bad = F.col("time").isNull() | F.isnan("time") | F.col("key").isNull()
        is_bad |= F.abs("time") == float("inf")
        is_odd = F.lit(False)
        if self.kind == "csv":  # Spark puts this for bytes that are no UTF-8: keys would be mixed
            is_odd = F.col("key").cast("string").contains(REPLACEMENT)
        bad = rows.withColumn("is_bad", is_bad)
        totals = count_rows(bad, F.count_if(is_bad | is_odd).alias("bad"))
        if totals["bad"]:
            self._refuse(bad.where(is_bad | is_odd).first(), bad)
        return totals

    def _refuse(self, row: Row | None, bad: DataFrame) -> None:
        """Raise BadFileError for this row, unless it is well after all."""
        if row is not None and not row["is_bad"]:
            file = self._file_of(row["path"])
            if (fault := encoding_fault(file)) is not None:
                raise fault
            row = bad.where("is_bad").first()  # the file has that character itself
        if row is None:
            return
        file, text = self._file_of(row["path"]), row["text"]
        if text is None:
            reason = "a row has no time"
        elif row["key"] is None:
            reason = f"the row with time {text} has no key"
        else:
            reason = f"time {text!r} is not a number or a time like that of the first row"
        raise BadFileError(file, reason, line=self._line_of(file, text))

    def _file_of(self, url: str) -> Path:
        return next((each for each in self.files if each.absolute() == _path(url)), self.path)

    def _line_of(self, file: Path, text: str | None) -> int | None:
        """Return the first line of a CSV file that has this time, or none."""
        if self.kind != "csv" or (file == self.path and not file.is_file()):
            return None
        return line_with(file, self.time.name, text)

    @contextmanager
    def _broken_files_named(self) -> Iterator[None]:
        """If Spark cannot read the files, say which one is broken and where."""
        try:
            with failures_named("reading the stream"):
                yield
        except JobFailedError:
            for file in self.files:
                if file.suffix.lower() == ".gz" and (fault := gzip_fault(file)) is not None:
                    raise fault from None
            raise


def count_rows(frame: DataFrame, *others: Column) -> Row:
    """Return the number of rows, the first and the last time, and other aggregates."""
    updates = F.count("*").alias("updates")
    ends = F.min("time").alias("first"), F.max("time").alias("last")
    row = frame.agg(updates, *ends, *others).first()
    assert row is not None, "an aggregate has a row"
    return row


@contextmanager
def _set_for_now(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session, which may be the caller's, and put them back."""
    before = {name: session.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            session.conf.set(name, value)
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, earlier)


def quoted(name: str) -> str:
    """Return a column's name as Spark takes any name."""
    return f"`{name.replace('`', '``')}`"


def _files(path: Path) -> tuple[Path, ...]:
    if not path.exists():
        raise BadFileError(path, "there is no such file")
    files = tuple(_files_below(path)) if path.is_dir() else (path,)
    if not files:
        raise BadFileError(path, "there are no files in this folder")
    for file in files:
        if not file.is_file():  # a named pipe would be waited for, without end
            raise BadFileError(file, "not a regular file; copy its contents into one")
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
    raise BadFileError(file, f"its name must end in one of {', '.join(ENDINGS)}")


def _parquet_names(file: Path) -> Sequence[str]:
    try:
        return [str(name) for name in pq.read_schema(file).names]
    except (pa.ArrowException, OSError) as error:
        raise BadFileError(file, "not a Parquet file") from error


def _path(url: str) -> Path:
    from urllib.parse import unquote, urlsplit

    return Path(unquote(urlsplit(url).path))
