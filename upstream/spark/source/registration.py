"""Making `format("upstream")` known to a session.

Spark finds data sources by itself only in top-level packages that are named `pyspark_…`, and this
distribution installs nothing but `upstream`. So the session is told, which takes no job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Let a session read and write `format("upstream")`; to do so again changes nothing.

    Spark takes it for the active session only, which a session of `newSession()` is not at first.
    """
    from .data_source import UpstreamDataSource

    spark.dataSource.register(UpstreamDataSource)
