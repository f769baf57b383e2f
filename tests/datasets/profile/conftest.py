"""The drawn stream, and Spark's rows of it, once for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from datasets.profile.source import Source, StreamRows
from datasets.profile.times import TimeColumn

from .drawn import draw, write_files


@pytest.fixture(scope="session")
def stream() -> pd.DataFrame:
    return draw()


@pytest.fixture(scope="session")
def rows(
    spark: SparkSession, stream: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StreamRows]:
    folder: Path = tmp_path_factory.mktemp("profile") / "stream"
    write_files(stream, folder)
    with Source.find(folder, time=TimeColumn(), key="key").read(spark) as read:
        yield read
