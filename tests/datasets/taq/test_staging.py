"""What is staged of each line, and files that break while they are read."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from datasets.errors import BadFileError
from datasets.taq.filters import Filters
from datasets.taq.sources import Source, recognise
from datasets.taq.staging import BAD, BLANK, HEADER, PLACE, TRAILER, link_files, read_lines, stage

from .daily_files import MONTHLY_TRADES_HEADER, TRADES_HEADER, daily, trade, write


def test_every_line_of_every_layout_is_staged_with_what_it_is(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [trade(), "x|y", "", trade(condition="@4  "), TRADES_HEADER]
    monthly = f"{MONTHLY_TRADES_HEADER}\nIBM,20080104,9:30:26,193.76,345050,0,0,@F,N\nEND|\n"
    paths = [write(tmp_path / "d", daily(rows)), write(tmp_path / "m", monthly, is_gzip=True)]
    staged = stage(spark, recognise(paths), Filters(), tmp_path / "work").collect()
    staged.sort(key=lambda row: (row["file"], row["at"], row["row"]))
    assert [row["why"] for row in staged] == [
        *(HEADER, None, BAD, BLANK, "condition 4", HEADER, TRAILER),
        *(HEADER, None, BAD),
    ]
    texts = [row["text"] for row in staged if row["text"] is not None]
    assert texts == [
        "there are 2 fields, and 15 columns in the header",
        "END|20180102|5" + "|" * 12,
        "there are 1 fields, and 9 columns in the header",
    ]
    kept = [row for row in staged if row["why"] is None]
    assert [(row["key"], row["price"], row["day"]) for row in kept] == [
        *(("IBM", 45.88, None), ("IBM", 193.76, 13_882))
    ]
    assert all(row["key"] is row["price"] is None for row in staged if row["why"] is not None)


def test_a_compressed_file_that_breaks_is_named_with_the_line(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [trade(sequence=str(number**3)) for number in range(20_000)]
    packed = gzip.compress(daily(rows).encode())
    whole = write(tmp_path / "whole.gz", packed)
    for number, content in enumerate((packed[:-4000], packed + b"garbage")):
        broken = write(tmp_path / f"broken{number}", content)
        with pytest.raises(BadFileError) as caught:
            stage(spark, recognise([whole, broken]), Filters(), tmp_path / f"work{number}")
        assert caught.value.path == broken
        assert (caught.value.line or 0) > 15_000 or "after the end" in caught.value.reason


def test_a_file_that_goes_away_is_named(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "x", daily([trade()]))
    sources = recognise([path])
    path.unlink()
    with pytest.raises(BadFileError, match="the file has been removed"):
        stage(spark, sources, Filters(), tmp_path / "work")


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
