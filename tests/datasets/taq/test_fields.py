"""Fields as text: by separators and by places, with blanks where they mean something."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from datasets.taq.fields import shown, with_fields
from datasets.taq.sources import recognise

from .daily_files import (
    MONTHLY_TRADES_HEADER,
    TRADES_HEADER,
    daily,
    fixed,
    fixed_quote,
    fixed_trade,
    trade,
    write,
)

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


def fields_of(spark: SparkSession, tmp_path: Path, beginning: str, lines: list[str]) -> list[Row]:
    """Return the fields of lines of a file that begins so."""
    [source] = recognise([write(tmp_path / "x", beginning)])
    frame = spark.createDataFrame(pa.table({"line": lines}))
    return with_fields(frame, source)[0].collect()


def test_separated_fields_lose_the_blanks_around_but_for_conditions(
    spark: SparkSession, tmp_path: Path
) -> None:
    lines = [trade(symbol="BRK B ", condition=" O  ", price=" 45.9", sequence="")]
    [row] = fields_of(spark, tmp_path, daily(lines), lines)
    assert row.torn is None
    assert (row.symbol, row.condition, row.price, row.sequence) == ("BRK B", " O  ", "45.9", "")


def test_quotation_marks_of_the_monthly_product_are_no_part_of_fields(
    spark: SparkSession, tmp_path: Path
) -> None:
    lines = [
        '"IBM","20080104","9:30:26",193.76,100,0,0,"","N"',
        "IBM,2008-01-04,9:30:26,1,2,0,0,@F,N",
    ]
    rows = fields_of(spark, tmp_path, MONTHLY_TRADES_HEADER + "\n", lines)
    assert [row.torn for row in rows] == [None, None]
    assert [(row.symbol, row.date, row.condition) for row in rows] == [
        *(("IBM", "20080104", ""), ("IBM", "2008-01-04", "@F"))
    ]


def test_a_line_with_more_or_fewer_fields_than_the_header_is_torn(
    spark: SparkSession, tmp_path: Path
) -> None:
    lines = [trade(), trade()[:20], trade() + "|", ""]
    rows = fields_of(spark, tmp_path, TRADES_HEADER + "\n", lines)
    expected = "there are {} fields, and 15 columns in the header"
    assert [row.torn for row in rows] == [None, *(expected.format(n) for n in (3, 16, 1))]


def test_fields_of_fixed_widths_are_cut_at_their_places(
    spark: SparkSession, tmp_path: Path
) -> None:
    lines = [fixed_trade("093000123", "BRK", "B", condition=" O  ", size="      100")]
    [row] = fields_of(spark, tmp_path, fixed(lines), lines)
    assert (row.torn, row.time, row.symbol) == (None, "093000123", "BRK B")
    assert (row.condition, row.size, row.price) == (" O  ", "100", "00000458800")
    assert (row.correction, row.sequence) == ("00", "0000000000001231")
    lines = [fixed_quote("093000123456", "IBM")]
    [row] = fields_of(spark, tmp_path, fixed(lines), lines)
    assert (row.time, row.symbol, row.bid, row.ask_size) == (
        *("093000123456", "IBM", "00000458700", "0000003"),
    )


def test_a_row_of_fixed_widths_may_lack_its_end_but_no_field(
    spark: SparkSession, tmp_path: Path
) -> None:
    line = fixed_trade()
    rows = fields_of(spark, tmp_path, fixed([line]), [line[:53], line[:52]])
    assert [row.torn for row in rows] == [*(None, "there are 52 characters; a row has 53 or more")]


def test_what_an_error_shows_is_short_and_printable(spark: SparkSession) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    frame = spark.createDataFrame(pa.table({"text": ["4x", "a\x1b[31mé", "y" * 99]}))
    rows = frame.select(shown(F.col("text")).alias("shown")).collect()
    assert [row["shown"] for row in rows] == ["'4x'", "'a?[31m?'", "'" + "y" * 40 + "...'"]
