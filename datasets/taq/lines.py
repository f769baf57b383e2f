"""The lines of files as a Spark frame, each with its file and its place in it.

The place of a line is where its split of the file begins, in bytes, and its number within the task
that read the split. Both come from Spark itself, so that nothing is counted or shuffled; they order
the lines of a file as they are in it, and the number of a line is how many are up to its place.

Spark is shown the files through links, which have numbers for names: it would take some names as
patterns or as hidden, and tells compression by the name.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..spark.paths import path_to_read
from .sources import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    text = session.read.option("lineSep", "\n").text([path_to_read(link) for link in links])
    return text.select(
        F.substring("_metadata.file_name", 1, 6).cast("int").alias("file"),
        F.col("_metadata.file_block_start").alias("at"),
        F.monotonically_increasing_id().alias("row"),
        F.rtrim("value", F.lit("\r")).alias("line"),
    )
