"""Which files a stream is read from, and what is wrong with them, by file and line."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from datasets.errors import BadFileError
from datasets.profile.source import Source
from datasets.profile.times import TimeColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    rows = find(folder, "the, time").read(spark).collect()
    assert sorted((row["time"], row["key"]) for row in rows) == [
        (1.0, "a, b"),
        (2.0, "b"),
        (3.0, 'say "c"'),
    ]
    assert len({row["file"] for row in rows}) == 3


def test_columns_may_have_odd_names(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a.b,c`d\n1,x\n")
    row = find(path, "a.b", "c`d").read(spark).first()
    assert row is not None
    assert (row["time"], row["key"]) == (1.0, "x")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("time,key\n1,a\nx4,b\n", 3, "time 'x4' is not a number"),
        ("time,key\n1,a\n2\n", 3, "the row of time 2 has no key"),
        ("time,key\n1,a\n,b\n", 3, "a row has no time"),
        ("time,key\n1,a\nnan,b\n", 3, "time 'nan' is not a number"),
        ("time,key\n1,a\ninf,b\n", 3, "time 'inf' is not a number"),
        ("time,key\n9:30,a\n12,b\n", 3, "time '12' is not a number, nor a time of the kind"),
        ("time,name\n1,a\n", 1, "there is no column key, but time, name; name it by --key"),
        ("when,key\n1,a\n", 1, "there is no column time, but when, key; name it by --time"),
        ("", 1, "there is no column time"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(
    spark: SparkSession, tmp_path: Path, text: str, line: int, says: str
) -> None:
    path = write(tmp_path / "in" / "x.csv", text)
    with pytest.raises(BadFileError) as caught:
        find(path.parent).read(spark)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert says in caught.value.reason


def test_what_is_no_stream_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    both = write(tmp_path / "both" / "x.csv", "time,key\n1,a\n").parent
    write(both / "y.parquet", "")
    gz = tmp_path / "cut.csv.gz"
    gz.write_bytes(gzip.compress(b"time,key\n1,a\n" * 999)[:12])
    for path, says in (
        (tmp_path / "nowhere", "there is no such file"),
        (tmp_path / "empty", "there are no files in this folder"),
        (both, "there are both Parquet and CSV files"),
        (write(tmp_path / "x.json", "{}"), "its name ends in none of .parquet, .csv, .csv.gz"),
        (write(tmp_path / "x.parquet", "PAR1 no"), "it is no Parquet file"),
        (gz, "it cannot be read as CSV"),
    ):
        with pytest.raises(BadFileError, match=says):
            find(path)
