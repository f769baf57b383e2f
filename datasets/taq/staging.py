"""Read every line of every file into a Parquet table, with what the line is and where it was.

So the files are read and parsed once; compressed files cannot be split. Counts, trailers, line
numbers and the sort all use this table. Dropped rows take hardly any room, since their values are
null.

Spark reads the files through links with names of its own, so that any file name works.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..errors import BadFileError, JobFailedError
from ..spark.failure import failures_named, gzip_fault
from ..spark.paths import path_to_read
from .filters import Filters
from .rows import VALUES, with_values
from .sources import Source, kind_of

HEADER: Final = "header"
TRAILER: Final = "trailer"
BLANK: Final = "blank line"
BAD: Final = "bad row"
TRAILER_START: Final = "END|"

METHOD_LIMIT: Final = "spark.sql.codegen.hugeMethodLimit"
LONGEST_COMPILED: Final = 8000
"""In bytes of bytecode: HotSpot's own limit."""


def stage(
    session: SparkSession, sources: Sequence[Source], filters: Filters, folder: Path
) -> DataFrame:
    """Write the lines of all files to a folder, and return them as a frame.

    `why` is null for a row that is wanted, else one of the words above or the reason why it is
    dropped; `text` is the line of a trailer, and what is wrong with a bad row. BadFileError for a
    file that cannot be read to its end.
    """
    folder.mkdir()
    links = link_files(sources, folder / "files")
    staged = folder / "rows"
    with _broken_files_named(sources), _methods_compiled(session):
        frame = reduce(lambda a, b: a.unionByName(b), _frames(session, sources, links, filters))
        frame.write.parquet(str(staged))
    return session.read.schema(frame.schema).parquet(path_to_read(staged))


def _frames(
    session: SparkSession, sources: Sequence[Source], links: Sequence[Path], filters: Filters
) -> list[DataFrame]:
    """Return a frame for each layout that there is."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, source in enumerate(sources):
        groups.setdefault(source.layout, []).append(number)
    return [
        _staged(
            read_lines(session, [links[number] for number in numbers]),
            [sources[number] for number in numbers],
            filters,
        )
        for numbers in groups.values()
    ]


def _staged(lines: DataFrame, sources: Sequence[Source], filters: Filters) -> DataFrame:
    """Return the lines of files of one layout as they are staged."""
    values = with_values(lines, sources[0])
    row = {name: F.col(name) for name in values.columns}
    reason = filters.reason(row, sources[0].format)
    marked = values.withColumn("why", _why(sources, reason))
    why = F.col("why")
    text = F.when(why == TRAILER, F.col("line")).when(why == BAD, F.col("fault"))
    kept = ("key", "day", "nanoseconds", *VALUES[kind_of(sources)])
    return marked.select(
        *PLACE,
        "why",
        text.alias("text"),
        *[F.when(why.isNull(), F.col(name)).alias(name) for name in kept],
    )


def _why(sources: Sequence[Source], reason: Column) -> Column:
    """Return what a line is; headers and the like have faults as rows, so good ones cost least."""
    line = F.col("line")
    headers = sorted({source.header for source in sources if source.header is not None})
    why = F.when(F.col("fault").isNull(), reason)
    why = why.when(line.isin(*headers), HEADER) if headers else why
    if sources[0].format.has_trailer:
        why = why.when(line.startswith(TRAILER_START), TRAILER)
    return why.when(F.trim(line) == "", BLANK).otherwise(BAD)


@contextmanager
def _methods_compiled(session: SparkSession) -> Iterator[None]:
    """Let Spark make no method that is too long for Java to compile.

    It makes one of all the expressions for a line otherwise, which Java then interprets: measured,
    parsing takes almost twice the time.
    """
    before = session.conf.get(METHOD_LIMIT)
    assert before is not None, "Spark has a default"
    session.conf.set(METHOD_LIMIT, LONGEST_COMPILED)
    try:
        yield
    finally:
        session.conf.set(METHOD_LIMIT, before)


@contextmanager
def _broken_files_named(sources: Sequence[Source]) -> Iterator[None]:
    """If Spark cannot read the files, say which one is broken and where."""
    try:
        with failures_named("reading TAQ files"):
            yield
    except JobFailedError:
        for source in sources:
            if not source.path.exists():
                raise BadFileError(source.path, "the file has been removed") from None
            if source.is_gzip and (fault := gzip_fault(source.path)) is not None:
                raise fault from None
        raise


PLACE: Final = ("file", "at", "row")
"""Columns whose order is that of the lines, file after file."""


def link_files(sources: Sequence[Source], folder: Path) -> list[Path]:
    """Make a link to each file in a folder, named by its number and what it is."""
    folder.mkdir()
    links = []
    for number, source in enumerate(sources):
        link = folder / f"{number:06d}.txt{'.gz' if source.is_gzip else ''}"
        link.symlink_to(source.path.absolute())
        links.append(link)
    return links


def read_lines(session: SparkSession, links: Sequence[Path]) -> DataFrame:
    r"""Return a frame `file, at, row, line` of linked files, as they are but for ends of lines.

    Only `\n` ends a line: one that ends in `\r\n` loses the `\r` here. Spark drops the byte order
    mark at the beginning of a file, and keeps bytes that are no UTF-8.
    """
    text = session.read.option("lineSep", "\n").text([path_to_read(link) for link in links])
    return text.select(
        F.substring("_metadata.file_name", 1, 6).cast("int").alias("file"),
        F.col("_metadata.file_block_start").alias("at"),
        F.monotonically_increasing_id().alias("row"),
        F.rtrim("value", F.lit("\r")).alias("line"),
    )
