"""Paths whose names mean something to Spark are still taken for what they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from datasets.spark.paths import path_to_read, plain_path

ODD = [r"a b 50%41 [1]{x,y}*?\#é='", "a:b %", "key=1"]


@pytest.mark.parametrize("name", ODD)
def test_a_folder_of_any_name_is_written_and_read(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / name / "x"
    spark.range(3).coalesce(1).write.parquet(str(folder))
    assert list(folder.glob("part-*.parquet"))
    assert spark.read.parquet(path_to_read(folder)).count() == 3


def test_a_relative_path_is_of_the_current_folder_of_python_not_of_java() -> None:
    assert path_to_read(Path("day")) == str(Path.cwd() / "day")


def test_dots_are_followed_as_the_system_does_and_a_link_at_the_end_stays_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "far" / "folder").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "folder")
    root = tmp_path.resolve()
    assert plain_path(tmp_path / "link" / ".." / "day") == root / "far" / "day"
    assert plain_path(tmp_path / "link" / "..") == root / "far"
    assert plain_path(tmp_path / "link") == root / "link"
    assert path_to_read(tmp_path / "link" / ".." / "day") == str(root / "far" / "day")
