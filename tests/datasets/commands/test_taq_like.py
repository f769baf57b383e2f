"""`taq-like`: a made-up trading day, by its options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simulator.workloads.trace_file import read_trace

from .generating import USAGE_ERROR, generate, invoke, table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_day_is_as_the_options_say_and_can_be_replayed(
    spark: SparkSession, tmp_path: Path
) -> None:
    words = ("--symbols", 30, "--busiest", 200, "--shape", "lognormal", "--date", "2006-01-03")
    out = generate(tmp_path / "day", "taq-like", *words, "--seed", 5)
    card = json.loads((out / "_data_card.json").read_text())
    skew = card["skew"]
    assert (card["keys"], skew["busiest_updates"], skew["slowest_updates"]) == (30, 200, 1)
    assert (card["seed"], card["parameters"]["date"]) == (5, "2006-01-03")
    assert "lognormal" in card["title"]
    trace = read_trace(out)
    assert len(trace.keys) == 30
    opens = 1_136_298_600  # 2006-01-03 09:30 in New York
    assert opens <= trace.times[0] < trace.times[-1] <= opens + 6.5 * 3600
    assert table_of(out).column_names == ["time", "key", "price", "size"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--symbols 1", "--symbols 1: expected a number from 2 to 160,000"),
        ("--busiest 0", "--busiest 0: expected a number from 1"),
        ("--shape flat", "--shape flat: expected power-law or lognormal"),
        ("--date yesterday", "--date yesterday: expected a day such as 2006-01-17"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error_and_nothing_is_written(
    tmp_path: Path, words: str, message: str
) -> None:
    result = invoke("taq-like", *words.split(), "--out", tmp_path / "x")
    assert result.exit_code == USAGE_ERROR
    assert message in result.output
    assert list(tmp_path.iterdir()) == []
