"""The worked example runs as its docstring says, and prints what it lets through."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from upstream.spark.example import HEADINGS, STATE_STORE, _parser, made_up_prices
from upstream.spark.example import run as run_example

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]


def run(*options: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "upstream.spark.example", *options]
    environment = None if path is None else {"PATH": path}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=200
    )


@pytest.mark.slow
def test_the_example_prints_a_line_for_each_trigger_and_ends(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in STATE_STORE.items():
        spark.conf.set(name, value)
    options = {"keys": 500, "rate": 1_000, "budget": 40, "partitions": 2, "triggers": 2}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    run_example(spark, _parser().parse_args([*words, "--interval", "0"]))
    for name in STATE_STORE:
        spark.conf.unset(name)
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == " ".join(HEADINGS).split()
    numbers = [[float(cell.replace(",", "")) for cell in line.split()] for line in lines]
    for trigger, (number, updates, through, waiting, keys, *_) in enumerate(numbers):
        assert (number, updates, through) == (trigger, 1_000, 40 * (trigger + 1))
        assert 0 < waiting < keys <= 500


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--keys", "0"], "0 is not a number above 0"),
        (["--policy", "append"], "invalid choice: 'append'"),
        (["--budget", "1"], "--budget must be at least --partitions"),
        (["--budget", "some"], "some is not a number above 0"),
    ],
)
def test_invalid_options_are_refused_before_spark_starts(options: list[str], said: str) -> None:
    found = run(*options)
    assert found.returncode == 2
    assert said in found.stderr


def test_missing_java_is_reported_in_one_line() -> None:
    found = run(path="/nowhere")
    assert found.returncode == 1
    assert found.stderr.strip().splitlines()[-1].startswith("Spark needs Java 17")
    assert "Traceback" not in found.stderr


def test_prices_are_of_all_keys_and_mostly_of_the_first(spark: SparkSession) -> None:
    stream = made_up_prices(spark, keys=1_000, rate=10)
    assert stream.isStreaming
    assert stream.dtypes == [("time", "double"), ("key", "bigint"), ("price", "double")]
