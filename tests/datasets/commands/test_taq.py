"""`taq` from the command line: what it prints, and how it refuses."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import Result

from ..taq.daily_files import MONTHLY_QUOTES_HEADER, QUOTES_HEADER, daily, quote, trade, write
from .command_line import FAILED, USAGE_ERROR, assert_refused, invoke


def assert_nothing_is_written(result: Result, *words: str, out: Path, status: int = FAILED) -> None:
    assert_refused(result, *words, status=status)
    assert not out.exists()
    assert not [path for path in out.parent.iterdir() if path.name.startswith(".")]


def test_quotes_are_written_with_a_card(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        quote("093000000000002", "IBM", bid="0"),
        quote("093000000000001", "IBM"),
        quote("093000000000001", "A", condition="L"),
        quote("093000000000000", "XYZ"),
        quote("160000000000001", "A"),
        quote("x", "A"),
    ]
    path = write(tmp_path / "quotes", daily(rows, QUOTES_HEADER), is_gzip=True)
    out = tmp_path / "new" / "out"
    result = invoke(
        "taq",
        *(path, "--out", out, "--symbols", "IBM,A", "--to", "16:00", "--bad-rows", "1"),
        *("--drop-conditions", "L", "--json"),
    )
    assert result.exit_code == 0, result.output
    card = json.loads(result.stdout)
    assert card["folder"] == str(out)
    assert (card["read"], card["updates"]) == (6, 2)
    reasons = ("bad row", "condition L", "other symbol", "outside the hours")
    assert card["dropped"] == dict.fromkeys(reasons, 1)
    fault = "line 7: the time is no time of 15 digits, HHMMSS and decimals: 'x'"
    assert card["notes"] == [f"The first bad row: {path}, {fault}."]
    [file] = out.glob("*.parquet")
    table = pq.read_table(file).to_pydict()
    assert table["time_ns"] == [1514903400000000001, 1514903400000000002]
    assert (table["bid"], table["ask_size"]) == ([45.87, 0.0], [3, 3])
    assert list(table) == [
        *("time", "key", "time_ns", "bid", "bid_size", "ask", "ask_size"),
        *("exchange", "condition", "sequence"),
    ]
    assert json.loads((out / "_data_card.json").read_text())["dropped"] == card["dropped"]
    assert sorted(each.name for each in out.iterdir() if each != file) == [
        *("_data_card.json", "_data_card.md")
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (daily([trade(), trade(price="4x")]).encode(), ("line 3: the price is no number: '4x'",)),
        (gzip.compress(daily([trade()] * 9).encode())[:-9], ("line 11: the gzip data ends here",)),
        (daily([trade()], trailer="END|20180102|2|").encode(), ("line 3: the trailer says",)),
    ],
)
def test_bad_files_are_refused_and_nothing_is_written(
    spark: SparkSession, tmp_path: Path, content: bytes, words: tuple[str, ...]
) -> None:
    path = write(tmp_path / "trades", content)
    out = tmp_path / "out"
    assert_nothing_is_written(
        invoke("taq", path, "--out", out), f"Error: {path}, ", *words, out=out
    )


def test_missing_and_repeated_files_are_refused_before_spark_starts(tmp_path: Path) -> None:
    path = write(tmp_path / "trades", daily([trade()]))
    out = tmp_path / "out"
    none = tmp_path / "none"
    assert_nothing_is_written(
        invoke("taq", path, none, "--out", out), f"{none}: there is no such file", out=out
    )
    assert_nothing_is_written(invoke("taq", path, path, "--out", out), "it is named twice", out=out)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--format", "csv"), "one of daily-trades"),
        (("--date", "yesterday"), "a day such as"),
        (("--conditions", "@,,F"), "--conditions"),
        (("--bad-rows", "-1"), "--bad-rows"),
    ],
)
def test_invalid_options_are_usage_errors(
    tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    path = write(tmp_path / "trades", daily([trade()]))
    out = tmp_path / "out"
    assert_nothing_is_written(
        invoke("taq", path, "--out", out, *arguments), word, out=out, status=USAGE_ERROR
    )


def test_a_date_is_refused_for_files_whose_rows_have_dates(tmp_path: Path) -> None:
    path = write(tmp_path / "m", f"{MONTHLY_QUOTES_HEADER}\nA,20080307,9:30:00,1,2,3,4,12,N\n")
    out = tmp_path / "out"
    words = ("--date '20080307'", "no --date with monthly files")
    assert_nothing_is_written(
        invoke("taq", path, "--out", out, "--date", "20080307"), *words, out=out, status=USAGE_ERROR
    )


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "trades", daily([trade()]))
    out = tmp_path / "out"
    out.mkdir()
    assert_refused(invoke("taq", path, "--out", out), "already exists", status=FAILED)
    assert list(out.iterdir()) == []


def test_help_names_the_formats_and_the_filters() -> None:
    result = invoke("taq", "--help")
    assert result.exit_code == 0
    for word in ("fixed widths", "--drop-conditions", "--no-trailer", "--bad-rows"):
        assert word in result.stdout
