"""Lines and their places, however Spark cuts the files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from datasets.taq.lines import PLACE, link_files, read_lines
from datasets.taq.sources import Source, recognise

from .daily_files import daily, trade, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def splits_of(spark: SparkSession, size: int) -> Iterator[None]:
    """Let Spark cut files into splits of so many bytes."""
    settings = {"spark.sql.files.maxPartitionBytes": size, "spark.sql.files.openCostInBytes": 1}
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, text in before.items():
            assert text is not None
            spark.conf.set(name, text)


def sources_of(tmp_path: Path) -> tuple[list[Source], list[list[str]]]:
    """Return files with names that Spark would not take, and their lines."""
    rows = [trade(price=f"{number}", sequence="") for number in range(400)]
    texts = [daily(rows), daily(rows[:300]), daily(rows[:5])[:-1]]
    texts[1] = texts[1].replace("\n", "\r\n").replace("Time", "\xef\xbb\xbfTime", 1)
    paths = [
        write(tmp_path / "_a *,[b]{c}.txt", texts[0]),
        write(tmp_path / ".hidden.gz", texts[1]),
        write(tmp_path / "packed.txt", texts[2], is_gzip=True),
    ]
    lines = [text.replace("\xef\xbb\xbf", "").split("\n") for text in texts]
    return recognise(paths), [[line.rstrip("\r") for line in each if line] for each in lines]


def test_lines_keep_their_order_and_their_file_in_splits_of_any_size(
    spark: SparkSession, tmp_path: Path
) -> None:
    sources, expected = sources_of(tmp_path)
    links = link_files(sources, tmp_path / "links")
    for size in (2_000, 5_000):
        with splits_of(spark, size):
            rows = read_lines(spark, links).collect()
        rows.sort(key=lambda row: tuple(row[name] for name in PLACE))
        for number, lines in enumerate(expected):
            of_file = [row for row in rows if row["file"] == number]
            assert [row["line"] for row in of_file] == lines
            assert (len({row["at"] for row in of_file}) > 1) is (number < 2)  # gzip is not cut
