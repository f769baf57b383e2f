"""What is staged of each line, and files that break while they are read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from datasets.errors import BadFileError
from datasets.taq.filters import Filters
from datasets.taq.sources import recognise
from datasets.taq.staging import BAD, BLANK, HEADER, TRAILER, stage

from .daily_files import MONTHLY_TRADES_HEADER, TRADES_HEADER, daily, trade, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    with pytest.raises(BadFileError, match="the file has gone away"):
        stage(spark, sources, Filters(), tmp_path / "work")
