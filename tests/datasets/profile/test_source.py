"""Which files a stream is read from, and what is wrong with them, by file and line."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from datasets.errors import BadFileError
from datasets.profile.source import NANOSECONDS_AS_NUMBERS, Source
from datasets.profile.times import TimeColumn


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def find(path: Path, time: str = "time", key: str = "key") -> Source:
    return Source.find(path, time=TimeColumn(time), key=key)


def test_a_folder_is_all_its_files_but_those_that_are_no_data(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "a b [1] 50%"
    write(folder / "x.csv", 'key,"the, time"\n"a, b",1\n')
    write(folder / "hour=9" / "y.csv", 'key,"the, time"\nb,2\n')
    (folder / "z.csv.gz").write_bytes(gzip.compress(b'key,"the, time"\n"say ""c""",3\n'))
    write(folder / "_data_card.json", "{}")
    write(folder / ".hidden" / "x.csv", "nothing")
    with find(folder, "the, time").read(spark) as found:
        rows = found.frame.collect()
    assert (found.updates, found.first_time, found.last_time) == (3, 1.0, 3.0)
    assert sorted((row["time"], row["key"]) for row in rows) == [
        (1.0, "a, b"),
        (2.0, "b"),
        (3.0, 'say "c"'),
    ]
    assert len({row["file"] for row in rows}) == 3


