"""Fields and values of lines, and every way in which a line can be bad, in each format."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from datasets.taq.rows import VALUES, shown, with_fields, with_values
from datasets.taq.sources import recognise

from .daily_files import (
    MONTHLY_QUOTES_HEADER,
    MONTHLY_TRADES_HEADER,
    QUOTES_HEADER,
    TRADES_HEADER,
    daily,
    fixed,
    fixed_quote,
    fixed_trade,
    quote,
    trade,
    write,
)

HALF_PAST_NINE = 34_200 * 10**9


def values_of(spark: SparkSession, tmp_path: Path, beginning: str, lines: list[str]) -> list[Row]:
    """Return the values of lines of a file that begins so."""
    [source] = recognise([write(tmp_path / "x", beginning)])
    frame = spark.createDataFrame(pa.table({"line": lines}))
    values = with_values(frame, source)
    types = {field.name: field.dataType.simpleString() for field in values.schema}
    assert types.items() >= VALUES[source.format.kind].items()
    return values.collect()


def assert_faults(rows: list[Row], expected: list[str]) -> None:
    assert [row.fault for row in rows] == [each or None for each in expected]


def test_a_daily_trade_has_its_values(spark: SparkSession, tmp_path: Path) -> None:
    lines = [
        trade("093000417837001", "BRK B", " O  ", exchange="Q", price="45.8801"),
        trade(sequence="", correction="12", price="-.5", size="0"),
    ]
    one, other = values_of(spark, tmp_path, daily(lines), lines)
    assert one.fault is other.fault is None
    assert (one.key, one.nanoseconds, one.day) == ("BRK B", HALF_PAST_NINE + 417_837_001, None)
    assert (one.price, one["size"], one.exchange) == (45.8801, 100, "Q")
    assert (one.condition, one.correction, one.sequence) == (" O  ", 0, 1231)
    assert (other.price, other["size"], other.correction, other.sequence) == (-0.5, 0, 12, None)


def test_the_fault_of_a_daily_trade_is_named(spark: SparkSession, tmp_path: Path) -> None:
    cases = {
        trade("256199000000000"): "the time is no time of 15 digits, HHMMSS and decimals: "
        "'256199000000000'",
        trade(price="4x.1"): "the price is no number: '4x.1'",
        trade(price=""): "the price is no number: ''",
        trade(price="NaN"): "the price is no number: 'NaN'",
        trade(price="1e3"): "the price is no number: '1e3'",
        trade(price="1d"): "the price is no number: '1d'",
        trade(size="1.5"): "the size is no whole number: '1.5'",
        trade(size="-1"): "the size is no whole number: '-1'",
        trade(size="9" * 16): f"the size is no whole number: '{'9' * 16}'",
        trade(symbol=" "): "the symbol is empty: ''",
        trade(correction="x"): "the correction is no number of one or two digits: 'x'",
        trade(correction="100"): "the correction is no number of one or two digits: '100'",
        trade(sequence="1x"): "the sequence is no number: '1x'",
        trade(symbol="IB\x07M"): "there are bytes that are no printable ASCII: 'IB?MN@   '",
        trade(symbol="IBMÉ"): "there are bytes that are no printable ASCII: 'IBM?N@   '",
        trade("x", price="y"): "the time is no time of 15 digits, HHMMSS and decimals: 'x'",
        trade() + "|": "there are 16 fields, and 15 columns in the header",
    }
    rows = values_of(spark, tmp_path, daily([]), list(cases))
    assert_faults(rows, list(cases.values()))


def test_a_daily_quote_has_its_values_and_its_faults(spark: SparkSession, tmp_path: Path) -> None:
    lines = [quote(bid="0", condition="R"), quote(bid="x"), quote(ask="")]
    rows = values_of(spark, tmp_path, daily(lines, QUOTES_HEADER), lines)
    good = rows[0]
    assert (good.bid, good.bid_size, good.ask, good.ask_size) == (0.0, 2, 45.9, 3)
    assert (good.exchange, good.condition, good.sequence) == ("P", "R", 77)
    assert_faults(rows, ["", "the bid is no number: 'x'", "the ask is no number: ''"])


def test_a_trade_of_fixed_widths_has_its_values_and_its_faults(
    spark: SparkSession, tmp_path: Path
) -> None:
    lines = [
        fixed_trade("093000123", "BRK", "B", condition="F   ", price="00000000001"),
        fixed_trade(rest=""),
        fixed_trade(rest="N" * 16),
        fixed_trade(price="0000045.880"),
        fixed_trade("093060000"),
        fixed_trade(correction="  "),
        fixed_trade()[:40],
    ]
    rows = values_of(spark, tmp_path, fixed(lines), lines)
    one, short, strange = rows[:3]
    assert (one.key, one.nanoseconds) == ("BRK B", HALF_PAST_NINE + 123_000_000)
    assert (one.price, one["size"], one.condition, one.sequence) == (0.0001, 100, "F   ", 1231)
    assert (short.price, short.sequence, strange.sequence) == (45.88, None, None)
    faults = [row.fault for row in rows]
    assert faults[:3] == [None] * 3
    assert faults[3] == "the price is no number of 11 digits: '0000045.880'"
    assert faults[4] == "the time is no time of 9 digits, HHMMSS and decimals: '093060000'"
    assert faults[5] == "the correction is no number of one or two digits: ''"
    assert faults[6] == "there are 40 characters; a row has 53 or more"


def test_a_quote_of_fixed_widths_has_its_values(spark: SparkSession, tmp_path: Path) -> None:
    lines = [fixed_quote("160000000001", "IBM", bid="99999999999")]
    [row] = values_of(spark, tmp_path, fixed(lines), lines)
    assert (row.fault, row.key, row.nanoseconds) == (None, "IBM", 57_600 * 10**9 + 1_000)
    assert (row.bid, row.bid_size, row.ask, row.ask_size) == (9999999.9999, 2, 45.9, 3)
    assert (row.exchange, row.condition, row.sequence) == ("P", "R", 77)


def test_a_monthly_trade_has_its_values_and_its_faults(spark: SparkSession, tmp_path: Path) -> None:
    lines = [
        "IBM,20080104,9:30:26,193.76,345050,40,1,@F,N",
        "IBM,2008-01-04,9:30:26,193.76,1,0,0,,N",
        "IBM,01/04/2008,9:30:26,193.76,1,0,0,,N",
        "IBM,20080104,9:30,193.76,1,0,0,,N",
        "IBM,20080104,9:30:26,193.76,1,x,0,,N",
        "IBM,20080104,9:30:26,193.76,1,0,0,N",
    ]
    rows = values_of(spark, tmp_path, MONTHLY_TRADES_HEADER + "\n", lines)
    one, dashed = rows[:2]
    assert (one.key, one.day, one.nanoseconds) == ("IBM", 13_882, HALF_PAST_NINE + 26 * 10**9)
    assert (one.price, one["size"], one.g127, one.correction) == (193.76, 345_050, 40, 1)
    assert (one.condition, one.exchange, one.sequence) == ("@F", "N", None)
    assert (dashed.day, dashed.condition) == (13_882, "")
    assert_faults(
        rows,
        [
            "",
            "",
            "the date is no date such as 20080104: '01/04/2008'",
            "the time is no time such as 9:30:00: '9:30'",
            "the G127 is no whole number: 'x'",
            "there are 8 fields, and 9 columns in the header",
        ],
    )


def test_a_monthly_quote_has_its_values(spark: SparkSession, tmp_path: Path) -> None:
    lines = ["IBM,20080104,16:00:00,104.05,104.1,12,3,12,N"]
    [row] = values_of(spark, tmp_path, MONTHLY_QUOTES_HEADER + "\n", lines)
    assert (row.fault, row.day, row.nanoseconds) == (None, 13_882, 57_600 * 10**9)
    assert (row.bid, row.ask, row.bid_size, row.ask_size) == (104.05, 104.1, 12, 3)
    assert (row.condition, row.exchange) == ("12", "N")


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


def test_an_error_shows_short_and_printable_text(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.table({"text": ["4x", "a\x1b[31mé", "y" * 99]}))
    rows = frame.select(shown(F.col("text")).alias("shown")).collect()
    assert [row["shown"] for row in rows] == ["'4x'", "'a?[31m?'", "'" + "y" * 40 + "...'"]
