"""A session of ours: quiet, in UTC, with our packages in its workers, and gone afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from datasets.errors import ExtraMissingError
from datasets.spark.session import check_extra, spark_session

ROOT = Path(__file__).resolve().parents[3]

ALONE = """
import os, pathlib
before = dict(os.environ)
from datasets.spark.session import spark_session
settings = {"spark.sql.shuffle.partitions": "3"}
with spark_session(cores=1, memory="512m", settings=settings, input_bytes=10) as one:
    assert one.conf.get("spark.sql.adaptive.enabled") == "false"
    assert "TieredStopAtLevel=1" in one.conf.get("spark.driver.extraJavaOptions")
    assert one.sparkContext.master == "local[1]", one.sparkContext.master
    assert one.conf.get("spark.sql.shuffle.partitions") == "3"
    assert one.sparkContext._jvm.Runtime.getRuntime().maxMemory() <= 512 << 20
    place = pathlib.Path(one.conf.get("spark.local.dir"))
    assert place.is_dir()
    assert one.range(5).count() == 5
assert dict(os.environ) == before, set(os.environ.items()) ^ set(before.items())
assert not place.exists()

import typer
from datasets.commands.job import job
def main():
    with job("counting", cores=1) as another:
        os.kill(another.sparkContext._gateway.proc.pid, 9)
        another.range(5).count()
typer.run(main)
"""


def import_ours(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from datasets.errors import BadFileError
    from upstream import UpStreamError

    assert issubclass(BadFileError, UpStreamError)
    yield from batches


def test_workers_find_our_packages(spark: SparkSession) -> None:
    assert spark.range(3).mapInArrow(import_ours, "id long").count() == 3


def test_times_are_in_utc(spark: SparkSession) -> None:
    shown = spark.sql("SELECT string(timestamp_seconds(0)) AS shown").first()
    assert shown is not None
    assert shown["shown"] == "1970-01-01 00:00:00"


def test_a_session_that_runs_already_is_given_as_it_is_and_goes_on(spark: SparkSession) -> None:
    before = dict(os.environ)
    with spark_session(cores=1) as again:
        assert again is spark
    assert spark.range(2).count() == 2
    assert dict(os.environ) == before


@pytest.mark.parametrize("package", ["pandas", "pyarrow", "pyspark.sql"])
def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ExtraMissingError, match=f"this job needs {package}, which is not installed"
    ):
        check_extra()


@pytest.mark.slow
@pytest.mark.usefixtures("spark")  # skipped where there is no Java
def test_a_session_leaves_no_trace_and_one_whose_java_dies_says_so_in_one_line(
    tmp_path: Path,
) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", ALONE]
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert run.stderr == (
        "Starting Spark …\n"
        "Starting Spark …\n"
        "Error: counting: Spark says: its Java process has ended; "
        "a frequent reason is too little memory\n"
    )
    assert run.returncode == 1