def test_names_that_differ_by_their_case_are_two_columns(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = write(tmp_path / "x.csv", "Time,time,key,KEY\n9,1,a,z\n")
    with find(path).read(spark) as rows:
        assert [(row["time"], row["key"]) for row in rows.frame.collect()] == [(1.0, "a")]


def test_columns_may_have_odd_names(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a.b,c`d\n1,x\n")
    with find(path, "a.b", "c`d").read(spark) as rows:
        row = rows.frame.first()
    assert row is not None
    assert (row["time"], row["key"]) == (1.0, "x")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("time,key\n1,a\nx4,b\n", 3, "time 'x4' is not a number"),
        ("time,key\n1,a\n2\n", 3, "the row with time 2 has no key"),
        ("time,key\n1,a\n,b\n", 3, "a row has no time"),
        ("time,key\n1,a\nnan,b\n", 3, "time 'nan' is not a number"),
        ("time,key\n1,a\ninf,b\n", 3, "time 'inf' is not a number"),
        ("time,key\n9:30,a\n12,b\n", 3, "time '12' is not a number or a time like that"),
        (
            "time,name\n1,a\n",
            1,
            "there is no column key; the columns are time, name; choose with --key",
        ),
        (
            "when,key\n1,a\n",
            1,
            "there is no column time; the columns are when, key; choose with --time",
        ),
        ("", 1, "there is no column time"),
        ("time,key,time\n1,a,2\n", 1, "2 columns are called time"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(
    spark: SparkSession, tmp_path: Path, text: str, line: int, says: str
) -> None:
    path = write(tmp_path / "in" / "x.csv", text)
    with pytest.raises(BadFileError) as caught, find(path.parent).read(spark):
        pass
    assert (caught.value.path, caught.value.line) == (path, line)
    assert says in caught.value.reason


def test_other_files_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    both = write(tmp_path / "both" / "x.csv", "time,key\n1,a\n").parent
    write(both / "y.parquet", "")
    gz = tmp_path / "cut.csv.gz"
    gz.write_bytes(gzip.compress(b"time,key\n1,a\n" * 999)[:12])
    for path, says in (
        (tmp_path / "nowhere", "there is no such file"),
        (tmp_path / "empty", "there are no files in this folder"),
        (both, "the folder has both Parquet and CSV files"),
        (write(tmp_path / "x.json", "{}"), "its name must end in one of .parquet, .csv, .csv.gz"),
        (write(tmp_path / "x.parquet", "PAR1 no"), "not a Parquet file"),
        (gz, "line 1: the gzip data ends here"),
    ):
        with pytest.raises(BadFileError, match=says):
            find(path)


@pytest.mark.parametrize("is_gzip", [False, True])
def test_headers_of_other_orders_are_refused(tmp_path: Path, is_gzip: bool) -> None:
    first = write(tmp_path / "a.csv", "time,key\n1,2\n")
    write(tmp_path / "b.csv", "time,key,price\n1,2,3\n")
    other = tmp_path / ("c.csv.gz" if is_gzip else "c.csv")
    content = b"key,time\n1,2\n"
    other.write_bytes(gzip.compress(content) if is_gzip else content)
    with pytest.raises(BadFileError) as caught:
        find(tmp_path)
    assert (caught.value.path, caught.value.line) == (other, 1)
    reason = f"column time is number 2 here, and number 1 in {first}; give all files the same"
    assert caught.value.reason.startswith(reason)


def test_times_of_nanoseconds_beside_others_are_refused(tmp_path: Path) -> None:
    for name, unit in (("a", "us"), ("b", "ms"), ("c", "ns")):
        times = pa.array([1], pa.timestamp(unit))
        pq.write_table(pa.table({"time": times, "key": ["x"]}), tmp_path / f"{name}.parquet")
    with pytest.raises(BadFileError) as caught:
        find(tmp_path)
    assert caught.value.path == tmp_path / "c.parquet"
    kinds = f"timestamps of nanoseconds here, and timestamps in {tmp_path / 'a.parquet'};"
    assert kinds in caught.value.reason


@pytest.mark.parametrize("before", ["false", None])
def test_the_session_is_left_as_it_was(
    spark: SparkSession, tmp_path: Path, before: str | None
) -> None:
    path = tmp_path / "x.parquet"
    times = pa.array([1_500_000_000, None], pa.timestamp("ns"))
    pq.write_table(pa.table({"time": times, "key": ["a", "a"]}), path)
    found = spark.conf.get(NANOSECONDS_AS_NUMBERS, None)
    if before is not None:
        spark.conf.set(NANOSECONDS_AS_NUMBERS, before)
    try:
        with pytest.raises(BadFileError, match="a row has no time"), find(path).read(spark):
            pass
        assert spark.conf.get(NANOSECONDS_AS_NUMBERS, None) == (before or found)
    finally:
        spark.conf.unset(NANOSECONDS_AS_NUMBERS)


@pytest.mark.parametrize("rows", [b"1,a\n2,caf\xe9\n", b"1,caf\xe9\nx,b\n", b"1,caf\xe9\n2,\n"])
def test_bytes_that_are_no_utf_8_are_refused_by_their_line(
    spark: SparkSession, tmp_path: Path, rows: bytes
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"time,key\n" + rows)
    with pytest.raises(BadFileError, match="0xe9 is not UTF-8") as caught, find(path).read(spark):
        pass
    assert (caught.value.path, caught.value.line) == (path, 3 if b"2,caf" in rows else 2)


def test_a_key_may_have_the_character_for_bytes_that_are_no_text(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("time,key\n1,\ufffd\n", encoding="utf-8")
    with find(path).read(spark) as rows:
        assert [row["key"] for row in rows.frame.collect()] == ["\ufffd"]


@pytest.mark.parametrize("bad", [b"", b"x,b\n"])
def test_a_file_that_is_cut_is_named_with_its_line(
    spark: SparkSession, tmp_path: Path, bad: bytes
) -> None:
    write(tmp_path / "a.csv", "time,key\n1,a\n")
    numbers = random.Random(1)
    lines = [b"%d,%d\n" % (row, numbers.randrange(10**9)) for row in range(30_000)]
    path = tmp_path / "b.csv.gz"
    content = gzip.compress(b"time,key\n" + b"".join(lines) + bad)
    path.write_bytes(content[: len(content) - 100])
    ends = "the gzip data ends here"
    with pytest.raises(BadFileError, match=ends) as caught, find(tmp_path).read(spark):
        pass
    assert caught.value.path == path
    assert caught.value.line is not None
    assert 29_000 < caught.value.line <= 30_001


def test_a_named_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "stream.csv"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(BadFileError, match="not a regular file"):
            Source.find(path, time=TimeColumn("time"), key="key")
