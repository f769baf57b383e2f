"""What Spark raises, for real, becomes one line that says what to look at."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from datasets.errors import BadFileError, JobFailedError
from datasets.spark.failure import JAVA_ENDED, failures_named, first_line, gzip_fault


def raise_in_worker(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        raise ValueError("the worker's reason")
    yield from batches


def fails_in_a_worker(spark: SparkSession, _place: Path) -> object:
    return spark.range(3).mapInArrow(raise_in_worker, "id long").collect()


def reads_what_is_not_parquet(spark: SparkSession, place: Path) -> object:
    (place / "bad.parquet").write_bytes(b"nonsense" * 10)
    return spark.read.parquet(str(place / "bad.parquet"))


def writes_below_a_file(spark: SparkSession, place: Path) -> object:
    (place / "file").write_text("1")
    spark.range(3).write.parquet(str(place / "file" / "day"))
    return None


def divides_by_zero(spark: SparkSession, _place: Path) -> object:
    return spark.range(3).selectExpr("id / 0").collect()


def asks_for_a_column_that_is_not_there(spark: SparkSession, _place: Path) -> object:
    return spark.range(3).select("no_such")


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (fails_in_a_worker, "ValueError: the worker's reason"),
        (reads_what_is_not_parquet, "bad.parquet is not a Parquet file"),
        (writes_below_a_file, "Parent path is not a directory"),
        (divides_by_zero, "Division by zero"),
        (asks_for_a_column_that_is_not_there, "no_such"),
    ],
)
def test_the_reason_is_one_line_without_java(
    spark: SparkSession, tmp_path: Path, act: Callable[[SparkSession, Path], object], says: str
) -> None:
    with pytest.raises(JobFailedError) as caught, failures_named("trying"):
        act(spark, tmp_path)
    message = str(caught.value)
    assert message.startswith("trying: Spark says: ")
    assert says in message
    assert not {"\n", "org.apache", "SQLSTATE", "Py4J", "Traceback"} & set(message.split())
    assert "\n" not in message
    assert "org.apache" not in message


def test_a_lost_connection_is_java_that_has_ended() -> None:
    with pytest.raises(JobFailedError, match=JAVA_ENDED), failures_named("trying"):
        raise ConnectionRefusedError(111, "Connection refused")


@pytest.mark.parametrize("error", [BrokenPipeError("stdout"), ValueError("ours"), OSError("disk")])
def test_other_errors_are_not_caught(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, failures_named("trying"):
        raise error
    assert caught.value is error


def test_the_message_of_an_aborted_job_is_that_of_its_task() -> None:
    said = (
        "Job aborted due to stage failure: Task 0 in stage 2.0 failed 1 times, most recent "
        "failure: Lost task 0.0 (TID 2) (host executor driver): java.io.IOException: No space left"
    )
    assert first_line(said) == "IOException: No space left"
    assert first_line("") == ""


_numbers = random.Random(1)
TEXT = "".join(f"{number}|{_numbers.randrange(10**9)}\n" for number in range(20_000)).encode()
PACKED = gzip.compress(TEXT)


def fault(tmp_path: Path, content: bytes) -> BadFileError:
    path = tmp_path / "x.gz"
    path.write_bytes(content)
    found = gzip_fault(path)
    assert found is not None
    return found


def test_a_whole_file_has_no_fault_also_in_several_members(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    for content in (PACKED, PACKED + gzip.compress(b"more")):
        path.write_bytes(content)
        assert gzip_fault(path) is None


def test_a_file_that_is_cut_is_broken_in_its_last_line(tmp_path: Path) -> None:
    cut = fault(tmp_path, PACKED[: len(PACKED) // 2])
    assert "the file is incomplete" in cut.reason
    assert cut.line is not None
    assert 8_000 < cut.line < 12_000
    assert fault(tmp_path, PACKED[:-3]).line == 20_000  # all data, and half of its checksum
    assert fault(tmp_path, PACKED[:12]).line == 1  # nothing but the header


def test_bytes_that_were_changed_are_noticed(tmp_path: Path) -> None:
    changed = bytearray(PACKED)
    changed[-6] ^= 1
    assert "incorrect data check" in fault(tmp_path, bytes(changed)).reason


@pytest.mark.parametrize("more", [b"garbage", b"\0" * 512])
def test_data_after_the_end_is_noticed(tmp_path: Path, more: bytes) -> None:
    assert "after the end" in fault(tmp_path, PACKED + more).reason


def test_the_beginning_of_another_member_is_noticed(tmp_path: Path) -> None:
    assert "the file is incomplete" in fault(tmp_path, PACKED + b"\x1f\x8b").reason
