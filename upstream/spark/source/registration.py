"""Registers `format("upstream")` with a session.

Spark finds data sources by itself only in top-level packages that are named `pyspark_…`, and this
distribution installs only `upstream`. So it is registered explicitly, which needs no Spark job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Let a session read and write `format("upstream")`; calling it again changes nothing.

    The session must be the active one. A session from `newSession()` is not active at first.
    """
    from .data_source import UpstreamDataSource

    spark.dataSource.register(UpstreamDataSource)
