"""The format is known to a session once it was told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from upstream.spark import register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_session_knows_the_format_however_often_it_was_registered(spark: SparkSession) -> None:
    for _ in range(2):
        register(spark)
    with pytest.raises(AnalysisException, match="option `stream` is missing"):
        spark.read.format("upstream").option("url", "http://127.0.0.1:9").load()
